//===- ColumnProduct.h - products by a matrix stored by columns -*- C++ -*-===//
//
// Some rows by a matrix whose columns are contiguous: a projection by a weight [out, in] as
// torch.nn.Linear has it, logits by the table of embeddings. A library transposes the matrix as it
// packs it, which few rows do not hide. Here the matrix is read once, where it lies, and the few
// rows are what is packed, in panels of as many as vectors hold:
//
//   panels [rows / 48, depth, 48]       of a; the last one, of fewer rows, is narrower
//   sums [8 columns, 48 rows]  +=  b[k, column] · panel[k, 48 rows]      for all k
//
// With AVX-512 the sums are 24 vectors; with AVX2 twelve, of six columns by sixteen rows.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_COLUMNPRODUCT_H
#define WEFT_RUNTIME_CPU_COLUMNPRODUCT_H

#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/Gemm.h"

namespace weft::runtime {

/// Whether multiplyByColumns() computes c = a·b, and sooner than a library: of f32, with a unit
/// stride along columns of b and rows of c, of more rows than multiplyFewRows() takes and no more
/// than hide a library's packing, on a CPU with AVX2.
bool isOfColumns(const Matrix &a, const Matrix &b, const Matrix &c);

/// Rows of a factor in panels, for products by any columns.
class RowPanels {
public:
  /// Lays the panels out, in memory of the calling thread, which the next ones of it take.
  explicit RowPanels(const Matrix &a, bool areWide = hasWideVectors());

  int64_t getCount() const { return count; }
  /// Makes one panel; each from any thread.
  void make(int64_t number);

  /// c = a·b, or c += a·b, on the calling thread, once all panels are made.
  void multiply(const Matrix &b, const Matrix &c, bool accumulate) const;

private:
  void multiplyPart(int64_t begin, int64_t depth, const Matrix &b, const Matrix &c,
                    bool accumulate) const;
  int64_t getRows(int64_t number) const; ///< of a panel
  float *getPanel(int64_t number, int64_t begin, int64_t depth) const;

  Matrix a;
  const struct TileKind *kind;
  int64_t count; ///< of panels
  int64_t step;  ///< of the depth, of which all panels are read before those of the next
  float *panels; ///< [depth / step, count, step, rows of a panel]
};

/// c = a·b, or c += a·b, on the calling thread; any extents, any strides of a.
void multiplyByColumns(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate,
                       bool areWide = hasWideVectors());

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_COLUMNPRODUCT_H

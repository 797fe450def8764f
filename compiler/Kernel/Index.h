//===- Index.h - symbolic indices of kernel loops ---------------*- C++ -*-===//
//
// An index is an affine expression over variables: loop counters, and opaque ones for what is not
// affine (quotients and remainders that do not simplify, indices that come from data). Variables
// are interned, so that equal expressions are equal values; every variable has a range, which
// decides without code which part of a concatenation an index falls into and whether a load needs
// its index clamped.
//
//   split of 12·h·64 + d by 64, with d in [0, 64)  →  quotient 12·h, remainder d
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_KERNEL_INDEX_H
#define WEFT_COMPILER_KERNEL_INDEX_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <map>
#include <vector>

namespace weft::kernel {

using VarId = unsigned;

struct Affine {
  llvm::SmallVector<std::pair<VarId, int64_t>, 3> terms; ///< ascending variables, coefficients ≠ 0
  int64_t constant = 0;

  Affine() = default;
  Affine(int64_t constant) : constant(constant) {}
  static Affine var(VarId id) {
    Affine result;
    result.terms.push_back({id, 1});
    return result;
  }

  bool isConstant() const { return terms.empty(); }
  Affine operator+(const Affine &other) const;
  Affine operator*(int64_t factor) const;
  Affine operator-(const Affine &other) const { return *this + other * -1; }
  bool operator==(const Affine &other) const {
    return terms == other.terms && constant == other.constant;
  }
  bool operator<(const Affine &other) const {
    return std::tie(constant, terms) < std::tie(other.constant, other.terms);
  }
};

/// One expression a dimension.
using Index = llvm::SmallVector<Affine, 5>;

/// A value of the graph at an index.
using Element = std::pair<unsigned, Index>;

struct Range {
  int64_t low, high; ///< both inclusive
};

/// The loops in which a value changes, as a set of bits.
enum Depends : unsigned { Nowhere = 0, InRows = 1, InInner = 2, InLanes = 4 };

struct Var {
  enum Kind { Loop, Quotient, Remainder, Data } kind;
  unsigned depends; ///< bits of Depends
  Range range;      ///< Loop: narrowed while a part of its range is emitted; Data: legal values
  Affine base;      ///< Quotient, Remainder: the dividend
  int64_t divisor = 1;
  Element element = {}; ///< Data: the index tensor's element
  unsigned owner = 0;   ///< Data: the operation that reads with it
  int64_t extent = 0;   ///< Loop: of the whole loop
};

class Vars {
public:
  VarId addLoop(int64_t extent, Depends depends);
  /// The index that `owner` reads from `element`, within [0, extent). `part` numbers the elements
  /// of a tuple.
  Affine data(unsigned owner, const Element &element, int64_t extent);

  const Var &operator[](VarId id) const { return vars[id]; }
  Var &get(VarId id) { return vars[id]; }

  Range range(const Affine &value) const;
  unsigned depends(const Affine &value) const;
  unsigned depends(const Index &index) const;
  /// The loop variables that the value depends on, ascending, also through opaque ones.
  void collectLoops(const Affine &value, llvm::SmallVectorImpl<VarId> &loops) const;

  /// value = quotient · divisor + remainder.
  std::pair<Affine, Affine> split(const Affine &value, int64_t divisor);

  /// The index into `shape` of the element at position `linear` in row-major order.
  Index delinearise(const Affine &linear, llvm::ArrayRef<int64_t> shape);
  /// The row-major position of `index`; puts a dividend together again where its quotient and
  /// remainder meet.
  Affine linearise(const Index &index, llvm::ArrayRef<int64_t> shape) const;
  /// Replaces k·d·⌊x/d⌋ + k·(x mod d) by k·x.
  Affine recombine(Affine value) const;

private:
  Affine opaque(Var::Kind kind, const Affine &base, int64_t divisor);

  std::vector<Var> vars;
  std::map<std::tuple<int, Affine, int64_t>, VarId> opaques;
  std::map<std::pair<unsigned, Element>, VarId> datas;
};

} // namespace weft::kernel

#endif // WEFT_COMPILER_KERNEL_INDEX_H

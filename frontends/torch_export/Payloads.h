//===- Payloads.h - parameters, buffers and constants -----------*- C++ -*-===//
//
// The archive keeps storages as plain bytes, one entry each, and says for every fully qualified
// name which storage it is a view of: sizes, strides and offset, in elements. Several names may
// share a storage. A stored entry is referenced where it lies; the strides become views of the
// loaded weight:
//
//   transposed   sizes [8, 4], strides [1, 8]     a weight [4, 8] and a transpose
//   a part       sizes [64, 64], strides [192, 1] a weight [64, 192] and a slice
//   expanded     sizes [8, 4], strides [0, 1]     a weight [4] and a broadcast
//
// What no such view expresses (overlapping rows) is copied out where it is small.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_PAYLOADS_H
#define WEFT_FRONTENDS_TORCH_EXPORT_PAYLOADS_H

#include "frontends/common/Weights.h"
#include "frontends/torch_export/Archive.h"
#include "frontends/torch_export/Program.h"

namespace weft::frontend::aten {

/// A view of a storage: where in it the view begins, and which elements it has.
struct StridedView {
  int64_t offset;
  Shape sizes, strides;
};

/// A view as operations on a dense block of its storage.
struct DenseBlock {
  int64_t start; ///< of the block in the storage, in elements
  Shape shape;   ///< of the block
  Shape starts;  ///< the part of the block that the view has, …
  Shape sizes;   ///< … dense again, with the dimensions of `order`
  Shape order;   ///< dimensions of the view that are not repeated, by falling stride
  bool isPart() const { return shape != sizes; }
};

/// The block of which a view is a part, in a storage of `elements`; none where there is none.
std::optional<DenseBlock> denseBlock(const StridedView &view, int64_t elements);

class Payloads {
public:
  /// Reads the tables of the model `name`. Throws ImportError where the archive keeps its values in
  /// another way.
  Payloads(const Archive &archive, llvm::StringRef name, llvm::StringRef fileName, Weights &weights,
           Emitter &emit);

  /// The value of a parameter, buffer or constant, loaded where `emit` builds: of complex numbers
  /// pairs of real ones along a last dimension. A storage that was loaded under another name in the
  /// same shape is not loaded again.
  mlir::Value load(const InputSpec &spec);
  /// Whether what is stored under the name is complex numbers.
  bool isComplex(llvm::StringRef name) const;
  /// The same as a weight of kind state. Throws ImportError where others share its elements.
  mlir::Value loadState(const InputSpec &spec);

private:
  struct Payload {
    PayloadMeta meta;
    std::string entry; ///< of the archive
  };
  void readTable(const std::string &folder, const std::string &table);
  /// The payload of that name, which must be dense and not pickled, and its element type.
  const Payload &find(llvm::StringRef name) const;
  std::string findSharer(llvm::StringRef name, const Payload &payload) const;
  mlir::Value create(const Payload &payload, const InputSpec &spec);
  mlir::Value createView(const Payload &payload, const InputSpec &spec, const StridedView &view,
                         mlir::Type element);
  mlir::Value add(const InputSpec &spec, StoredTensor stored, llvm::StringRef name);
  /// The elements of a view, copied. Throws ImportError where too much has been copied already.
  Tensor copyView(const Payload &payload, const StridedView &view, mlir::RankedTensorType type);

  const Archive &archive;
  std::string fileName; ///< how #weft.external names the archive
  Weights &weights;
  Emitter &emit;
  llvm::StringMap<Payload> payloads;
  std::map<std::string, mlir::Value> loaded; ///< by entry and view
  int64_t copiedBytes = 0;
};

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_PAYLOADS_H

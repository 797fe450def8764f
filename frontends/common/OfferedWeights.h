//===- OfferedWeights.h - values for a model's weights ----------*- C++ -*-===//
//
// Models that come without weights (StableHLO whose weights are arguments, configurations) get them
// from .safetensors files, by name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_COMMON_OFFEREDWEIGHTS_H
#define WEFT_FRONTENDS_COMMON_OFFEREDWEIGHTS_H

#include "frontends/common/SafeTensors.h"
#include "mlir/IR/Location.h"
#include <map>

namespace weft::frontend {

class OfferedWeights {
public:
  /// `modelPath` is where the model lies that the weights are for. Throws ImportError where a file
  /// cannot be read, or two hold a weight of one name.
  OfferedWeights(mlir::MLIRContext *context, llvm::StringRef modelPath,
                 llvm::ArrayRef<std::string> files);

  bool empty() const { return offered.empty(); }
  bool has(llvm::StringRef name) const { return offered.contains(name.str()); }

  /// Where the values of a weight that there is lie. Throws ImportError where it is not of this
  /// type, or was taken before.
  mlir::Attribute take(llvm::StringRef name, mlir::RankedTensorType type);

  /// Warns of weights that nothing has taken, which `are` what they are not.
  void warnOfUnused(mlir::Location location, llvm::StringRef are) const;

private:
  struct Weight {
    FileTensor tensor;
    std::string file;
    bool used = false;
  };
  mlir::MLIRContext *context;
  std::string modelPath;
  std::map<std::string, Weight> offered; ///< by name
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_COMMON_OFFEREDWEIGHTS_H

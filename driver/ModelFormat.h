//===- ModelFormat.h - what a file given as a model holds -------*- C++ -*-===//

#ifndef WEFT_DRIVER_MODELFORMAT_H
#define WEFT_DRIVER_MODELFORMAT_H

#include <optional>
#include <string>

namespace weft {

/// The formats that models are read from.
enum class ModelFormat { Onnx, TorchExport, Mlir, Config };

/// The format of the model at `path`, told by its first bytes, and by its extension where they do
/// not tell. None for anything else: `problem` says what that is, and what to do with it.
std::optional<ModelFormat> findModelFormat(const std::string &path, std::string &problem);

} // namespace weft

#endif // WEFT_DRIVER_MODELFORMAT_H

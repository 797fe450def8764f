//===- Operators.h - which operators models may have ------------*- C++ -*-===//

#ifndef WEFT_DRIVER_OPERATORS_H
#define WEFT_DRIVER_OPERATORS_H

#include <string>

namespace weft {

/// The operators of a frontend (`onnx`, `torch` or `stablehlo`) that can be imported, in Markdown;
/// empty where there is no such frontend. docs/operators.md is made of these.
std::string describeOperators(const std::string &frontend);

} // namespace weft

#endif // WEFT_DRIVER_OPERATORS_H

//===- Operators.h - which operators models may have ------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_OPERATORS_H
#define WEFT_TOOLS_WEFT_OPERATORS_H

#include <string>

namespace weft::tool {

/// The operators of a frontend (`onnx`, `torch` or `stablehlo`) that can be imported, in Markdown;
/// empty where there is no such frontend. docs/operators.md is made of these.
std::string describeOperators(const std::string &frontend);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_OPERATORS_H

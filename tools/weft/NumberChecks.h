//===- NumberChecks.h - numbers on the command line -------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_NUMBERCHECKS_H
#define WEFT_TOOLS_WEFT_NUMBERCHECKS_H

#include <CLI/CLI.hpp>

namespace weft::tool {

// Finite numbers alone pass; CLI11's own checks let `nan` through, which is in no order.

CLI::Validator isNumber();
CLI::Validator isAtLeast(double least);
CLI::Validator isAbove(double bound);
CLI::Validator isWithin(double least, double most);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_NUMBERCHECKS_H

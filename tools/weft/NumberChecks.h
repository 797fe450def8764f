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

/// Sizes of 1 B and more, as 16GiB or 75.5 GB, in whose place it puts numbers of bytes: units are
/// powers of 1024, of any case, with an i or without.
CLI::Validator asSize();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_NUMBERCHECKS_H

//===- Compile.h - the compiler's passes on a case --------------*- C++ -*-===//

#ifndef WEFT_TEST_PROPERTY_COMPILE_H
#define WEFT_TEST_PROPERTY_COMPILE_H

#include "test/property/Case.h"

namespace weft::property {

void loadDialects(mlir::MLIRContext &context);

/// Applies mesh and pins, and gives every value a sharding. Returns the diagnostics of a failure,
/// or nothing.
std::string plan(Case &test);

/// Makes the program of one rank. Returns the diagnostics of a failure, or nothing.
std::string partition(Case &test);

/// Decomposes attention and outlines kernels in a partitioned module. Returns the diagnostics of a
/// failure, or nothing.
std::string formKernels(Case &test);

/// Counts the splits of a planned module: operations with a split result, and whether any value is
/// split in another dimension than its first.
void countSplits(mlir::ModuleOp module, Coverage &coverage);

/// Counts the dist operations of a partitioned module.
void countCollectives(mlir::ModuleOp module, Coverage &coverage);

/// The module's text.
std::string print(mlir::ModuleOp module);

} // namespace weft::property

#endif // WEFT_TEST_PROPERTY_COMPILE_H

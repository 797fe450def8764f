//===- CaseFiles.h - a case as files for other programs ---------*- C++ -*-===//
//
// What end_to_end.py works on, in a folder of its own:
//
//   model.mlir   the model as `weft import` writes it, its weights in weights.bin
//   plan.txtpb   mesh and pins, where the compiler chooses nothing beside them
//   case.json    mesh and pins for the command line; the graph, so that numpy can compute it
//   data.bin     the elements of leaves (inputs, weights, constants) and expected outputs,
//   row-major
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_PROPERTY_CASEFILES_H
#define WEFT_TEST_PROPERTY_CASEFILES_H

#include "test/property/Case.h"

namespace weft::property {

/// Writes a case that is not planned yet into `folder`, which must exist; its weights must name
/// weights.bin as their file. Throws std::runtime_error.
void writeCase(const Case &test, const std::string &folder);

} // namespace weft::property

#endif // WEFT_TEST_PROPERTY_CASEFILES_H

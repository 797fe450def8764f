//===- Verify.h - is an executable what it claims to be? --------*- C++ -*-===//
//
// An independent check: nothing here is shared with what writes executables. It finds, in a program
// that was changed or compiled wrongly:
//
//   tables       ranks that meshes do not have, unknown arenas, meshes, axes, segments, kernels
//   operands     outside their arena on any rank; strides that do not go with the shape or dtype
//   operations   products, convolutions and copies whose shapes disagree; collectives whose sizes,
//                element types or order differ between the ranks that meet in them
//   lifetimes    reads of bytes that hold nothing, or another value than the operand says;
//                outputs that overlap inputs; ports and weights that do not survive the step
//   weights      blocks outside the tensor or the file, on any rank
//
// What is affine in the coordinates is checked at its extremes; lifetimes on every rank of small
// meshes, and on the corners of large ones.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_VERIFY_VERIFY_H
#define WEFT_RUNTIME_VERIFY_VERIFY_H

#include "runtime/Program/Executable.h"

#include <string>
#include <vector>

namespace weft::runtime {

/// Everything that is wrong with the programs, each reason naming the class, segment, instruction
/// and source operation it is about; empty: nothing. No more than `limit` reasons are listed.
std::vector<std::string> verifyPrograms(const program::Executable &executable, size_t limit = 20);

/// The same for what lies in files: the model's weights (present, unchanged), and the kernels that
/// programs call (present in the shared object). `loadExecutable` has checked the rest.
std::vector<std::string> verifyFiles(const Executable &executable, size_t limit = 20);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_VERIFY_H

//===- Resolve.h - operands evaluated for one rank --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_RESOLVE_H
#define WEFT_RUNTIME_PROGRAM_RESOLVE_H

#include "runtime/Device/View.h"
#include "runtime/Program/Position.h"

namespace weft::runtime {

/// Evaluates an operand for a rank; an Error of kind BadInput where any of its elements would lie
/// outside its arena.
View resolveView(const program::Program &program, const program::Operand &operand,
                 const Position &position);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_RESOLVE_H

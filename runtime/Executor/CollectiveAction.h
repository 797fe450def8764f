//===- CollectiveAction.h - a collective made ready -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_COLLECTIVEACTION_H
#define WEFT_RUNTIME_EXECUTOR_COLLECTIVEACTION_H

#include "runtime/Collective/Transport.h"
#include "runtime/Cpu/Action.h"

namespace weft::runtime {

/// Makes the Action of a collective; an Error of kind BadInput where its operands do not fit its
/// group.
std::unique_ptr<Action> makeCollectiveAction(const program::Program &program,
                                             const program::Collective &collective,
                                             const Position &position, Transport &transport);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_COLLECTIVEACTION_H

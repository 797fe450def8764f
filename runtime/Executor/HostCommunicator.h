//===- HostCommunicator.h - collectives done by the host --------*- C++ -*-===//
//
// For devices without a way of their own to other ranks. The operand's bytes come into a window of
// host memory (Staging.h: on the CPU the arena itself), the rank's thread runs the collective over
// the transport (Collectives.h), and the result goes back on the stream. What is asynchronous is
// done by a thread of its own (CommunicationQueue.h), and its windows stay open until the wait.
// Bits are the same on every device and transport.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_HOSTCOMMUNICATOR_H
#define WEFT_RUNTIME_EXECUTOR_HOSTCOMMUNICATOR_H

#include "runtime/Executor/Staging.h"

namespace weft::runtime {

/// Both outlive the communicator and its commands.
std::unique_ptr<Communicator> makeHostCommunicator(Transport &transport, Staging &staging);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_HOSTCOMMUNICATOR_H

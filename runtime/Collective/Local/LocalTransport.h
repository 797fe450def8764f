//===- LocalTransport.h - ranks that are threads ----------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H

#include "runtime/Collective/Transport.h"

#include <vector>

namespace weft::runtime {

/// The ends of `size` ranks that are threads of this process; end i belongs to rank i's thread.
/// Receivers copy from the senders' memory, so a send returns when its receiver has it.
std::vector<std::unique_ptr<Transport>> makeLocalTransports(int64_t size);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_LOCAL_LOCALTRANSPORT_H

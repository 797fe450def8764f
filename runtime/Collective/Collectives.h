//===- Collectives.h - collectives on top of any transport ------*- C++ -*-===//
//
// Reductions add the members' parts in the order of the group, whatever the timing and the
// transport: a run repeats bit for bit and `local` equals `mpi`. An all-reduce is a reduce-scatter
// by direct exchange followed by an all-gather (2(n-1)/n of the buffer sent by each rank, the least
// there is), or for short messages one exchange of everything. f16 and bf16 are reduced in f32 and
// rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVE_COLLECTIVES_H
#define WEFT_RUNTIME_COLLECTIVE_COLLECTIVES_H

#include "runtime/Collective/Transport.h"
#include "runtime/Program/executable.pb.h"

#include <cstddef>
#include <string>
#include <vector>

namespace weft::runtime {

/// A rank's view of one group: its members in order and its own number in it.
struct Group {
  std::vector<int64_t> ranks;
  int64_t self = 0;

  int64_t getSize() const { return static_cast<int64_t>(ranks.size()); }
};

/// Memory that collectives receive into; kept between calls.
using Scratch = std::vector<std::byte>;

/// `output` may equal `input`. `count` elements each.
void allReduce(Transport &transport, const Group &group, program::DType dtype,
               plan::Reduction reduction, const std::byte *input, std::byte *output, int64_t count,
               Scratch &scratch);

/// `output` holds the members' blocks of `blockBytes` in the group's order.
void allGather(Transport &transport, const Group &group, const std::byte *input, std::byte *output,
               uint64_t blockBytes);

/// `input` holds a block of `blockCount` elements for each member; `output` is the reduced own one.
void reduceScatter(Transport &transport, const Group &group, program::DType dtype,
                   plan::Reduction reduction, const std::byte *input, std::byte *output,
                   int64_t blockCount, Scratch &scratch);

/// Block i of `input` becomes block `self` of member i's `output`.
void allToAll(Transport &transport, const Group &group, const std::byte *input, std::byte *output,
              uint64_t blockBytes);

/// Sends to `to` while receiving from `from`; either may be this rank, then both are.
void permute(Transport &transport, int64_t to, int64_t from, const std::byte *input,
             std::byte *output, uint64_t bytes);

/// Every rank's text, on every rank, in the order of ranks: for agreement, not for tensors.
std::vector<std::string> gatherTexts(Transport &transport, const std::string &text);

/// result[i] = first[i] reduced with the parts in order; parts[0] may equal result.
void reduceParts(program::DType dtype, plan::Reduction reduction,
                 const std::vector<const std::byte *> &parts, std::byte *result, int64_t count);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_COLLECTIVES_H

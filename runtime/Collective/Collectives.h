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
#include <functional>
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

/// One exchange of a collective, and what is to be done when it is over.
struct Phase {
  std::vector<Send> sends;
  std::vector<Receive> receives;
  std::function<void()> then; ///< may be empty
};

/// What a rank does in a collective, one phase after the other. Operands and scratch stay where
/// they are until the last is over.
using Phases = std::vector<Phase>;

/// Does all of it and returns when it is done.
void runPhases(Transport &transport, const Phases &phases);

/// `output` may equal `input`. `count` elements each.
Phases allReduce(const Group &group, program::DType dtype, plan::Reduction reduction,
                 const std::byte *input, std::byte *output, int64_t count, Scratch &scratch);

/// `output` holds the members' blocks of `blockBytes` in the group's order. The own block is copied
/// here and now.
Phases allGather(const Group &group, const std::byte *input, std::byte *output,
                 uint64_t blockBytes);

/// `input` holds a block of `blockCount` elements for each member; `output` is the reduced own one.
Phases reduceScatter(const Group &group, program::DType dtype, plan::Reduction reduction,
                     const std::byte *input, std::byte *output, int64_t blockCount,
                     Scratch &scratch);

/// Block i of `input` becomes block `self` of member i's `output`. The own block is copied here and
/// now.
Phases allToAll(const Group &group, const std::byte *input, std::byte *output, uint64_t blockBytes);

/// Sends to `to` while receiving from `from`; where either is this rank, `self`, then both are, and
/// the block is copied here and now.
Phases permute(int64_t self, int64_t to, int64_t from, const std::byte *input, std::byte *output,
               uint64_t bytes);

/// Every rank's text, on every rank, in the order of ranks: for agreement, not for tensors.
std::vector<std::string> gatherTexts(Transport &transport, const std::string &text);

/// result[i] = first[i] reduced with the parts in order; parts[0] may equal result.
void reduceParts(program::DType dtype, plan::Reduction reduction,
                 const std::vector<const std::byte *> &parts, std::byte *result, int64_t count);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_COLLECTIVES_H

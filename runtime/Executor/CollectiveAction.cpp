//===- CollectiveAction.cpp - a collective made ready ---------------------===//

#include "runtime/Executor/CollectiveAction.h"

#include "runtime/Collective/Collectives.h"
#include "runtime/Program/Collectives.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

class CollectiveAction : public Action {
public:
  CollectiveAction(const program::Program &program, const program::Collective &collective,
                   const Position &position, Transport &transport)
      : kind(collective.kind()), reduction(collective.reduction()),
        input(resolveView(program, collective.input(), position)),
        output(resolveView(program, collective.output(), position)), transport(transport) {
    group.ranks = position.getGroup(collective.axes(), collective.mesh());
    group.self = position.getCoordinate(collective.axes(), collective.mesh());
    for (int64_t rank : group.ranks)
      if (rank < 0 || rank >= transport.getSize())
        throwBadInput("a collective with rank {}, which does not run", rank);
    if (kind == program::PERMUTE) {
      // The peer's coordinate along `to` is this one's along `from`, and the other way round.
      to = position.getMember(collective.to_axes(), group.self, collective.mesh());
      from = position.getMember(collective.axes(),
                                position.getCoordinate(collective.to_axes(), collective.mesh()),
                                collective.mesh());
    }
    checkOperands();
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    runPhases(transport, makePhases(input.getAddress(bases), output.getAddress(bases)));
  }

private:
  Phases makePhases(const std::byte *in, std::byte *out) {
    switch (kind) {
    case program::ALL_REDUCE:
      return allReduce(group, input.dtype, reduction, in, out, input.getNumElements(), scratch);
    case program::ALL_GATHER:
      return allGather(group, in, out, input.getNumBytes());
    case program::REDUCE_SCATTER:
      return reduceScatter(group, input.dtype, reduction, in, out, output.getNumElements(),
                           scratch);
    case program::ALL_TO_ALL:
      return allToAll(group, in, out, input.getNumBytes() / group.getSize());
    default:
      return permute(transport.getRank(), to, from, in, out, input.getNumBytes());
    }
  }

  void checkOperands() const {
    int64_t in = input.getNumElements(), out = output.getNumElements(), n = group.getSize();
    bool fits = input.dtype == output.dtype && input.isContiguous() && output.isContiguous();
    switch (kind) {
    case program::ALL_GATHER:
      fits &= out == in * n;
      break;
    case program::REDUCE_SCATTER:
      fits &= in == out * n;
      break;
    case program::ALL_TO_ALL:
      fits &= in == out && in % n == 0;
      break;
    case program::ALL_REDUCE:
    case program::PERMUTE:
      fits &= in == out;
      break;
    default:
      throwBadInput("unknown collective {}", int(kind));
    }
    if (!fits)
      throwBadInput("{} among {} ranks of operands that do not fit", runtime::getName(kind), n);
  }

  program::CollectiveKind kind;
  plan::Reduction reduction;
  View input;
  View output;
  Transport &transport;
  Group group;
  int64_t to = 0;
  int64_t from = 0;
  Scratch scratch;
};

} // namespace

std::unique_ptr<Action> makeCollectiveAction(const program::Program &program,
                                             const program::Collective &collective,
                                             const Position &position, Transport &transport) {
  return std::make_unique<CollectiveAction>(program, collective, position, transport);
}

} // namespace weft::runtime

//===- Program.h - what the simulator runs ----------------------*- C++ -*-===//
//
// A program as the runtime executes it, with prices instead of operands. Ranks that do the same at
// the same time are one class and are simulated once; `ranks` counts them. A class has segments,
// straight lines of instructions, and a list of entries that says in which order they run, each
// for an instance (a microbatch and token slice): nothing is unrolled over microbatches.
//
// The host issues a class's instructions in order and does not wait; each goes to its stream, which
// runs its own one after another. Collectives have as many streams as there are kinds of groups,
// called lanes. Streams of a rank meet by RECORD and WAIT, ranks by messages and by rendezvouss.
//
// Worked example, one stage of a pipeline: the forward segment is
//
//   receive  channel 0          compute stream: waits for the message of this instance
//   work     2 ms               compute stream
//   record   event 0
//   wait     event 0            point-to-point stream
//   send     channel 1, 50 us   there too: the next microbatch's work runs beside it
//
// and its entries are that segment for instances 0, 1, 2 and so on.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SIMULATE_PROGRAM_H
#define WEFT_COMPILER_SIMULATE_PROGRAM_H

#include "compiler/Cost/WorkSeconds.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft::sim {

/// Copies from the host do not wait for those that go back to it.
enum class Stream : uint8_t { Compute, Collective, PointToPoint, Copy, CopyBack };
inline constexpr int numStreams = 5;

/// The stream's name in tables and traces.
const char *getStreamName(Stream stream);

enum class Op : uint8_t {
  Work,       ///< computes for `seconds`; slower while communication runs beside it on its rank
  Transfer,   ///< a collective inside the class, or a copy: `seconds`, then `linkSeconds` on links
  Rendezvous, ///< a transfer that starts when every class of rendezvous `id` has come to it
  Send,       ///< a transfer after which message (`id`, instance) is under way for `flight` seconds
  Receive,    ///< waits until message (`id`, instance) is there
  Record,     ///< sets event (`id`, instance) of the rank
  Wait,       ///< waits until event (`id`, instance) of the rank is set
};

/// Bytes of an owner (index into Program::owners) that come, or go if negative.
struct MemoryChange {
  int32_t owner = 0;
  double bytes = 0;
};

/// A transfer alone takes the share `demand` (0 to 1) of a link's capacity. Where all demands on a
/// link are more than 1 together, each gets its part of what there is.
struct LinkUse {
  int32_t link = 0; ///< index into Program::links
  double demand = 1;
};

struct Instruction {
  Op op = Op::Work;
  Stream stream = Stream::Compute;
  int32_t lane = 0;       ///< of a collective: index into RankClass::lanes
  int32_t id = -1;        ///< channel, event or meeting
  int32_t name = 0;       ///< index into Program::names, for traces
  double seconds = 0;     ///< of computing, or of a transfer's latency
  WorkSeconds parts{};    ///< of computing, where it is known: nothing follows from it
  double linkSeconds = 0; ///< of a transfer that has its links for itself
  double flight = 0;      ///< seconds of a message after it has left the stream
  double loss = 0;        ///< of the rank's compute rate while it runs on another stream, 0 to 1
  std::vector<LinkUse> links{};
  std::vector<MemoryChange> onBegin{}, onEnd{};
};

struct Segment {
  std::vector<Instruction> instructions;
};

struct Entry {
  int32_t segment = 0;
  int32_t instance = 0;
};

struct RankClass {
  std::string name;
  int64_t ranks = 1;
  std::vector<Segment> segments;
  std::vector<Entry> entries;
  std::vector<MemoryChange> resident; ///< from the start to the end of the step
  int32_t events = 0;                 ///< ids of events are below
  std::vector<std::string> lanes;     ///< names of collectives' streams; one where empty
};

/// One direction between two classes.
struct Channel {
  static constexpr int32_t unbounded = INT32_MAX;

  int32_t receiver = 0;         ///< class
  int32_t capacity = unbounded; ///< messages sent and not yet received, at most
  double bytes = 0;             ///< of a message, for the counters
};

struct Program {
  std::vector<RankClass> classes;
  int32_t instances = 1; ///< instances of entries are below
  std::vector<Channel> channels;
  std::vector<int32_t> rendezvous; ///< how many classes come to each
  std::vector<std::string> links, owners, names;
  std::vector<std::string> operations, shapes; ///< by name, for traces; none where empty
};

/// Streams of a class, lanes counted one by one: the most that any has.
int32_t getNumSlots(const Program &program);

/// The number of an instruction's stream among them: further lanes stand behind all others.
inline int32_t getSlot(const Instruction &instruction) {
  return instruction.lane == 0 ? static_cast<int32_t>(instruction.stream)
                               : numStreams - 1 + instruction.lane;
}

} // namespace weft::sim

#endif // WEFT_COMPILER_SIMULATE_PROGRAM_H

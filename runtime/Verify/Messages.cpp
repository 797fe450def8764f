//===- Messages.cpp - does every message arrive? --------------------------===//
//
// First each message that a rank sends is held against those that ranks receive. Then the programs
// are walked side by side, one rank of each standing for all: beginning a message never waits,
// waiting for one goes on once its other side has begun. Where nothing goes on, ranks would wait
// for ever. Repeats are not unrolled, and long ones not walked to their end: what has gone on for
// 65 536 executions of segments goes on in turns.
//
// Worked example (MessagesTest.cpp), of messages that are waited for in their place:
//
//   send 1, send 2    receive 1, receive 2    each waits until both sides are there: accepted
//   send 1, send 2    receive 2, receive 1    send 1 waits for receive 1, behind receive 2, which
//                                             waits for send 2, behind send 1: for ever
//
//===----------------------------------------------------------------------===//

#include "runtime/Program/Position.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"
#include "runtime/Verify/Checks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

namespace weft::runtime {

namespace {

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

struct MessageKey {
  int64_t from = 0, to = 0; ///< ranks
  uint32_t tag = 0;

  auto operator<=>(const MessageKey &) const = default;
  std::string str() const {
    return fmt::format("from rank {} to rank {} with tag {}", from, to, tag);
  }
};

struct Side {
  std::string what;  ///< type, shape and source
  int64_t times = 0; ///< a step

  bool operator==(const Side &) const = default;
  std::string str() const { return fmt::format("{}, {} a step", what, times); }
};

using Sides = std::map<MessageKey, Side>;

/// Collects the messages of one rank.
class RankMessages {
public:
  RankMessages(const program::Executable &executable, int64_t rank, Reasons &reasons)
      : executable(executable), rank(rank), position(executable, rank), reasons(reasons) {}

  void add(const program::Instruction &instruction, int64_t times, Sides &sent, Sides &received) {
    if (instruction.has_receive()) {
      const program::Receive &receive = instruction.receive();
      add(receive, receive.output(), instruction.source(), times, received, /*sends=*/false);
    } else if (instruction.has_send()) {
      const program::Send &send = instruction.send();
      if (position.getCoordinate(send.leaders()) == 0)
        add(send, send.input(), instruction.source(), times, sent, /*sends=*/true);
    }
  }

private:
  template <typename Message>
  void add(const Message &message, const program::Operand &operand, const std::string &source,
           int64_t times, Sides &sides, bool sends) {
    const auto &shape = operand.shape();
    Side side{fmt::format("{}[{}] of '{}'", getName(operand.dtype()),
                          fmt::join(shape.begin() + message.steps_size(), shape.end(), ", "),
                          source),
              times};
    const plan::Mesh &mesh = findMesh(executable, message.mesh());
    int64_t peers = 1;
    for (int dim = 0; dim < message.steps_size(); ++dim)
      if (__builtin_mul_overflow(peers, shape[dim], &peers) || peers > getNumPositions(mesh))
        return reasons.add("rank {} has {} messages to ranks of mesh '{}', which has {}", rank,
                           shape[dim], mesh.name(), getNumPositions(mesh));
    for (int64_t peer : listPositions(message, operand)) {
      if (peer < 0 || peer >= getNumPositions(mesh))
        return reasons.add("rank {} {} position {} of mesh '{}', which has {}", rank,
                           sends ? "sends to" : "receives from", peer, mesh.name(),
                           getNumPositions(mesh));
      int64_t other = getRankAt(mesh, peer);
      MessageKey key{sends ? rank : other, sends ? other : rank, message.tag()};
      if (!sides.emplace(key, side).second)
        reasons.add("two messages {}", key.str());
    }
  }

  template <typename Message>
  std::vector<int64_t> listPositions(const Message &message, const program::Operand &operand) {
    std::vector<int64_t> positions = {position.evaluate(message.peer())};
    for (int dim = 0; dim < message.steps_size(); ++dim) {
      std::vector<int64_t> next;
      for (int64_t from : positions)
        for (int64_t index = 0; index < operand.shape(dim); ++index)
          next.push_back(from + index * message.steps(dim));
      positions = std::move(next);
    }
    return positions;
  }

  const program::Executable &executable;
  int64_t rank;
  Position position;
  Reasons &reasons;
};

void collect(const program::Executable &executable, const program::RankRange &range, Sides &sent,
             Sides &received, Reasons &reasons) {
  const program::Program &program = executable.classes(static_cast<int>(range.rank_class()));
  std::map<uint32_t, int64_t> executions; // of segments
  forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t times) {
    executions[entry.segment()] += times;
  });
  std::vector<std::pair<const program::Instruction *, int64_t>> messages; // and how often
  for (auto [segment, times] : executions)
    for (const program::Instruction &instruction : program.segments(segment).instructions())
      if (instruction.has_send() || instruction.has_receive())
        messages.emplace_back(&instruction, times);
  for (int64_t rank = range.begin(); rank < range.end() && !messages.empty(); ++rank) {
    RankMessages ofRank(executable, rank, reasons);
    for (auto [instruction, times] : messages)
      ofRank.add(*instruction, times, sent, received);
  }
}

void compare(const Sides &sent, const Sides &received, Reasons &reasons) {
  for (const auto &[key, side] : sent) {
    auto other = received.find(key);
    if (other == received.end())
      reasons.add("nobody receives the message {}: {}", key.str(), side.str());
    else if (!(other->second == side))
      reasons.add("the message {} is sent as {}, and received as {}", key.str(), side.str(),
                  other->second.str());
  }
  for (const auto &[key, side] : received)
    if (!sent.count(key))
      reasons.add("nobody sends the message {}: {}", key.str(), side.str());
}

//===----------------------------------------------------------------------===//
// Waiting for one another
//===----------------------------------------------------------------------===//

/// What all messages of one transfer have in common: meshes and tag.
using Transfer = std::tuple<std::string, std::string, uint32_t>;

/// How often each side of the transfers was begun.
using Begun = std::map<std::pair<Transfer, bool>, int64_t>;

/// So many executions of segments are walked on each rank.
constexpr int64_t maxWalked = int64_t{1} << 16;

/// The executions of a step, one after the other.
class Executions {
public:
  explicit Executions(const program::Program &program) : program(program) {
    for (int arena = 0; arena < program.arenas_size(); ++arena)
      if (program.arenas(arena).kind() == program::COMMUNICATION)
        messages = arena;
    levels.push_back({&program.schedule(), 0, 1, 1});
    settle();
  }

  bool isOver() const { return levels.empty(); }
  const program::Segment &get() const { return program.segments(getEntry().segment()); }
  /// That of the communication arena, in which tokens are apart.
  int64_t getFrame() const {
    std::vector<int64_t> iterations;
    for (const Level &level : std::span(levels).subspan(1))
      iterations.push_back(level.times - level.iterations);
    for (const program::FrameBinding &binding : getEntry().frames())
      if (messages && static_cast<int>(binding.arena()) == *messages)
        return runtime::getFrame(binding.index(), iterations, program.arenas(*messages).frames());
    return 0;
  }
  void next() {
    ++levels.back().at;
    settle();
  }

private:
  struct Level {
    const ScheduleItems *items;
    int at;
    int64_t iterations; ///< that are left, this one counted
    int64_t times;      ///< of them all
  };

  const program::ScheduleEntry &getEntry() const {
    const Level &level = levels.back();
    return level.items->Get(level.at).entry();
  }

  /// Goes on to an entry, into repeats and out of them.
  void settle() {
    while (!levels.empty()) {
      Level &level = levels.back();
      if (level.at == level.items->size()) {
        level.at = 0;
        if (--level.iterations == 0) {
          levels.pop_back();
          if (!levels.empty())
            ++levels.back().at;
        }
      } else if (const program::ScheduleItem &item = level.items->Get(level.at);
                 item.has_repeat()) {
        levels.push_back({&item.repeat().body(), 0, item.repeat().times(), item.repeat().times()});
      } else {
        return;
      }
    }
  }

  const program::Program &program;
  std::optional<int> messages; ///< the arena of communication
  std::vector<Level> levels;   ///< of repeats, the outermost first
};

class Walker {
public:
  Walker(const program::Executable &executable, const program::RankRange &range, Begun &begun)
      : number(range.rank_class()), mesh(findMeshOf(executable, range.begin())), begun(begun),
        executions(executable.classes(static_cast<int>(number))) {}

  bool isOver() const { return executions.isOver(); }
  /// Whether it was walked as far as programs are.
  bool isFar() const { return walked >= maxWalked; }

  /// Goes on as far as possible; returns whether it went on at all.
  bool advance() {
    bool moved = false;
    for (; !isOver() && !isFar(); executions.next(), at = 0, ++walked)
      for (; at < executions.get().instructions_size(); ++at, isBegun = false) {
        if (!pass(executions.get().instructions(at)))
          return moved;
        moved = true;
      }
    return moved;
  }

  void report(Reasons &reasons) const {
    reasons.add("class {}: {}: it waits for ever: what it waits for is begun behind what waits for "
                "it",
                number, describePlace(executions.get(), at));
  }

private:
  struct Waiting {
    Transfer transfer;
    bool sends;
    int64_t count; ///< this one's number
  };

  /// Whether the other side has begun.
  bool isMatched(const Waiting &message) {
    return begun[{message.transfer, !message.sends}] >= message.count;
  }

  bool pass(const program::Instruction &instruction) {
    if (instruction.has_wait()) {
      auto found = open.find({executions.getFrame(), instruction.wait().token()});
      if (found == open.end())
        return true; // of a collective
      if (!isMatched(found->second))
        return false;
      open.erase(found);
      return true;
    }
    if (!instruction.has_send() && !instruction.has_receive())
      return true;
    if (!isBegun)
      current = begin(instruction);
    isBegun = true;
    if (!instruction.has_async())
      return isMatched(current);
    open[{executions.getFrame(), instruction.async().token()}] = current;
    return true;
  }

  Waiting begin(const program::Instruction &instruction) {
    bool sends = instruction.has_send();
    Transfer transfer =
        sends ? Transfer(mesh->name(), instruction.send().mesh(), instruction.send().tag())
              : Transfer(instruction.receive().mesh(), mesh->name(), instruction.receive().tag());
    return {transfer, sends, ++begun[{transfer, sends}]};
  }

  uint32_t number;
  const plan::Mesh *mesh;
  Begun &begun;
  Executions executions;
  int64_t walked = 0;   ///< executions
  int at = 0;           ///< the instruction of the one at hand
  bool isBegun = false; ///< the instruction at hand
  Waiting current;
  std::map<std::pair<int64_t, uint32_t>, Waiting> open; ///< by frame and token
};

void walk(const program::Executable &executable, Reasons &reasons) {
  Begun begun;
  std::vector<Walker> walkers;
  for (const program::RankRange &range : executable.ranks())
    walkers.emplace_back(executable, range, begun);
  for (bool moved = true; moved;) {
    moved = false;
    for (Walker &walker : walkers)
      moved |= walker.advance();
  }
  if (std::any_of(walkers.begin(), walkers.end(), [](const Walker &each) { return each.isFar(); }))
    return;
  for (const Walker &walker : walkers)
    if (!walker.isOver())
      walker.report(reasons);
}

} // namespace

void checkMessages(const program::Executable &executable, Reasons &reasons) {
  if (executable.meshes_size() < 2)
    return;
  size_t before = reasons.size();
  Sides sent, received;
  for (const program::RankRange &range : executable.ranks())
    collect(executable, range, sent, received, reasons);
  compare(sent, received, reasons);
  if (reasons.size() == before)
    walk(executable, reasons);
}

} // namespace weft::runtime

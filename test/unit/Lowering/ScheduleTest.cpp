//===- ScheduleTest.cpp - orders of instructions over buffers -------------===//

#include "compiler/Lowering/Schedule.h"
#include "compiler/Lowering/Dependences.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlir;
using namespace weft;

namespace {

/// A second for each FLOP, a second for each byte that is communicated.
class SlowTarget : public Target {
public:
  StringRef getName() const override { return "slow"; }
  bool callsLibrary(Operation *op) const override { return false; }
  bool wantsChannelsLast(Operation *op) const override { return false; }
  bool runsEpilogues(Operation *op) const override { return false; }
  MatrixStorage chooseStorage(RankedTensorType matrix, int64_t rows,
                              bool isColumnMajor) const override {
    return {};
  }
  int64_t getScoreBytes() const override { return 0; }
  double getComputeSeconds(double flops, double bytes) const override { return flops; }
  double getCommunicationSeconds(double bytes) const override { return bytes; }
  double getHandoffSeconds() const override { return 1; }
  bool hasOwnMemory() const override { return ownsMemory; }

  bool ownsMemory = true;
};

/// Gathers have a lane of their own.
class ClockOfTwoLanes : public TargetClock {
public:
  using TargetClock::TargetClock;
  unsigned getLane(exec::InstructionOpInterface op) override {
    auto collective = dyn_cast<exec::CollectiveOp>(*op);
    return collective && collective.getKind() == exec::CollectiveKind::AllGather ? 1 : 0;
  }
};

/// Numbers of buffers in the host's memory, which every program has.
constexpr int64_t states[] = {1000001, 1000002, 1000003};

/// A program of one segment, written by its lines (see compute() and reduce() below).
class Program {
public:
  explicit Program(ArrayRef<std::string> lines, ArrayRef<int64_t> bufferBytes) {
    context.loadDialect<exec::ExecDialect>();
    std::string text =
        "exec.mesh @mesh [\"x\"=2]\n"
        "exec.mesh @there [\"x\"=2] from 2\nexec.program @p ranks 0 to 2 schedule [] {\n";
    for (auto [number, bytes] : llvm::enumerate(bufferBytes))
      text +=
          llvm::formatv("buffer {0} activations {1} align 64 live uses\n", number + 1, bytes).str();
    for (int64_t state : states)
      text += llvm::formatv("buffer {0} host 64 align 64 live step\n", state).str();
    text += "segment @s {\n";
    for (const std::string &line : lines)
      text += line + "\n";
    module = parseSourceString<ModuleOp>(text + "}\n}\n", &context);
    module->walk([&](exec::InstructionOpInterface op) { instructions.push_back(op); });
    module->walk([&](exec::BufferOp op) {
      if (op.getKind() != exec::ArenaKind::Host)
        buffers.push_back(op);
    });
  }

  SegmentSchedule schedule() {
    TargetClock clock(target);
    return schedule(clock);
  }

  SegmentSchedule schedule(InstructionClock &clock) {
    return scheduleSegment(instructions, buffers, clock);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<exec::InstructionOpInterface> instructions;
  std::vector<exec::BufferOp> buffers;
  SlowTarget target;
};

std::string operand(int64_t buffer) {
  return llvm::formatv("<activations, 0, f32 [1] value {0}>", buffer).str();
}

/// Computation of so many seconds.
std::string compute(ArrayRef<int64_t> reads, int64_t write, int64_t seconds) {
  auto list = [](ArrayRef<int64_t> buffers) {
    return llvm::join(
        llvm::map_range(buffers, [](int64_t b) { return "#exec.operand" + operand(b); }), ", ");
  };
  return llvm::formatv("launch \"k\" [{0}] to [{1}] params [] tiles 1 grain 1 checks [] "
                       "priced <\"\", {2} flops, 0 read, 0 written, \"\">",
                       list(reads), list({write}), seconds)
      .str();
}

/// An all-reduce of so many seconds.
std::string reduce(int64_t read, int64_t write, int64_t seconds) {
  return llvm::formatv("collective all_reduce sum axes [\"x\"] on @mesh {0} to {1} "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       operand(read), operand(write), seconds)
      .str();
}

/// A gather of so many seconds.
std::string gather(int64_t read, int64_t write, int64_t seconds) {
  return llvm::formatv("collective all_gather sum axes [\"x\"] on @mesh {0} to "
                       "<activations, 0, f32 [2] value {1}> "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       operand(read), write, seconds)
      .str();
}

/// A copy of so many seconds from what lies at a number in the host's memory, and back.
std::string fetch(int64_t state, int64_t write, int64_t seconds) {
  return llvm::formatv("copy <host, 0, f32 [1] value {0}> to {1} "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       state, operand(write), seconds)
      .str();
}
std::string giveBack(int64_t read, int64_t state, int64_t seconds) {
  return llvm::formatv("copy {1} to <host, 0, f32 [1] value {0}> "
                       "priced <\"\", 0 flops, {2} read, {2} written, \"\">",
                       state, operand(read), seconds)
      .str();
}

std::string send(int64_t read) {
  return llvm::formatv("send tag 1 {0} to @there peer <0 + 1 * [\"x\"]> steps [] leaders [] "
                       "priced <\"\", 0 flops, 1 read, 0 written, \"\">",
                       operand(read))
      .str();
}
std::string receive(int64_t write) {
  return llvm::formatv("receive tag 2 from @there peer <0 + 1 * [\"x\"]> steps [] into {0} "
                       "priced <\"\", 0 flops, 0 read, 1 written, \"\">",
                       operand(write))
      .str();
}

std::vector<unsigned> getOrder(const SegmentSchedule &schedule) {
  std::vector<unsigned> order;
  for (const ScheduledInstruction &scheduled : schedule.order)
    order.push_back(scheduled.number);
  return order;
}

/// Every instruction once, behind what it depends on, and nothing that communication touches is
/// touched before it is waited for.
void checkValid(Program &program, const SegmentSchedule &schedule) {
  Dependences dependences(program.instructions);
  std::vector<int> state(program.instructions.size()); // 1: begun, 2: over
  for (const ScheduledInstruction &scheduled : schedule.order) {
    for (unsigned waited : scheduled.waits) {
      CHECK(state[waited] == 1);
      state[waited] = 2;
    }
    REQUIRE(state[scheduled.number] == 0);
    for (unsigned other : dependences.getBefore(scheduled.number))
      CHECK(state[other] == 2);
    state[scheduled.number] = scheduled.async ? 1 : 2;
  }
  for (unsigned waited : schedule.waitsAtEnd) {
    CHECK(state[waited] == 1);
    state[waited] = 2;
  }
  CHECK(llvm::all_of(state, [](int over) { return over == 2; }));
}

/// One instruction after the other.
SegmentSchedule keepOrder(unsigned count) {
  SegmentSchedule schedule;
  for (unsigned number = 0; number < count; ++number)
    schedule.order.emplace_back().number = number;
  return schedule;
}

/// The most bytes between the first and the last use of buffers, where nothing is in place.
int64_t getPeak(Program &program, const SegmentSchedule &schedule) {
  std::vector<std::pair<int64_t, int64_t>> uses(program.buffers.size(), {-1, -1});
  auto use = [&](unsigned number, int64_t time) {
    exec::InstructionOpInterface op = program.instructions[number];
    for (const SmallVector<exec::OperandAttr> &operands : {op.getReads(), op.getWrites()})
      for (exec::OperandAttr operand : operands) {
        if (operand.getArena() == exec::ArenaKind::Host)
          continue;
        auto &[first, last] = uses[operand.getValue() - 1];
        first = first < 0 ? time : first;
        last = std::max(last, time);
      }
  };
  int64_t time = 0;
  for (const ScheduledInstruction &scheduled : schedule.order) {
    for (unsigned waited : scheduled.waits)
      use(waited, time - 1); // the wait stands before the instruction
    use(scheduled.number, time++);
  }
  for (unsigned waited : schedule.waitsAtEnd)
    use(waited, time);
  int64_t peak = 0;
  for (int64_t now = 0; now <= time; ++now) {
    int64_t live = 0;
    for (auto [buffer, used] : llvm::zip_equal(program.buffers, uses))
      live += used.first >= 0 && used.first <= now && now <= used.second
                  ? static_cast<int64_t>(buffer.getBytes())
                  : 0;
    peak = std::max(peak, live);
  }
  return peak;
}

} // namespace

TEST_CASE("instructions that share a written buffer stay in order") {
  Program program({compute({}, 1, 1), compute({1}, 2, 1), compute({1}, 3, 1), compute({}, 1, 1),
                   compute({2, 3}, 3, 1)},
                  {4, 4, 4});
  Dependences dependences(program.instructions);
  CHECK(dependences.getBefore(0).empty());
  CHECK(dependences.getBefore(1).vec() == std::vector<unsigned>{0});
  CHECK(dependences.getBefore(2).vec() == std::vector<unsigned>{0});
  CHECK(dependences.getBefore(3).vec() == std::vector<unsigned>{0, 1, 2});
  CHECK(dependences.getBefore(4).vec() == std::vector<unsigned>{1, 2});
  CHECK(dependences.getAfter(0).vec() == std::vector<unsigned>{1, 2, 3});
}

TEST_CASE("what needs communication waits while there is other work") {
  Program program({compute({}, 1, 2), reduce(1, 2, 10), compute({2}, 3, 1), compute({}, 4, 6),
                   compute({}, 5, 6), compute({3, 4, 5}, 6, 1)},
                  {64, 64, 64, 64, 64, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 3, 4, 2, 5});
  CHECK(schedule.order[1].async);
  CHECK(schedule.order[4].waits == llvm::SmallVector<unsigned, 2>{1});
  CHECK(schedule.secondsOneByOne == 26);
  CHECK(schedule.seconds == 16);
}

TEST_CASE("nothing is begun beside nothing") {
  Program program({compute({}, 1, 2), reduce(1, 2, 10), compute({2}, 3, 1)}, {64, 64, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2});
  CHECK(!schedule.order[1].async);
}

TEST_CASE("memory keeps instructions in their order") {
  // 4 may come before 3, which waits for communication, unless its result and that of 0, which ends
  // with 3, are too large to be there together.
  std::vector<std::string> lines = {compute({}, 1, 1), compute({}, 2, 1),
                                    reduce(2, 3, 10),  compute({1, 3}, 4, 1),
                                    compute({}, 5, 6), compute({4, 5}, 6, 1)};
  Program small(lines, {1024, 64, 64, 64, 64, 1280});
  SegmentSchedule schedule = small.schedule();
  checkValid(small, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 4, 3, 5});
  Program large(lines, {1024, 64, 64, 64, 2048, 64});
  schedule = large.schedule();
  checkValid(large, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("what an instruction reads and writes counts once") {
  Program program({compute({}, 1, 1), compute({}, 2, 1), reduce(2, 3, 10), compute({1, 3}, 4, 1),
                   compute({5}, 5, 6), compute({4, 5}, 6, 1)},
                  {1024, 64, 64, 64, 192, 1152});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 4, 3, 5});
}

TEST_CASE("what is begun early leaves room for what stands before it") {
  // 4 has room beside the all-reduce, but then 2, which waits for it, would have none.
  Program program({compute({}, 1, 1), reduce(1, 2, 10), compute({2}, 3, 1), compute({3}, 4, 1),
                   compute({}, 5, 6), compute({4, 5}, 6, 1)},
                  {64, 64, 1024, 64, 1024, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("what has no room waits for communication") {
  Program program({compute({}, 1, 1), reduce(1, 2, 10), compute({}, 3, 3), compute({}, 4, 1),
                   compute({}, 5, 1)},
                  {1024, 1000, 64, 1024, 2200});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4});
  CHECK(schedule.order[1].async);
  CHECK(schedule.order[3].waits == llvm::SmallVector<unsigned, 2>{1});
}

TEST_CASE("what hosts keep comes and goes beside computation, each way by itself") {
  // As --weft-fetch-states leaves it: 4 s of updates with 5 s of copies each way.
  std::vector<std::string> lines = {
      fetch(states[0], 1, 5), fetch(states[1], 2, 5),    compute({1}, 1, 4),
      fetch(states[2], 3, 5), compute({2}, 2, 4),        giveBack(1, states[0], 5),
      compute({3}, 3, 4),     giveBack(2, states[1], 5), giveBack(3, states[2], 5),
  };
  Program program(lines, {64, 64, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(schedule.secondsOneByOne == 42);
  CHECK(schedule.seconds == 24); // 5 + 5 + 5 + 4 + 5
  CHECK(getPeak(program, schedule) <= 3 * 64);

  // Of a device whose memory is the host's the cores copy: nothing is begun beside anything.
  program.target.ownsMemory = false;
  schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(llvm::none_of(schedule.order, [](const auto &scheduled) { return scheduled.async; }));
}

TEST_CASE("what hosts keep does not come long before it is needed") {
  std::vector<std::string> lines;
  for (int64_t number = 0; number < 100; ++number)
    lines.push_back(compute({1}, 1, 4));
  lines.push_back(fetch(states[0], 2, 5));
  lines.push_back(compute({1, 2}, 2, 4));
  Program program(lines, {1024, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  std::vector<unsigned> order = getOrder(schedule);
  auto place = llvm::find(order, 100u) - order.begin();
  CHECK(place >= 32);
  CHECK(place < 99);
}

TEST_CASE("a collective need not wait for what the one before it needs") {
  // 4 is what 5 needs, and could begin long before 2; in their order 5 would wait for both.
  Program program({compute({}, 3, 1), compute({}, 1, 10), reduce(1, 2, 5), compute({2}, 5, 1),
                   reduce(3, 4, 8), compute({4}, 6, 10), compute({5, 6}, 7, 1)},
                  {64, 64, 64, 64, 64, 64, 640});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 4, 1, 2, 5, 3, 6});
  CHECK(schedule.seconds == 23);
}

TEST_CASE("a collective does not wait for one of another lane") {
  // What 0 gives is needed last; the reduction behind it takes 3 s, and 4 follows it.
  Program program({gather(1, 2, 20), compute({}, 3, 1), reduce(3, 4, 3), compute({}, 5, 4),
                   compute({4}, 6, 1), compute({}, 7, 9), compute({2, 5, 6, 7}, 8, 1)},
                  {64, 640, 64, 64, 64, 64, 64, 2048});
  CHECK(program.schedule().seconds == 25);
  ClockOfTwoLanes clock(program.target);
  SegmentSchedule schedule = program.schedule(clock);
  checkValid(program, schedule);
  CHECK(schedule.seconds == 21);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6});
  CHECK(schedule.order[4].waits == llvm::SmallVector<unsigned, 2>{2});
}

TEST_CASE("where all has to wait, what waits the least comes first") {
  // The oldest, 2, waits for 23 s, 3 for 3 s.
  Program program({gather(1, 2, 3), reduce(3, 4, 20), compute({4}, 5, 1), compute({2}, 6, 5),
                   compute({5, 6}, 7, 1)},
                  {64, 64, 64, 64, 64, 64, 640});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 3, 2, 4});
  CHECK(schedule.seconds == 25);
}

TEST_CASE("what waits the least leaves room for the oldest") {
  // 3 has room only once 2 is over.
  Program program({gather(1, 2, 3), reduce(3, 4, 20), compute({4}, 5, 1), compute({2}, 6, 5),
                   compute({6}, 7, 1)},
                  {64, 64, 64, 1024, 1024, 1280, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4});
}

TEST_CASE("collectives keep their order where another one takes longer") {
  // 3 could begin before 1, which then would come later, and with it most of the work.
  Program program({compute({}, 1, 2), reduce(1, 2, 2), compute({2}, 3, 40), gather(4, 5, 30),
                   compute({5}, 6, 1), compute({3, 6}, 7, 1)},
                  {64, 64, 64, 64, 640, 64, 2048});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(schedule.order[1].number == 1);
  CHECK(schedule.seconds == 46);
}

TEST_CASE("no more is gathered than what is used and what comes next") {
  std::vector<std::string> lines;
  for (int64_t i = 0; i < 4; ++i) {
    lines.push_back(gather(3 * i + 1, 3 * i + 2, 1));
    lines.push_back(compute({3 * i + 2}, 3 * i + 3, 10));
  }
  lines.push_back(compute({3, 6, 9, 12}, 13, 1)); // leaves room for all of them before it
  Program program(lines, {64, 640, 64, 64, 640, 64, 64, 640, 64, 64, 640, 64, 1 << 20});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 2, 1, 4, 3, 6, 5, 7, 8});
}

/// What waits for a message stands behind all messages that stood before it, and these are in their
/// order: else two programs might wait for each other.
void checkMessages(Program &program, const SegmentSchedule &schedule) {
  auto isMessage = [&](unsigned number) { return program.instructions[number].isMessage(); };
  std::vector<unsigned> begun;
  for (const ScheduledInstruction &scheduled : schedule.order) {
    size_t before = 0;
    for (unsigned number = 0; number < scheduled.number; ++number)
      before += isMessage(number);
    if (isMessage(scheduled.number) || llvm::any_of(scheduled.waits, isMessage))
      CHECK(begun.size() >= before);
    if (isMessage(scheduled.number))
      begun.push_back(scheduled.number);
  }
  CHECK(llvm::is_sorted(begun));
}

TEST_CASE("beside messages, what waits for none of them is put off for") {
  // 5 runs beside the all-reduce for which 3 waits.
  Program program({receive(1), compute({}, 2, 4), reduce(2, 3, 10), compute({3}, 4, 1), send(4),
                   compute({}, 5, 6), compute({1, 5}, 6, 1)},
                  {64, 64, 64, 64, 64, 4096});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 5, 3, 4, 6});
}

TEST_CASE("beside messages, collectives overtake collectives") {
  // 5 is what 6 needs, and waits for nothing; 2 stands before it, and waits for 1.
  Program program({receive(4), compute({}, 1, 10), reduce(1, 2, 5), compute({2}, 5, 1), send(5),
                   reduce(3, 6, 8), compute({6}, 7, 10), compute({4, 5, 7}, 8, 1)},
                  {64, 64, 64, 64, 64, 64, 64, 4096});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  checkMessages(program, schedule);
  CHECK(schedule.seconds < schedule.secondsOneByOne);
}

TEST_CASE("what needs a message keeps its place behind what is sent before it") {
  // By the clock 5 may begin while 3 waits for the all-reduce; but what it needs may be sent by who
  // waits for what 4 sends.
  Program program({receive(1), compute({}, 2, 4), reduce(2, 3, 10), compute({3}, 4, 1), send(4),
                   compute({1}, 5, 6)},
                  {64, 64, 64, 64, 4096});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{0, 1, 2, 3, 4, 5});
  CHECK(schedule.order[5].waits == llvm::SmallVector<unsigned, 2>{0});
}

TEST_CASE("messages need no room") {
  Program program({compute({}, 1, 1), compute({}, 2, 1), receive(3), compute({1, 2}, 4, 1), send(4),
                   compute({3}, 5, 1)},
                  {1024, 1024, 4096, 64, 64});
  SegmentSchedule schedule = program.schedule();
  checkValid(program, schedule);
  CHECK(getOrder(schedule) == std::vector<unsigned>{2, 0, 1, 3, 4, 5});
  for (const ScheduledInstruction &scheduled : schedule.order)
    CHECK((scheduled.waits.empty() || scheduled.number == 5));
}

TEST_CASE("random segments are scheduled rightly, and no slower than one by one") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int64_t bound) { return int64_t(random() % bound); };
    std::vector<std::string> lines;
    std::vector<int64_t> bytes;
    for (int64_t i = 1; i <= 40; ++i) {
      bytes.push_back(640 * (1 + below(8)) + i); // of no two as many: none is written in place
      std::vector<int64_t> reads;
      for (int64_t r = below(4); r > 0 && i > 1; --r)
        reads.push_back(1 + below(i - 1));
      if (i > 1 && below(4) == 0)
        lines.push_back(reduce(1 + below(i - 1), i, 1 + below(20)));
      else
        lines.push_back(
            compute(reads, below(8) == 0 && i > 1 ? 1 + below(i - 1) : i, 1 + below(9)));
    }
    Program program(lines, bytes);
    SegmentSchedule schedule = program.schedule();
    checkValid(program, schedule);
    CHECK(schedule.seconds <= schedule.secondsOneByOne);
    CHECK(getPeak(program, schedule) <= getPeak(program, keepOrder(lines.size())));
  }
}

TEST_CASE("random segments with messages are scheduled so that no two programs wait in vain") {
  unsigned reordered = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](int64_t bound) { return int64_t(random() % bound); };
    std::vector<std::string> lines;
    std::vector<int64_t> bytes;
    for (int64_t i = 1; i <= 40; ++i) {
      bytes.push_back(640 * (1 + below(8)) + i); // of no two as many: none is written in place
      int64_t other = i > 1 ? 1 + below(i - 1) : 0, kind = below(8);
      if (kind == 0)
        lines.push_back(receive(i));
      else if (kind == 1 && other > 0)
        lines.push_back(send(other));
      else if (kind < 4 && other > 0)
        lines.push_back(reduce(other, i, 1 + below(20)));
      else
        lines.push_back(
            compute(other > 0 ? ArrayRef<int64_t>{other} : ArrayRef<int64_t>{}, i, 1 + below(9)));
    }
    Program program(lines, bytes);
    SegmentSchedule schedule = program.schedule();
    checkValid(program, schedule);
    checkMessages(program, schedule);
    reordered += getOrder(schedule) != getOrder(keepOrder(lines.size()));
  }
  CHECK(reordered > 50);
}

TEST_CASE("a long segment is scheduled") {
  std::vector<std::string> lines;
  int64_t count = 20000;
  for (int64_t i = 1; i <= count; ++i)
    lines.push_back(i % 5 == 2
                        ? reduce(i - 1, i, 3)
                        : compute(i > 3 ? ArrayRef<int64_t>{i - 3} : ArrayRef<int64_t>{}, i, 2));
  Program program(lines, std::vector<int64_t>(count, 64));
  SegmentSchedule schedule = program.schedule();
  CHECK(schedule.order.size() == size_t(count));
}

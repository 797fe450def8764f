// Segments with messages: what may be begun before what.
#include "test/unit/Lowering/SlowPrograms.h"

using namespace mlir;
using namespace weft;

namespace {
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
} // namespace

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

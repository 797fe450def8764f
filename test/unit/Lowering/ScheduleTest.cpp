//===- ScheduleTest.cpp - orders of instructions over buffers -------------===//

#include "test/unit/Lowering/SlowPrograms.h"

using namespace mlir;
using namespace weft;

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

#include "test/unit/Simulate/Programs.h"

#include <catch2/catch.hpp>

using namespace weft::sim;

TEST_CASE("a stream runs one after another, streams at the same time") {
  Program program = makeProgram({makeClass({makeWork(2), makeTransfer(Stream::Copy, 3, 0, -1),
                                            makeWork(4), makeTransfer(Stream::Copy, 1, 0, -1)})});
  Result result = simulate(program);
  CHECK(result.seconds == 6);
  CHECK(result.classes[0].busy[size_t(Stream::Compute)] == 6);
  CHECK(result.classes[0].busy[size_t(Stream::Copy)] == 4);
  CHECK(result.blocked.empty());
}

TEST_CASE("a wait holds its stream until the event is recorded") {
  Program program = makeProgram({makeClass(
      {makeWork(2), makeOp(Op::Record, Stream::Compute, 0), makeOp(Op::Wait, Stream::Collective, 0),
       makeTransfer(Stream::Collective, 3, 0, -1), makeOp(Op::Record, Stream::Collective, 1),
       makeWork(1), makeOp(Op::Wait, Stream::Compute, 1), makeWork(1)},
      2)});
  CHECK(simulate(program).seconds == 2 + 3 + 1);
}

TEST_CASE("collectives of one lane run one after another, of two at the same time") {
  auto run = [](int32_t lane) {
    Instruction first = makeTransfer(Stream::Collective, 3, 0, -1),
                second = makeTransfer(Stream::Collective, 4, 0, -1);
    second.lane = lane;
    RankClass rankClass = makeClass({first, makeTransfer(Stream::Copy, 1, 0, -1), second});
    rankClass.lanes = {"data", "model"};
    return simulate(makeProgram({rankClass, makeClass({makeTransfer(Stream::Copy, 5, 0, -1)})}));
  };
  Result one = run(0), two = run(1);
  CHECK(one.classes[0].end == 7);
  CHECK(two.classes[0].end == 4);
  for (const Result &result : {one, two}) {
    CHECK(result.classes[0].busy[size_t(Stream::Collective)] == 7);
    CHECK(result.classes[0].busy[size_t(Stream::Copy)] == 1);
    CHECK(result.classes[1].busy[size_t(Stream::Copy)] == 5);
  }
}

TEST_CASE("lanes share a link") {
  Instruction first = makeTransfer(Stream::Collective, 0, 4, 0),
              second = makeTransfer(Stream::Collective, 0, 2, 0);
  second.lane = 1;
  RankClass rankClass = makeClass({first, second});
  rankClass.lanes = {"data", "model"};
  Program program = makeProgram({rankClass});
  program.links = {"link"};
  CHECK(simulate(program).seconds == Approx(6)); // 4 s for both halves of 2 s, then 2 s alone
}

TEST_CASE("events and messages belong to an instance") {
  // The second instance's record comes before the first one's wait.
  RankClass rankClass;
  rankClass.events = 1;
  rankClass.segments = {
      {{makeWork(1), makeOp(Op::Record, Stream::Compute, 0)}},
      {{makeOp(Op::Wait, Stream::Copy, 0), makeTransfer(Stream::Copy, 1, 0, -1)}}};
  rankClass.entries = {{0, 1}, {1, 0}, {1, 1}, {0, 0}};
  Program program = makeProgram({rankClass});
  program.instances = 2;
  CHECK(simulate(program).seconds == 4);
}

TEST_CASE("transfers on one link slow each other in proportion to their demands") {
  auto run = [](double first, double second) {
    Program program = makeProgram({makeClass({makeTransfer(Stream::Collective, 0, 4, 0, first)}),
                                   makeClass({makeTransfer(Stream::Collective, 1, 4, 0, second)})});
    program.links = {"link"};
    return simulate(program);
  };
  // Alone for 1 s, then both at half their rate: 3 s left of the first take 6.
  Result full = run(1, 1);
  CHECK(full.classes[0].end == Approx(7));
  CHECK(full.classes[1].end == Approx(8)); // 3 s done by then, the last one alone
  Result half = run(0.5, 0.5);
  CHECK(half.classes[0].end == Approx(4));
  CHECK(half.classes[1].end == Approx(5));
  Result eighth = run(1, 0.125);
  CHECK(eighth.classes[0].end == Approx(1 + 3 * 1.125));
}

TEST_CASE("a transfer over two links goes at the rate of the slower") {
  Instruction both = makeTransfer(Stream::Collective, 0, 2, 0);
  both.links.push_back({1, 1});
  Program program =
      makeProgram({makeClass({both}), makeClass({makeTransfer(Stream::Copy, 0, 9, 1)})});
  program.links = {"inner", "outer"};
  Result result = simulate(program);
  CHECK(result.classes[0].end == Approx(4));
  CHECK(result.classes[1].end == Approx(11));
}

TEST_CASE("communication beside computation costs a part of it") {
  Instruction beside = makeTransfer(Stream::Collective, 2, 0, -1);
  beside.loss = 0.25;
  Program program = makeProgram({makeClass({makeWork(4), beside})});
  CHECK(simulate(program).seconds == Approx(2 + (4 - 2 * 0.75)));
  // On the compute stream itself nothing runs beside it.
  beside.stream = Stream::Compute;
  CHECK(simulate(makeProgram({makeClass({makeWork(4), beside})})).seconds == 6);
}

TEST_CASE("a message arrives after its flight, and a full channel holds the next") {
  auto run = [](int32_t capacity) {
    Instruction send = makeOp(Op::Send, Stream::PointToPoint, 0);
    send.seconds = 1;
    send.flight = 2;
    RankClass sender = makeClass({send}),
              receiver = makeClass({makeOp(Op::Receive, Stream::Compute, 0), makeWork(10)});
    sender.entries = receiver.entries = {{0, 0}, {0, 1}, {0, 2}};
    sender.ranks = receiver.ranks = 4;
    Program program = makeProgram({sender, receiver});
    program.instances = 3;
    program.channels = {{1, capacity, 100}};
    return simulate(program);
  };
  Result free = run(Channel::unbounded);
  CHECK(free.classes[0].end == 3);
  CHECK(free.seconds == 33);
  CHECK(free.messages == 12);
  CHECK(free.messageBytes == 1200);
  Result one = run(1); // the third waits until the second is received, at 13
  CHECK(one.classes[0].end == 14);
  CHECK(one.seconds == 33);
}

TEST_CASE("a meeting starts when the last has come") {
  Instruction meet = makeOp(Op::Rendezvous, Stream::Collective, 0);
  meet.seconds = 1;
  std::vector<RankClass> classes;
  for (double seconds : {1, 5, 3})
    classes.push_back(makeClass({makeWork(seconds), makeOp(Op::Record, Stream::Compute, 0),
                                 makeOp(Op::Wait, Stream::Collective, 0), meet},
                                1));
  Program program = makeProgram(classes);
  program.rendezvous = {3};
  Result result = simulate(program);
  for (const ClassResult &entry : result.classes)
    CHECK(entry.end == 6);
}

TEST_CASE("what waits for ever is reported") {
  Program program =
      makeProgram({makeClass({makeWork(1), makeOp(Op::Receive, Stream::Compute, 0)})});
  program.channels = {{0}};
  Result result = simulate(program);
  REQUIRE(result.blocked.size() == 1);
  CHECK(result.blocked[0].instruction == 1);
}

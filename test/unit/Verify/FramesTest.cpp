//===- FramesTest.cpp - the verifier follows frames and repeats -----------===//
//
// Programs made by hand: segments that fill, copy and reduce single values, in frames that a
// schedule names.
//
//===----------------------------------------------------------------------===//

#include "runtime/Verify/Verify.h"

#include <catch2/catch.hpp>

using namespace weft;
using runtime::verifyPrograms;

namespace {

using program::ACTIVATIONS, program::COMMUNICATION, program::PORTS, program::WORKSPACE;

/// One f32 at a byte of an arena.
program::Operand at(uint32_t arena, int64_t byte, uint32_t value) {
  program::Operand operand;
  operand.set_arena(arena);
  operand.mutable_offset()->set_constant(byte);
  operand.set_dtype(program::F32);
  operand.add_shape(1);
  operand.add_strides(1);
  operand.set_value(value);
  return operand;
}

/// An index of first + step · iteration, of the innermost of `level` repeats.
program::Index makeIndex(int64_t first, int64_t step = 0, int level = 1) {
  program::Index index;
  index.set_first(first);
  for (int i = 1; i < level && step != 0; ++i)
    index.add_steps(0);
  if (step != 0)
    index.add_steps(step);
  return index;
}

class Maker {
public:
  explicit Maker(std::vector<std::pair<program::ArenaKind, int64_t>> arenas) {
    plan::Mesh &mesh = *executable.add_meshes();
    mesh.set_name("mesh");
    plan::Axis &axis = *mesh.add_axes();
    axis.set_name("x");
    axis.set_size(2);
    executable.add_ranks()->set_end(2);
    executable.add_classes();
    for (auto [kind, frames] : arenas) {
      program::Arena &arena = *getProgram().add_arenas();
      arena.set_kind(kind);
      arena.set_bytes(64);
      arena.set_alignment(64);
      arena.set_frames(frames);
    }
  }

  program::Program &getProgram() { return *executable.mutable_classes(0); }

  uint32_t addSegment(const std::string &name) {
    getProgram().add_segments()->set_name(name);
    return static_cast<uint32_t>(getProgram().segments_size() - 1);
  }

  void fill(uint32_t segment, program::Operand to) {
    program::Fill &fill = *add(segment).mutable_fill();
    *fill.mutable_output() = std::move(to);
    fill.set_value(std::string(4, '\0'));
  }
  void copy(uint32_t segment, program::Operand from, program::Operand to) {
    program::Copy &copy = *add(segment).mutable_copy();
    *copy.mutable_input() = std::move(from);
    *copy.mutable_output() = std::move(to);
  }
  void reduce(uint32_t segment, program::Operand from, program::Operand to, uint32_t token) {
    program::Instruction &instruction = add(segment);
    program::Collective &collective = *instruction.mutable_collective();
    collective.set_mesh("mesh");
    collective.add_axes()->set_name("x");
    *collective.mutable_input() = std::move(from);
    *collective.mutable_output() = std::move(to);
    instruction.mutable_async()->set_stream(program::COMMUNICATION_STREAM);
    instruction.mutable_async()->set_token(token);
  }
  void wait(uint32_t segment, uint32_t token) { add(segment).mutable_wait()->set_token(token); }

  program::Instruction &add(uint32_t segment) {
    return *getProgram().mutable_segments(static_cast<int>(segment))->add_instructions();
  }

  /// An entry of `items`, with a frame of each arena that is given one.
  template <typename Items>
  void schedule(Items *items, uint32_t segment,
                std::vector<std::pair<uint32_t, program::Index>> frames = {}) {
    program::ScheduleEntry &entry = *items->Add()->mutable_entry();
    entry.set_segment(segment);
    for (auto &[arena, index] : frames) {
      program::FrameBinding &binding = *entry.add_frames();
      binding.set_arena(arena);
      *binding.mutable_index() = index;
    }
  }
  auto *getSchedule() { return getProgram().mutable_schedule(); }
  template <typename Items> auto *repeat(Items *items, int64_t times) {
    program::Repeat &repeat = *items->Add()->mutable_repeat();
    repeat.set_times(times);
    return repeat.mutable_body();
  }

  std::string verify() const {
    std::string all;
    for (const std::string &reason : verifyPrograms(executable))
      all += reason + "\n";
    return all;
  }

  program::Executable executable;
};

/// Forward keeps value 1, backward reads it: arena 0, activations.
struct ForwardBackward : Maker {
  explicit ForwardBackward(int64_t frames) : Maker({{ACTIVATIONS, frames}, {WORKSPACE, 1}}) {
    forward = addSegment("forward");
    backward = addSegment("backward");
    fill(forward, at(0, 0, 1));
    copy(backward, at(0, 0, 1), at(1, 0, 2));
    fill(backward, at(0, 0, 3)); // the frame is free again
  }
  uint32_t forward, backward;
};

using Catch::Contains;

} // namespace

TEST_CASE("what is written in one frame is not there in another") {
  for (int64_t frame : {0, 1}) {
    ForwardBackward program(2);
    program.schedule(program.getSchedule(), program.forward, {{0, makeIndex(1)}});
    program.schedule(program.getSchedule(), program.backward, {{0, makeIndex(frame)}});
    if (frame == 1)
      CHECK(program.verify() == "");
    else
      CHECK_THAT(program.verify(), Contains("backward[0] COPY: operand 0 reads byte 0 of arena 0 "
                                            "before anything is written there"));
  }
}

TEST_CASE("kinds of arenas count their frames apart") {
  Maker program({{ACTIVATIONS, 2}, {WORKSPACE, 1}});
  uint32_t first = program.addSegment("first"), second = program.addSegment("second");
  program.fill(first, at(1, 0, 1));
  program.copy(second, at(1, 0, 1), at(0, 0, 2));
  program.schedule(program.getSchedule(), first, {{0, makeIndex(0)}});
  program.schedule(program.getSchedule(), second, {{0, makeIndex(1)}});
  CHECK(program.verify() == ""); // the workspace is the same
}

TEST_CASE("work that goes through frames of its own has an arena of its own, of activations") {
  for (auto kind : {ACTIVATIONS, WORKSPACE}) {
    Maker program({{kind, 2}, {kind, 3}});
    uint32_t first = program.addSegment("first"), second = program.addSegment("second");
    program.fill(first, at(0, 0, 1));
    program.fill(second, at(1, 0, 2));
    auto *body = program.repeat(program.getSchedule(), 100);
    program.schedule(body, first, {{0, makeIndex(0, 1)}});
    program.schedule(body, second, {{1, makeIndex(0, 1)}});
    if (kind == ACTIVATIONS)
      CHECK(program.verify() == "");
    else
      CHECK_THAT(program.verify(), Contains("two arenas of kind WORKSPACE"));
  }
}

TEST_CASE("work in flight needs as many frames as are in flight") {
  for (int64_t frames : {2, 3}) {
    ForwardBackward program(frames);
    auto entry = [&](uint32_t segment, int64_t frame) {
      program.schedule(program.getSchedule(), segment, {{0, makeIndex(frame)}}); // modulo `frames`
    };
    entry(program.forward, 0);
    entry(program.forward, 1);
    entry(program.forward, 2);
    for (int64_t frame : {0, 1, 2})
      entry(program.backward, frame);
    if (frames == 3)
      CHECK(program.verify() == "");
    else
      CHECK_THAT(program.verify(), Contains("which was overwritten by value 3"));
  }
}

TEST_CASE("a million iterations are verified") {
  for (int64_t times : {int64_t{1000}, int64_t{1000000}})
    for (int64_t frames : {3, 4, 1000003}) { // one forward ahead, in turns of so many
      ForwardBackward program(frames);
      program.schedule(program.getSchedule(), program.forward, {{0, makeIndex(0)}});
      auto *body = program.repeat(program.getSchedule(), times);
      program.schedule(body, program.forward, {{0, makeIndex(1, 1)}});
      program.schedule(body, program.backward, {{0, makeIndex(0, 1)}});
      program.schedule(program.getSchedule(), program.backward, {{0, makeIndex(times)}});
      CHECK(program.verify() == "");
    }
}

TEST_CASE("a flaw of a late iteration is found") {
  // The first 9 backwards find what a prologue left for them; from then on nobody writes.
  ForwardBackward program(10);
  for (int64_t frame = 0; frame < 9; ++frame)
    program.schedule(program.getSchedule(), program.forward, {{0, makeIndex(frame)}});
  auto *body = program.repeat(program.getSchedule(), 100000);
  program.schedule(body, program.backward, {{0, makeIndex(0, 1)}});
  CHECK_THAT(program.verify(),
             Contains("reads byte 0 of arena 0 before anything is written there"));
}

TEST_CASE("repeats within each other, and steps backwards") {
  ForwardBackward program(4);
  auto *outer = program.repeat(program.getSchedule(), 50000);
  auto *inner = program.repeat(outer, 4);
  program.schedule(inner, program.forward, {{0, makeIndex(0, 1, 2)}});
  inner = program.repeat(outer, 4);
  program.schedule(inner, program.backward, {{0, makeIndex(3, -1, 2)}});
  CHECK(program.verify() == "");
  inner->Mutable(0)->mutable_entry()->mutable_frames(0)->mutable_index()->set_steps(1, 2);
  CHECK_THAT(program.verify(), Contains("overwritten by value 3")); // frames 3, 1, 3, 1
}

TEST_CASE("a value that a repeat carries from one iteration to the next") {
  for (bool isThere : {true, false}) {
    Maker program({{WORKSPACE, 1}});
    uint32_t first = program.addSegment("first"), step = program.addSegment("step");
    program.fill(first, at(0, 0, 1));
    program.copy(step, at(0, 0, 1), at(0, 32, 2));
    program.copy(step, at(0, 32, 2), at(0, 0, isThere ? 1 : 3));
    program.schedule(program.getSchedule(), first);
    program.schedule(program.repeat(program.getSchedule(), 1000000), step);
    if (isThere)
      CHECK(program.verify() == "");
    else
      CHECK_THAT(program.verify(), Contains("reads value 1 at byte 0 of arena 0, which was "
                                            "overwritten by value 3"));
  }
}

TEST_CASE("messages under way in several frames") {
  // begin(i) and wait(i - 1), the message of each iteration in one of two frames.
  for (int64_t frames : {1, 2}) {
    Maker program({{COMMUNICATION, frames}});
    uint32_t begin = program.addSegment("begin"), wait = program.addSegment("wait");
    program.fill(begin, at(0, 0, 1));
    program.reduce(begin, at(0, 0, 1), at(0, 32, 2), 1);
    program.wait(wait, 1);
    program.schedule(program.getSchedule(), begin, {{0, makeIndex(0)}});
    auto *body = program.repeat(program.getSchedule(), 1000000);
    program.schedule(body, begin, {{0, makeIndex(1, 1)}});
    program.schedule(body, wait, {{0, makeIndex(0, 1)}});
    program.schedule(program.getSchedule(), wait, {{0, makeIndex(1000000)}});
    if (frames == 2)
      CHECK(program.verify() == "");
    else
      CHECK_THAT(program.verify(), Contains("which an instruction uses that was not waited for"));
  }
}

TEST_CASE("a message that is waited for in another frame") {
  Maker program({{COMMUNICATION, 2}});
  uint32_t begin = program.addSegment("begin"), wait = program.addSegment("wait");
  program.fill(begin, at(0, 0, 1));
  program.reduce(begin, at(0, 0, 1), at(0, 32, 2), 1);
  program.wait(wait, 1);
  program.schedule(program.getSchedule(), begin, {{0, makeIndex(0)}});
  program.schedule(program.getSchedule(), wait, {{0, makeIndex(1)}});
  CHECK_THAT(program.verify(),
             Contains("it waits for token 1, which nothing has begun in this frame of arena 0") &&
                 Contains("is begun and never waited for (token 1)"));
}

TEST_CASE("ports hold a part in each frame") {
  auto make = [](int64_t extent) {
    Maker program({{PORTS, 4}});
    uint32_t step = program.addSegment("step");
    program.copy(step, at(0, 0, 1), at(0, 32, 2));
    program::Port &input = *program.getProgram().add_inputs();
    program::Port &output = *program.getProgram().add_outputs();
    for (program::Port *port : {&input, &output}) {
      port->set_name(port == &input ? "x" : "y");
      port->set_dtype(program::F32);
      port->add_shape(extent);
      port->mutable_sharding()->set_mesh("mesh");
      port->mutable_sharding()->add_dims();
    }
    *input.mutable_local() = at(0, 0, 1);
    *output.mutable_local() = at(0, 32, 2);
    return std::pair(program, step);
  };
  auto [program, step] = make(4);
  program.schedule(program.repeat(program.getSchedule(), 4), step, {{0, makeIndex(0, 1)}});
  CHECK(program.verify() == "");
  auto [fewer, other] = make(4); // one frame of the output is never written
  fewer.schedule(fewer.repeat(fewer.getSchedule(), 3), other, {{0, makeIndex(0, 1)}});
  CHECK_THAT(fewer.verify(), Contains("output 'y' reads byte 32 of arena 0 before anything"));
  auto [larger, another] = make(5);
  larger.schedule(larger.repeat(larger.getSchedule(), 4), another, {{0, makeIndex(0, 1)}});
  CHECK_THAT(larger.verify(), Contains("input 'x' has 4 frames along dimension 0 of 5"));
}

TEST_CASE("schedules that make no sense") {
  auto verify = [](const std::function<void(Maker &, uint32_t)> &change) {
    Maker program({{program::WEIGHTS, 1}, {WORKSPACE, 2}});
    uint32_t step = program.addSegment("step");
    change(program, step);
    return program.verify();
  };
  CHECK_THAT(verify([](Maker &p, uint32_t s) { p.schedule(p.repeat(p.getSchedule(), 0), s); }),
             Contains("the schedule repeats entries 0 times"));
  CHECK_THAT(verify([](Maker &p, uint32_t s) { p.repeat(p.getSchedule(), 4); }),
             Contains("the schedule repeats nothing"));
  CHECK_THAT(
      verify([](Maker &p, uint32_t s) { p.schedule(p.getSchedule(), s, {{1, makeIndex(0, 1)}}); }),
      Contains("has 1 steps within 0 repeats"));
  CHECK_THAT(
      verify([](Maker &p, uint32_t s) { p.schedule(p.getSchedule(), s, {{7, makeIndex(0)}}); }),
      Contains("a frame of arena 7 of 2"));
  CHECK_THAT(
      verify([](Maker &p, uint32_t s) { p.schedule(p.getSchedule(), s, {{0, makeIndex(0)}}); }),
      Contains("names a frame of an arena of kind WEIGHTS"));
  CHECK_THAT(verify([](Maker &p, uint32_t s) {
               p.schedule(p.getSchedule(), s);
               p.getProgram().mutable_arenas(0)->set_frames(2);
             }),
             Contains("an arena of kind WEIGHTS has 2 frames"));
  CHECK_THAT(verify([](Maker &p, uint32_t s) { p.getSchedule()->Add(); }),
             Contains("an item of the schedule is empty"));
}

TEST_CASE("collectives of classes are compared through repeats") {
  auto make = [](int64_t times, int64_t other) {
    Maker program({{COMMUNICATION, 1}});
    uint32_t step = program.addSegment("step");
    program.fill(step, at(0, 0, 1));
    program.reduce(step, at(0, 0, 1), at(0, 32, 2), 1);
    program.wait(step, 1);
    program::Executable &executable = program.executable;
    *executable.add_classes() = executable.classes(0);
    program.schedule(program.repeat(program.getSchedule(), times), step);
    auto *schedule = executable.mutable_classes(1)->mutable_schedule();
    program.schedule(program.repeat(program.repeat(schedule, other / 10), 10), step);
    executable.mutable_ranks(0)->set_end(1);
    program::RankRange &range = *executable.add_ranks();
    range.set_begin(1);
    range.set_end(2);
    range.set_rank_class(1);
    return program.verify();
  };
  CHECK(make(1000000, 1000000) == "");
  CHECK_THAT(make(1000, 1010), Contains("collective 1000 of class 0 is none, of class 1 "
                                        "all_reduce over [x] of 1 f32"));
}

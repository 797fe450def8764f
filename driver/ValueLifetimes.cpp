//===- ValueLifetimes.cpp - what lies in a rank's arenas, and when --------===//

#include "driver/ValueLifetimes.h"

#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Verify/Checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace weft;

namespace {

/// From the first to the last of its bytes.
int64_t getFootprint(const program::Operand &operand) {
  int64_t last = 0;
  for (int i = 0; i < operand.shape_size(); ++i) {
    if (operand.shape(i) == 0)
      return 0;
    last += (operand.shape(i) - 1) * std::abs(operand.strides(i));
  }
  return (last + 1) * runtime::getElementSize(operand.dtype());
}

class Lifetimes {
public:
  Lifetimes(const program::Executable &executable, const program::Program &program)
      : program(program) {
    for (const program::WeightBlock &block : program.weights())
      keep(block.local(), executable.weights(static_cast<int>(block.weight())).name());
    for (const program::Port &port : program.inputs())
      keep(port.local(), port.name());
    std::set<uint32_t> walked;
    runtime::forEachEntry(program, [&](const program::ScheduleEntry &entry, int64_t) {
      if (walked.insert(entry.segment()).second)
        walk(entry.segment());
    });
    for (const program::Port &port : program.outputs())
      touch(port.local(), port.name());
    for (const program::Port &port : program.gradients())
      rename(port.local(), port.name());
  }

  std::vector<HeldValue> take() {
    std::erase_if(values, [](const HeldValue &value) { return value.kind == program::HOST; });
    return std::move(values);
  }

private:
  HeldValue &touch(const program::Operand &operand, const std::string &name) {
    auto [found, isNew] = known.try_emplace({operand.arena(), operand.value()}, values.size());
    if (isNew) {
      HeldValue &value = values.emplace_back();
      value.name = name;
      value.kind = program.arenas(static_cast<int>(operand.arena())).kind();
      value.frames = program.arenas(static_cast<int>(operand.arena())).frames();
      value.first = now;
    }
    HeldValue &value = values[found->second];
    value.bytes = std::max(value.bytes, getFootprint(operand) * value.frames);
    value.last = now;
    return value;
  }

  void keep(const program::Operand &operand, const std::string &name) {
    touch(operand, name).resident = true;
  }

  void rename(const program::Operand &operand, const std::string &name) {
    if (auto found = known.find({operand.arena(), operand.value()}); found != known.end())
      values[found->second].name = name;
  }

  void walk(uint32_t segment) {
    const auto &instructions = program.segments(static_cast<int>(segment)).instructions();
    for (int i = 0; i < instructions.size(); ++i) {
      now = {segment, i, now.step + 1};
      const program::Instruction &instruction = instructions[i];
      if (instruction.has_async())
        begun[instruction.async().token()] = &instruction;
      const program::Instruction *used = &instruction;
      if (auto found = begun.find(instruction.wait().token());
          instruction.has_wait() && found != begun.end())
        used = found->second;
      runtime::Accesses accesses = runtime::getAccesses(*used);
      for (const auto *operands : {&accesses.reads, &accesses.writes})
        for (const program::Operand *operand : *operands)
          touch(*operand, used->source());
    }
  }

  const program::Program &program;
  std::vector<HeldValue> values;
  std::map<std::pair<uint32_t, uint32_t>, size_t> known;  ///< by arena and number
  std::map<uint32_t, const program::Instruction *> begun; ///< by token
  ProgramPoint now;
};

} // namespace

std::vector<HeldValue> weft::listHeldValues(const program::Executable &executable,
                                            const program::Program &program) {
  return Lifetimes(executable, program).take();
}

/// The step of the walk at which most bytes are held.
static int64_t findPeak(const std::vector<HeldValue> &values) {
  std::map<int64_t, int64_t> changes; ///< of bytes, by step
  for (const HeldValue &value : values) {
    if (value.resident)
      continue;
    changes[value.first.step] += value.bytes;
    changes[value.last.step + 1] -= value.bytes;
  }
  int64_t peak = -1, bytes = 0, most = 0;
  for (const auto &[step, change] : changes) {
    bytes += change;
    if (bytes > most) {
      most = bytes;
      peak = step;
    }
  }
  return peak;
}

std::vector<HeldValue> weft::listValuesAtPeak(const std::vector<HeldValue> &values) {
  int64_t peak = findPeak(values);
  std::vector<HeldValue> held;
  for (const HeldValue &value : values)
    if (value.resident || (value.first.step <= peak && peak <= value.last.step))
      held.push_back(value);
  return held;
}

std::vector<HeldValue> weft::listOwnersAtPeak(const std::vector<HeldValue> &values) {
  std::map<std::pair<std::string, program::ArenaKind>, HeldValue> owners;
  for (const HeldValue &value : listValuesAtPeak(values)) {
    auto [owner, isNew] = owners.try_emplace({value.name, value.kind}, value);
    if (!isNew)
      owner->second.bytes += value.bytes;
  }
  std::vector<HeldValue> list;
  for (auto &[key, owner] : owners)
    list.push_back(owner);
  std::sort(list.begin(), list.end(), [](const HeldValue &a, const HeldValue &b) {
    return std::tie(b.bytes, a.kind, a.name) < std::tie(a.bytes, b.kind, b.name);
  });
  return list;
}

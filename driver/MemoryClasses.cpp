//===- MemoryClasses.cpp - what a rank's memory is for --------------------===//

#include "driver/MemoryClasses.h"

#include "compiler/Training/Differentiate.h"

#include <algorithm>
#include <array>

using namespace weft;

const char *weft::getMemoryClassName(MemoryClass kind) {
  static constexpr std::array<const char *, numMemoryClasses> names = {
      "weights", "gradients",   "optimizer_state", "state",
      "ports",   "activations", "transients",      "buffers"};
  return names[static_cast<size_t>(kind)];
}

/// Whether what is so called belongs to the backward pass.
static bool isOfGradients(llvm::StringRef name) { return name.starts_with(gradientPrefix); }

MemoryClasses::MemoryClasses(const program::Executable &executable, const program::Program &program)
    : program(program), parameters(executable.training().parameters().begin(),
                                   executable.training().parameters().end()) {}

/// Whether the instruction at which a value is used last is one of the backward pass.
bool MemoryClasses::isReadBackward(const HeldValue &value) const {
  if (value.last.step < 0)
    return false;
  const program::Segment &segment = program.segments(static_cast<int>(value.last.segment));
  return isOfGradients(segment.instructions(value.last.instruction).source());
}

/// A state is a parameter's, by name; an optimizer's, `optimizer.m:NAME`; or the model's own.
MemoryClass MemoryClasses::ofState(llvm::StringRef name) const {
  if (parameters.contains(name.str()))
    return MemoryClass::Weights;
  return name.starts_with("optimizer.") ? MemoryClass::OptimizerState : MemoryClass::State;
}

MemoryClass MemoryClasses::ofActivation(const HeldValue &value) const {
  llvm::StringRef name = value.name;
  bool isGradient = name.consume_front(gradientPrefix);
  if (isGradient && parameters.contains(name.str()))
    return MemoryClass::Gradients;
  bool isKept = parameters.empty() || (!isGradient && isReadBackward(value));
  return isKept ? MemoryClass::Activations : MemoryClass::Transients;
}

MemoryClass MemoryClasses::of(const HeldValue &value) const {
  switch (value.kind) {
  case program::WEIGHTS:
    return MemoryClass::Weights;
  case program::STATE:
    return ofState(value.name);
  case program::PORTS:
    return MemoryClass::Ports;
  case program::ACTIVATIONS:
    return ofActivation(value);
  case program::WORKSPACE:
    return MemoryClass::Transients;
  default:
    return MemoryClass::Buffers;
  }
}

MemorySums weft::sumMemoryClasses(const program::Executable &executable,
                                  const program::Program &program,
                                  const std::vector<HeldValue> &atPeak, int64_t allocated) {
  MemorySums sums{};
  MemoryClasses classes(executable, program);
  for (const HeldValue &value : atPeak) {
    sums[static_cast<size_t>(classes.of(value))] += value.bytes;
    allocated -= value.bytes;
  }
  sums[static_cast<size_t>(MemoryClass::Buffers)] += allocated;
  return sums;
}

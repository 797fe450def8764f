//===- MemoryClasses.h - what a rank's memory is for ------------*- C++ -*-===//

#ifndef WEFT_DRIVER_MEMORYCLASSES_H
#define WEFT_DRIVER_MEMORYCLASSES_H

#include "driver/ValueLifetimes.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <set>

namespace weft {

/// What memory is for.
enum class MemoryClass {
  Weights,        ///< constants, and the parameters that a step trains
  Gradients,      ///< of these parameters
  OptimizerState, ///< moments and what else an optimizer keeps
  State,          ///< caches and other buffers of the model that are kept between steps
  Ports,          ///< inputs and outputs
  Activations,    ///< of the forward pass; where there is a backward pass those that it reads
  Transients,     ///< what one pass makes for itself, and what kernels work in
  Buffers,        ///< of communication, and what is allocated between values
};

inline constexpr size_t numMemoryClasses = 8;

/// Bytes by MemoryClass.
using MemorySums = std::array<int64_t, numMemoryClasses>;

/// "weights", "optimizer_state" … as in machine-readable answers.
const char *getMemoryClassName(MemoryClass kind);

/// Tells of the values of a program what they are for.
class MemoryClasses {
public:
  MemoryClasses(const program::Executable &executable, const program::Program &program);

  MemoryClass of(const HeldValue &value) const;

private:
  bool isReadBackward(const HeldValue &value) const;
  MemoryClass ofState(llvm::StringRef name) const;
  MemoryClass ofActivation(const HeldValue &value) const;

  const program::Program &program;
  std::set<std::string> parameters; ///< that are trained
};

/// Bytes of each class of a rank that allocates `allocated`, from the values that it holds at the
/// peak (listValuesAtPeak); they add up to that.
MemorySums sumMemoryClasses(const program::Executable &executable, const program::Program &program,
                            const std::vector<HeldValue> &atPeak, int64_t allocated);

} // namespace weft

#endif // WEFT_DRIVER_MEMORYCLASSES_H

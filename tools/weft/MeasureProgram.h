//===- MeasureProgram.h - what instructions of a program take ---*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MEASUREPROGRAM_H
#define WEFT_TOOLS_WEFT_MEASUREPROGRAM_H

#include "compiler/Cost/Calibration.h"

#include <memory>

namespace weft::tool {

/// A small model of elementary functions, norms, convolutions, products of layers and batches of
/// products, compiled for one rank of this host that has all cores, and run to see what each
/// instruction takes: generated code and the library's, as every program has them.
class MeasuredProgram {
public:
  /// Compiles it; where that fails `problem` says why, and nothing can be measured.
  explicit MeasuredProgram(std::string &problem);
  ~MeasuredProgram();

  /// Runs a few steps and keeps what each instruction took.
  void measure();
  /// The median of each instruction: what it takes among others, whose operands have gone through
  /// the caches since, is no disturbance.
  std::vector<InstructionSample> getSamples() const;

private:
  struct Program;
  std::unique_ptr<Program> program; ///< null: it could not be compiled
  struct Measured {
    InstructionWork work;
    std::vector<double> seconds; ///< by run
  };
  std::vector<Measured> measured;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_MEASUREPROGRAM_H

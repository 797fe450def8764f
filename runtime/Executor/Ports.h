//===- Ports.h - inputs and outputs of a run --------------------*- C++ -*-===//
//
// The user gives and gets whole tensors, one NAME.npy each; every rank reads and writes its part of
// them alone, and of equal copies the first one writes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_PORTS_H
#define WEFT_RUNTIME_EXECUTOR_PORTS_H

#include "runtime/Collective/Transport.h"
#include "runtime/Cpu/Action.h"
#include "runtime/Io/StridedBlock.h"
#include "runtime/Program/Executable.h"

#include <map>

namespace weft::runtime {

/// Where inputs come from: files by name, the rest as NAME.npy in a folder.
struct InputFiles {
  std::map<std::string, std::string> byName;
  std::string folder;
};

/// This rank's part of a port's tensor.
struct PortBlock {
  const program::Port *port = nullptr;
  View local;
  std::vector<int64_t> shape; ///< of the whole tensor
  std::vector<int64_t> start; ///< index of the part's first element
  bool firstCopy = false;     ///< whether this rank's copy is the one that is written
};

/// The part of `port` at `position`; an Error where its shapes contradict each other.
PortBlock resolvePort(const program::Program &program, const program::Port &port,
                      const Position &position);

/// Checks that every input is given and no other, and that each file has the dtype and shape that
/// was compiled for. Returns the files by the order of the program's inputs. Kind BadInput.
std::vector<std::string> checkInputs(const program::Program &program, const InputFiles &files);

/// Reads this rank's part of an input.
void readInput(const PortBlock &input, const std::string &path, const Bases &bases);

/// Writes all outputs into `folder`, each whole and at once. Called by every rank.
void writeOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                  const std::string &folder, const Bases &bases);

/// How an output compares with what was expected.
struct Comparison {
  std::string name;
  std::string file;
  double difference = 0; ///< largest absolute difference of finite elements
  double magnitude = 0;  ///< largest absolute expected element
  int64_t elements = 0;
  int64_t unlike = 0;    ///< elements of which one alone is NaN, or infinities that differ
  int64_t worst = 0;     ///< row-major position of the largest difference
  bool shapeFits = true; ///< whether the expected tensor has the output's shape

  /// The difference over the magnitude.
  double getRelative() const;
  bool isWithin(double tolerance) const;
};

/// Compares all outputs with NAME.npy in `folder`; every rank gets the whole answer. A missing file
/// is kind BadInput.
std::vector<Comparison> compareOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                                       const std::string &folder, const Bases &bases);

/// "[4, 32]"
std::string formatShape(const std::vector<int64_t> &shape);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_PORTS_H

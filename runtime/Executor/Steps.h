//===- Steps.h - inputs of many steps ---------------------------*- C++ -*-===//
//
// A .npz file that holds for every input an array of that name: the input's tensors of all steps,
// stacked along a new first dimension. It is read as the steps go, one step's tensors at a time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STEPS_H
#define WEFT_RUNTIME_EXECUTOR_STEPS_H

#include "runtime/Executor/Ports.h"
#include "runtime/Io/Npz.h"

namespace weft::runtime {

class StepData {
public:
  /// Opens the file and checks that it has the executable's inputs and nothing else, all of as many
  /// steps; kind BadInput.
  StepData(const std::string &path, const program::Executable &executable,
           const program::Program &program);

  int64_t getNumSteps() const { return steps; }
  void check() const { file.check(); }
  /// Fills this rank's parts of the inputs, given in the program's order, with those of the next
  /// step. The stream may still copy at the end.
  void readNext(const std::vector<PortBlock> &inputs, const PortAccess &access);
  /// Passes over the next step.
  void skipNext();

private:
  struct Input {
    NpyHeader header; ///< of one step's tensor
    NpzStream stream;
  };
  std::vector<const NpzArray *> findArrays(const std::vector<const program::Port *> &ports) const;
  NpyHeader checkArray(const program::Port &port, const NpzArray &array);

  NpzFile file;
  int64_t steps = -1;
  std::vector<Input> inputs;
  std::vector<std::byte> tensor; ///< of one step, whole
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STEPS_H

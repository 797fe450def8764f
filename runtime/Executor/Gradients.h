//===- Gradients.h - gradients of a step in a file --------------*- C++ -*-===//
//
// Gradients are there where an instruction observes them, and nowhere else: each is written while
// the step goes on. Called by every rank.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_GRADIENTS_H
#define WEFT_RUNTIME_EXECUTOR_GRADIENTS_H

#include "runtime/Executor/Ports.h"
#include "runtime/Executor/TensorFile.h"
#include "runtime/Program/Executable.h"

namespace weft::runtime {

class Gradients {
public:
  /// Begins a .safetensors file of whole gradients under their weights' names. Kind BadInput where
  /// the program has none.
  Gradients(Transport &transport, const std::string &path, const Executable &executable,
            const Position &position);

  /// Takes this rank's part of the gradient of a port, which holds its value now.
  void take(uint32_t port, const PortAccess &access);
  void commit() { file->commit(); }

private:
  std::vector<PortBlock> blocks; ///< of this rank, by port
  std::vector<size_t> numbers;   ///< of their tensors
  std::optional<TensorFile> file;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_GRADIENTS_H

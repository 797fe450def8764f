//===- Ports.h - inputs and outputs of a run --------------------*- C++ -*-===//
//
// The user gives and gets whole tensors, one NAME.npy each; every rank reads and writes its part of
// them alone (outputs: Outputs.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_PORTS_H
#define WEFT_RUNTIME_EXECUTOR_PORTS_H

#include "runtime/Executor/Staging.h"
#include "runtime/Io/Npy.h"
#include "runtime/Io/StridedBlock.h"
#include "runtime/Program/Position.h"

#include <functional>
#include <map>

namespace weft::runtime {

/// Where inputs come from: files by name, the rest as NAME.npy in a folder.
struct InputFiles {
  std::map<std::string, std::string> byName;
  std::string folder;
};

/// The inputs, or outputs, of the executable: those of all programs, each name once.
std::vector<const program::Port *> listInputs(const program::Executable &executable);
std::vector<const program::Port *> listOutputs(const program::Executable &executable);

/// This rank's part of a port's tensor.
struct PortBlock {
  const program::Port *port = nullptr;
  View local;                 ///< what of the part is the tensor's
  std::optional<View> padded; ///< the whole part, where that is more
  std::vector<int64_t> shape; ///< of the whole tensor
  std::vector<int64_t> start; ///< index of the part's first element
  /// Where the part lies in several frames of its arena, the dimension that they divide: `local`
  /// and `start` have one more, of frames, before it.
  std::optional<size_t> frameDim;
  bool firstCopy = false; ///< whether this rank's copy is the one that is written
};

/// The part of `port` at `position`; an Error where its shapes contradict each other.
PortBlock resolvePort(const program::Program &program, const program::Port &port,
                      const Position &position);

/// What a rank that holds no part of the port knows of it: its type, and that nothing is here.
PortBlock describePort(const program::Port &port);

/// Checks that every input of the program is given, and none that the executable does not have, and
/// that each file has the dtype and shape that was compiled for. Returns the files by the order of
/// the program's inputs. Kind BadInput.
std::vector<std::string> checkInputs(const program::Executable &executable,
                                     const program::Program &program, const InputFiles &files);

/// Checks that a tensor of a file, called `what` in messages, has a port's dtype and shape.
void checkFits(const program::Port &port, DType dtype, const std::vector<int64_t> &shape,
               const std::string &what);

/// How the host reaches ports on the device.
struct PortAccess {
  const DeviceBases &bases;
  Staging &staging;
  Stream &stream;
};

/// The part of one step among `steps`, of whose tensors a file holds a stack.
PortBlock inStack(const PortBlock &port, int64_t steps, int64_t step);

/// Fills this rank's part of an input from a file of this header, of which `read` gives blocks. The
/// stream may still copy at the end.
void fillInput(const PortBlock &input, const NpyHeader &header, const PortAccess &access,
               const std::function<void(const StridedBlock &block, std::byte *memory)> &read);

/// Reads this rank's part of an input. The stream may still copy at the end.
void readInput(const PortBlock &input, const std::string &path, const PortAccess &access);

/// Elements from one index to the next in the whole tensor, for each dimension of `port.local`.
std::vector<int64_t> getWholeStrides(const PortBlock &port, bool fortranOrder);

/// Where a part of the port's elements lies in a .npy file of the whole tensor; `view` gives its
/// shape and its strides in memory, `start` its first element in this rank's part.
StridedBlock getFileBlock(const PortBlock &port, const NpyHeader &header, const View &view,
                          const std::vector<int64_t> &start);

/// "[4, 32]"
std::string formatShape(const std::vector<int64_t> &shape);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_PORTS_H

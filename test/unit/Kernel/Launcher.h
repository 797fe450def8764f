//===- Launcher.h - runs kernels for tests ----------------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNEL_LAUNCHER_H
#define WEFT_TEST_UNIT_KERNEL_LAUNCHER_H

#include "compiler/Kernel/KernelCompiler.h"
#include <array>
#include <memory>
#include <optional>

namespace weft {

/// A failed check: its number, the value and its position.
using Failure = std::array<int64_t, 3>;

/// Operands' bytes: of inputs, then of results.
using Buffers = std::vector<std::vector<char>>;

class Launcher {
public:
  virtual ~Launcher() = default;

  /// What kernels must be compiled for.
  virtual KernelMachine getMachine() const = 0;
  /// Makes the kernels ready; what is wrong, or "".
  virtual std::string load(const KernelLibrary &library) = 0;
  /// Whether tiles may be launched range by range.
  virtual bool takesRanges() const = 0;
  /// Runs a kernel over the tiles [low, high).
  virtual std::optional<Failure> launch(const KernelInfo &kernel, Buffers &operands,
                                        const std::vector<int64_t> &params, int64_t low,
                                        int64_t high) = 0;
};

/// On the host, in this process.
std::unique_ptr<Launcher> makeHostLauncher();

/// On a device of the runtime, by its name, which loads them from a temporary folder.
std::unique_ptr<Launcher> makeDeviceLauncher(const std::string &device);

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNEL_LAUNCHER_H

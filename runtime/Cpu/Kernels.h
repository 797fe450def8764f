//===- Kernels.h - generated kernels ----------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_KERNELS_H
#define WEFT_RUNTIME_CPU_KERNELS_H

#include <cstdint>
#include <string>

namespace weft::runtime {

/// See Launch in executable.proto.
using Kernel = int32_t (*)(void *const *operands, const int64_t *params, int64_t lo, int64_t hi,
                           int64_t *error);

/// The shared object of an executable's kernels; empty until one is loaded.
class KernelLibrary {
public:
  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary &) = delete;
  KernelLibrary &operator=(const KernelLibrary &) = delete;

  /// Loads a file that was held against its hashes.
  void load(const std::string &path);
  /// The kernel of that content key; an Error of kind BadInput where there is none.
  Kernel find(const std::string &name) const;

private:
  std::string path;
  void *handle = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_KERNELS_H

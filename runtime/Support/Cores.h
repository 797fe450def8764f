//===- Cores.h - the cores this process may run on --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_CORES_H
#define WEFT_RUNTIME_SUPPORT_CORES_H

#include <algorithm>
#include <sched.h>

namespace weft::runtime {

/// Number of cores in this process's affinity mask, at least 1.
inline int getNumCores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&mask));
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_CORES_H

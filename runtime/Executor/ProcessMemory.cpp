//===- ProcessMemory.cpp - what this process takes ------------------------===//

#include "runtime/Executor/ProcessMemory.h"

#include <fstream>
#include <string>

namespace weft::runtime {

int64_t getPeakRss() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stoll(line.substr(6)) * 1024;
  return 0;
}

} // namespace weft::runtime

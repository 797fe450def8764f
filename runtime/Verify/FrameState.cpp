#include "runtime/Verify/FrameState.h"

namespace weft::runtime {

std::string FrameState::getKey() const {
  std::string key;
  for (uint32_t token : begun)
    key += std::to_string(token) + ",";
  key += ";";
  contents.appendKey(key);
  beingRead.appendKey(key);
  return key;
}

} // namespace weft::runtime

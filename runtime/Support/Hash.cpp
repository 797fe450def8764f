//===- Hash.cpp - the hash of files and programs --------------------------===//

#include "runtime/Support/Hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft::runtime {

uint64_t getHash(const void *data, uint64_t bytes) { return XXH3_64bits(data, bytes); }

} // namespace weft::runtime

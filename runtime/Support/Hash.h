//===- Hash.h - the hash of files and programs ------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_HASH_H
#define WEFT_RUNTIME_SUPPORT_HASH_H

#include <cstdint>

namespace weft::runtime {

/// xxh3, 64 bits, seed 0. It guards against damage, not malice.
uint64_t getHash(const void *data, uint64_t bytes);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_HASH_H

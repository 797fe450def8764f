//===- Bytes.h - numbers of bytes for people --------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_BYTES_H
#define WEFT_TOOLS_WEFT_BYTES_H

#include <cstdint>
#include <string>

namespace weft::tool {

/// `640 B`, `1.5 KiB`, `203.0 MiB`.
std::string formatBytes(int64_t bytes);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_BYTES_H

//===- Frame.cpp - the frame around executable.pb -------------------------===//

#include "runtime/Program/Frame.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/Hash.h"

#include <cstring>
#include <string_view>

namespace weft::runtime {

namespace {

constexpr std::string_view magic("WEFTEXE", 8); // with its zero byte
constexpr uint64_t headerBytes = 28;
constexpr uint64_t maxPayload = (1ull << 31) - 1; // protobuf's own limit

template <typename T> T getLittleEndian(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T> void putLittleEndian(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

} // namespace

Framed readFrame(const std::string &path) {
  File file = File::open(path);
  uint64_t size = file.getSize();
  if (size < headerBytes)
    throwBadInput("'{}' is truncated: {} bytes are too few for a header; compile again", path,
                  size);
  char header[headerBytes];
  file.readAt(0, header, headerBytes);
  if (std::memcmp(header, magic.data(), magic.size()) != 0)
    throwBadInput("'{}' is not an executable of Weft: its first bytes are not 'WEFTEXE'", path);
  if (auto version = getLittleEndian<uint32_t>(header + 8); version != formatVersion)
    throwBadInput("'{}' has format version {}, this runtime reads version {}; compile again", path,
                  version, formatVersion);
  auto length = getLittleEndian<uint64_t>(header + 12);
  if (length > maxPayload || length != size - headerBytes)
    throwBadInput("'{}' is damaged: its header tells of {} bytes, {} follow; compile again", path,
                  length, size - headerBytes);
  Framed framed;
  framed.payload.resize(length);
  file.readAt(headerBytes, framed.payload.data(), length);
  framed.hash = getHash(framed.payload.data(), length);
  if (framed.hash != getLittleEndian<uint64_t>(header + 20))
    throwBadInput("'{}' is damaged: its content does not match its hash; compile again", path);
  return framed;
}

std::string formatFrame(const std::string &payload) {
  std::string framed(magic);
  putLittleEndian<uint32_t>(framed, formatVersion);
  putLittleEndian<uint64_t>(framed, payload.size());
  putLittleEndian<uint64_t>(framed, getHash(payload.data(), payload.size()));
  return framed + payload;
}

} // namespace weft::runtime

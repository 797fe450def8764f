//===- RankLocation.cpp - where a rank is ---------------------------------===//

#include "runtime/Executor/RankLocation.h"

namespace weft::runtime {

namespace {

/// Appends to a buffer without allocating.
class Writer {
public:
  Writer(char *buffer, size_t bytes) : buffer(buffer), bytes(bytes) {}

  Writer &operator<<(const char *text) {
    while (*text && length + 1 < bytes)
      buffer[length++] = *text++;
    return *this;
  }
  Writer &operator<<(int64_t number) {
    char digits[24];
    char *at = digits + sizeof(digits);
    *--at = '\0';
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    return *this << at;
  }
  size_t getLength() const { return length; }

private:
  char *buffer;
  size_t bytes;
  size_t length = 0;
};

} // namespace

size_t RankLocation::describe(char *buffer, size_t bytes) const {
  Writer writer(buffer, bytes);
  const char *what = label;
  if (!what) {
    writer << "in " << stage.load();
    return writer.getLength();
  }
  writer << "in step " << step.load() << ", instruction " << instruction.load() << ", " << what;
  return writer.getLength();
}

std::string RankLocation::describe() const {
  char buffer[512];
  return std::string(buffer, describe(buffer, sizeof(buffer)));
}

} // namespace weft::runtime

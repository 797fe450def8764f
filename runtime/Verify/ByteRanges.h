//===- ByteRanges.h - which bytes an operand touches, what they hold *- C++ -*-===//

#ifndef WEFT_RUNTIME_VERIFY_BYTERANGES_H
#define WEFT_RUNTIME_VERIFY_BYTERANGES_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::runtime {

struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

/// The bytes of a strided block at `offset`, as gapless ranges in ascending order of their outer
/// dimensions. Where there are more than `limit`, those of the first and last index of each outer
/// dimension only.
std::vector<ByteRange> getByteRanges(int64_t offset, int64_t elementBytes,
                                     const std::vector<int64_t> &shape,
                                     const std::vector<int64_t> &strides, size_t limit);

/// What the bytes of an arena hold: a value's number for each range; 0 for nothing.
class Contents {
public:
  void set(ByteRange range, uint32_t value);

  /// The first byte in the range that does not hold `value`, with what it holds; false if all do.
  bool findOther(ByteRange range, uint32_t value, int64_t &byte, uint32_t &holds) const;

  /// The first byte in the range that holds `value`.
  bool find(ByteRange range, uint32_t value, int64_t &byte) const;

  /// Appends a text that is equal for equal contents alone.
  void appendKey(std::string &key) const;

private:
  /// Begin of a range → its end and value; ranges are disjoint.
  std::map<int64_t, std::pair<int64_t, uint32_t>> ranges;
};

/// How often each byte is in use.
class UseCounts {
public:
  /// One use more (1) or less (-1).
  void add(ByteRange range, int change);
  /// The first byte in the range that is in use.
  bool findUsed(ByteRange range, int64_t &byte) const;

  void appendKey(std::string &key) const;

private:
  std::map<int64_t, int>::iterator split(int64_t byte);

  /// From each byte on, up to the next, so many uses; none before the first.
  std::map<int64_t, int> counts;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_VERIFY_BYTERANGES_H

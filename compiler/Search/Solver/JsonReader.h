//===- JsonReader.h - a pull reader of JSON ---------------------*- C++ -*-===//
//
// Reads a JSON text front to back through a small buffer. The caller says what it expects next;
// what it does not know it skips. Instances are hundreds of megabytes of small integers: this reads
// them at the speed of decompression, where a document tree would take gigabytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_JSONREADER_H
#define WEFT_COMPILER_SEARCH_SOLVER_JSONREADER_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::solver {

class JsonReader {
public:
  /// Fills a buffer and returns the number of bytes, 0 at the end of the text.
  using Source = std::function<size_t(char *, size_t)>;
  explicit JsonReader(Source source);

  /// Reads an object; calls `member` with each key, which reads or skips the value.
  void readObject(const std::function<void(const std::string &)> &member);
  /// Reads an array; calls `element` before each of its values, which it reads or skips.
  template <typename F> void readArray(F &&element) {
    expect('[', "an array");
    if (accept(']'))
      return;
    do
      element();
    while (accept(','));
    expect(']', "',' or ']'");
  }
  /// Reads an integer; refuses fractions, and what does not fit 64 bits.
  int64_t readInteger();
  std::string readString();
  void skipValue();
  /// Refuses anything but white space up to the end of the text.
  void expectEnd();
  /// Throws InstanceError with the position.
  [[noreturn]] void refuse(const std::string &message) const;

private:
  static constexpr size_t bufferSize = 1 << 18;
  static constexpr int deepest = 64; ///< nesting of skipped values

  /// The next byte, or -1.
  int peek() { return next < filled || fill() ? (unsigned char)buffer[next] : -1; }
  int advance() { return ++next, peek(); }
  bool fill();
  int peekPastSpace();
  bool accept(char wanted);
  void expect(char wanted, const char *name);
  int64_t finishReal(std::string digits);
  void readEscape(std::string &text);
  void skipNested(int depth);
  std::string describeNext();

  Source source;
  std::vector<char> buffer;
  size_t next = 0, filled = 0;
  size_t consumed = 0; ///< bytes before the buffer
};

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_JSONREADER_H

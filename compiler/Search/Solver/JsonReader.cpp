//===- JsonReader.cpp - a pull reader of JSON -----------------------------===//

#include "compiler/Search/Solver/JsonReader.h"
#include "compiler/Search/Solver/Instance.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

using namespace weft::solver;

JsonReader::JsonReader(Source source) : source(std::move(source)), buffer(bufferSize) {}

bool JsonReader::fill() {
  consumed += filled;
  next = 0;
  filled = source(buffer.data(), buffer.size());
  return filled > 0;
}

void JsonReader::refuse(const std::string &message) const {
  throw InstanceError(fmt::format("byte {}: {}", consumed + next, message));
}

int JsonReader::peekPastSpace() {
  int c = peek();
  while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
    c = advance();
  }
  return c;
}

std::string JsonReader::describeNext() {
  int c = peek();
  if (c < 0)
    return "the end of the text";
  if (c < 32 || c >= 127)
    return fmt::format("the byte {:#04x}", c);
  return fmt::format("'{}'", char(c));
}

bool JsonReader::accept(char wanted) {
  if (peekPastSpace() != wanted)
    return false;
  ++next;
  return true;
}

void JsonReader::expect(char wanted, const char *name) {
  if (!accept(wanted))
    refuse(fmt::format("expected {}, got {}", name, describeNext()));
}

void JsonReader::readObject(const std::function<void(const std::string &)> &member) {
  expect('{', "an object");
  if (accept('}'))
    return;
  do {
    std::string key = readString();
    expect(':', "':'");
    member(key);
  } while (accept(','));
  expect('}', "',' or '}'");
}

int64_t JsonReader::readInteger() {
  bool negative = peekPastSpace() == '-';
  next += negative;
  uint64_t value = 0;
  int count = 0, c = peek();
  for (; c >= '0' && c <= '9'; c = advance(), ++count) {
    if (value > (uint64_t(INT64_MAX) - (c - '0')) / 10)
      refuse("expected an integer that fits 64 bits");
    value = value * 10 + (c - '0');
  }
  if (count == 0)
    refuse(fmt::format("expected an integer, got {}", describeNext()));
  if (c == '.' || c == 'e' || c == 'E')
    return finishReal((negative ? "-" : "") + std::to_string(value));
  return negative ? -int64_t(value) : int64_t(value);
}

/// Writers may spell 10^18 as 1e+18: a number with a point or exponent counts if it is whole.
int64_t JsonReader::finishReal(std::string digits) {
  for (int c = peek();
       c >= 0 && (std::isdigit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-');
       c = advance())
    digits.push_back(char(c));
  char *end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  if (*end || std::floor(value) != value || std::abs(value) >= 9.2e18)
    refuse(fmt::format("expected an integer that fits 64 bits, got {}", digits));
  return int64_t(value);
}

void JsonReader::readEscape(std::string &text) {
  static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
  int c = peek();
  if (c == 'u') { // keys and names of instances are ASCII: others are kept as they are spelt
    text += "\\u";
    ++next;
    return;
  }
  size_t index = c < 0 ? std::string_view::npos : names.find(char(c));
  if (index == std::string_view::npos)
    refuse(fmt::format("expected an escaped character, got {}", describeNext()));
  text.push_back(values[index]);
  ++next;
}

std::string JsonReader::readString() {
  expect('"', "a string");
  std::string text;
  for (int c = peek(); c != '"'; c = peek()) {
    if (c < 32)
      refuse(fmt::format("expected the end of a string, got {}", describeNext()));
    ++next;
    if (c == '\\')
      readEscape(text);
    else
      text.push_back(char(c));
  }
  ++next;
  return text;
}

void JsonReader::skipNested(int depth) {
  if (depth > deepest)
    refuse(fmt::format("values are nested more than {} deep", deepest));
  int c = peekPastSpace();
  if (c == '{')
    return readObject([&](const std::string &) { skipNested(depth + 1); });
  if (c == '[')
    return readArray([&] { skipNested(depth + 1); });
  if (c == '"')
    return (void)readString();
  std::string word;
  for (; c >= 0 && (std::isalnum(c) || c == '-' || c == '+' || c == '.'); c = advance())
    word.push_back(char(c));
  bool number = !word.empty() && (std::isdigit((unsigned char)word[0]) || word[0] == '-');
  if (!number && word != "true" && word != "false" && word != "null")
    refuse(fmt::format("expected a value, got {}", word.empty() ? describeNext() : word));
}

void JsonReader::skipValue() { skipNested(0); }

void JsonReader::expectEnd() {
  if (peekPastSpace() >= 0)
    refuse(fmt::format("expected the end of the text, got {}", describeNext()));
}

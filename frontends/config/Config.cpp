#include "frontends/config/Config.h"
#include "frontends/common/ImportError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft::frontend;
using llvm::StringRef;

[[noreturn]] static void refuse(StringRef name, StringRef expected,
                                const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << "field '" << name << "': expected " << expected
                                 << ", got: " << value;
  throw ImportError(text);
}

/// How deeply lists and objects of a text in JSON stand in each other, at most.
static size_t measureNesting(StringRef text) {
  size_t depth = 0, most = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (inString) {
      i += text[i] == '\\';
      inString = i >= text.size() || text[i] != '"';
    } else if (text[i] == '"') {
      inString = true;
    } else if (text[i] == '{' || text[i] == '[') {
      most = std::max(most, ++depth);
    } else if (text[i] == '}' || text[i] == ']') {
      depth -= depth > 0;
    }
  }
  return most;
}

Config Config::parse(StringRef text) {
  constexpr size_t mostNesting = 256; // the parser recurses
  if (measureNesting(text) > mostNesting)
    throw ImportError("not a configuration: lists and objects stand too deep in each other");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    throw ImportError("not JSON: " + llvm::toString(value.takeError()));
  if (!value->getAsObject())
    throw ImportError("expected a JSON object");
  return Config(std::move(*value->getAsObject()));
}

const llvm::json::Value *Config::find(StringRef name) const {
  const llvm::json::Value *value = object.get(name);
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

int64_t Config::getCount(StringRef name) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    throw ImportError("field '" + name.str() + "' is missing");
  std::optional<int64_t> count = value->getAsInteger();
  if (!count || *count < 1 || *count > INT32_MAX)
    refuse(name, "a whole number from 1 on", *value);
  return *count;
}

int64_t Config::getCount(StringRef name, int64_t otherwise) const {
  return find(name) ? getCount(name) : otherwise;
}

int64_t Config::getDepth(StringRef name) const {
  constexpr int64_t most = 4096;
  int64_t depth = getCount(name);
  expectAtMost({name, depth}, {"what is supported", most});
  return depth;
}

int64_t Config::getDepth(StringRef name, int64_t otherwise) const {
  return find(name) ? getDepth(name) : otherwise;
}

std::optional<int64_t> Config::getInteger(StringRef name) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return std::nullopt;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < INT32_MIN || *number > INT32_MAX)
    refuse(name, "a whole number", *value);
  return number;
}

int64_t Config::getWhole(StringRef name, int64_t otherwise) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 0 || *number > INT32_MAX)
    refuse(name, "a whole number from 0 on", *value);
  return *number;
}

std::pair<int64_t, int64_t> Config::getPair(StringRef name) const {
  const llvm::json::Value *value = find(name);
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  if (!list) {
    int64_t count = getCount(name);
    return {count, count};
  }
  std::vector<int64_t> numbers = getWholes(name);
  if (numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 1)
    refuse(name, "a whole number from 1 on, or two", *value);
  return {numbers[0], numbers[1]};
}

double Config::getNumber(StringRef name, double otherwise) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise;
  std::optional<double> number = value->getAsNumber();
  if (!number || *number <= 0)
    refuse(name, "a number above 0", *value);
  return *number;
}

double Config::getRequiredNumber(StringRef name) const {
  if (!find(name))
    throw ImportError("field '" + name.str() + "' is missing");
  return getNumber(name, 0);
}

bool Config::getFlag(StringRef name, bool otherwise) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise;
  std::optional<bool> flag = value->getAsBoolean();
  if (!flag)
    refuse(name, "true or false", *value);
  return *flag;
}

std::string Config::getText(StringRef name) const {
  if (!find(name))
    throw ImportError("field '" + name.str() + "' is missing");
  return getText(name, "");
}

std::string Config::getText(StringRef name, StringRef otherwise) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise.str();
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    refuse(name, "text", *value);
  return text->str();
}

std::vector<std::string> Config::getTexts(StringRef name) const {
  std::vector<std::string> texts;
  const llvm::json::Value *value = find(name);
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  if (value && !list)
    refuse(name, "a list of texts", *value);
  for (size_t i = 0; list && i < list->size(); ++i) {
    std::optional<StringRef> text = (*list)[i].getAsString();
    if (!text)
      refuse(name, "a list of texts", *value);
    texts.push_back(text->str());
  }
  return texts;
}

std::vector<int64_t> Config::getWholes(StringRef name) const {
  std::vector<int64_t> numbers;
  const llvm::json::Value *value = find(name);
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  if (value && !list)
    refuse(name, "a list of whole numbers", *value);
  for (size_t i = 0; list && i < list->size(); ++i) {
    std::optional<int64_t> number = (*list)[i].getAsInteger();
    if (!number || *number < 0 || *number > INT32_MAX)
      refuse(name, "a list of whole numbers", *value);
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Config> Config::getObject(StringRef name) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return std::nullopt;
  const llvm::json::Object *inner = value->getAsObject();
  if (!inner)
    refuse(name, "an object", *value);
  return Config(*inner);
}

void Config::expectFlag(StringRef name, bool only) const {
  if (getFlag(name, only) != only)
    throw ImportError("field '" + name.str() + "': " + (only ? "false" : "true") +
                      " is not supported");
}

void Config::expectText(StringRef name, llvm::ArrayRef<StringRef> known) const {
  std::string text = getText(name, known.front());
  if (!llvm::is_contained(known, text))
    throw ImportError("field '" + name.str() + "': '" + text + "' is not supported; known is " +
                      llvm::join(known, ", "));
}

void weft::frontend::expectMultiple(Named number, Named divisor) {
  if (number.second % divisor.second != 0)
    throw ImportError(number.first.str() + " = " + std::to_string(number.second) +
                      " is no multiple of " + divisor.first.str() + " = " +
                      std::to_string(divisor.second));
}

void weft::frontend::expectAtMost(Named number, Named limit) {
  if (number.second > limit.second)
    throw ImportError(number.first.str() + " = " + std::to_string(number.second) +
                      " is more than " + limit.first.str() + " = " + std::to_string(limit.second));
}

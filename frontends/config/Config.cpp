#include "frontends/config/Config.h"
#include "frontends/common/ImportError.h"

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

Config Config::parse(StringRef text) {
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

double Config::getNumber(StringRef name, double otherwise) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise;
  std::optional<double> number = value->getAsNumber();
  if (!number || *number <= 0)
    refuse(name, "a number above 0", *value);
  return *number;
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

std::optional<Config> Config::getObject(StringRef name) const {
  const llvm::json::Value *value = find(name);
  if (!value)
    return std::nullopt;
  const llvm::json::Object *inner = value->getAsObject();
  if (!inner)
    refuse(name, "an object", *value);
  return Config(*inner);
}

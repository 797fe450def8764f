#include "frontends/torch_export/Json.h"

#include "frontends/common/ImportError.h"
#include <limits>

using namespace weft::frontend;
using namespace weft::frontend::aten;
using nlohmann::json;

json weft::frontend::aten::parseJson(const std::string &text, llvm::StringRef name) {
  try {
    return json::parse(text);
  } catch (const json::exception &error) {
    throw ImportError("entry '" + name.str() + "' is no JSON: " + error.what());
  }
}

std::string Json::path() const {
  if (!parent)
    return key.str() + ":";
  std::string above = parent->path();
  if (index != noIndex)
    return above + "[" + std::to_string(index) + "]";
  return above + (parent->parent ? "." : " ") + key.str();
}

void Json::fail(const std::string &message) const {
  throw ImportError(path() + (parent ? ": " : " ") + message);
}

static std::string kindOf(const json &value) { return std::string("got ") + value.type_name(); }

std::string Json::string() const {
  if (!value->is_string())
    fail("expected a string, " + kindOf(*value));
  return value->get<std::string>();
}

int64_t Json::integer() const {
  bool fits = value->is_number_integer() &&
              (!value->is_number_unsigned() ||
               value->get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
  if (!fits)
    fail("expected an integer of 64 bits, " + kindOf(*value));
  return value->get<int64_t>();
}

double Json::number() const {
  if (value->is_number())
    return value->get<double>();
  if (value->is_string()) {
    const auto &text = value->get_ref<const std::string &>();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "Infinity")
      return infinity;
    if (text == "-Infinity")
      return -infinity;
    if (text == "NaN")
      return std::numeric_limits<double>::quiet_NaN();
  }
  fail("expected a number, " + kindOf(*value));
}

bool Json::boolean() const {
  if (!value->is_boolean())
    fail("expected true or false, " + kindOf(*value));
  return value->get<bool>();
}

const json::array_t &Json::array() const {
  if (!value->is_array())
    fail("expected an array, " + kindOf(*value));
  return value->get_ref<const json::array_t &>();
}

const json::object_t &Json::object() const {
  if (!value->is_object())
    fail("expected an object, " + kindOf(*value));
  return value->get_ref<const json::object_t &>();
}

Json Json::operator[](const char *name) const {
  auto found = object().find(name);
  if (found == object().end())
    fail(std::string("field '") + name + "' is missing");
  return Json(found->second, this, llvm::StringRef(found->first));
}

std::optional<Json> Json::get(const char *name) const {
  auto found = object().find(name);
  if (found == object().end() || found->second.is_null())
    return std::nullopt;
  return Json(found->second, this, llvm::StringRef(found->first));
}

std::string Json::string(const char *name, const std::string &otherwise) const {
  std::optional<Json> field = get(name);
  return field ? field->string() : otherwise;
}

bool Json::boolean(const char *name, bool otherwise) const {
  std::optional<Json> field = get(name);
  return field ? field->boolean() : otherwise;
}

std::pair<std::string, Json> Json::member() const {
  // Members that are not held may be written as null.
  const json::object_t &fields = object();
  auto held = fields.end();
  size_t count = 0;
  for (auto at = fields.begin(); at != fields.end(); ++at)
    if (!at->second.is_null() || fields.size() == 1) {
      held = at;
      ++count;
    }
  if (count != 1)
    fail("expected one field that says what is held, got " + std::to_string(count));
  return {held->first, Json(held->second, this, llvm::StringRef(held->first))};
}

//===- Json.h - JSON of a known schema, read with checks --------*- C++ -*-===//
//
// A cursor into a parsed document that knows its way there, so that every message names the field:
// `models/model.json: graph_module.graph.nodes[3].target: expected a string, got null`. Every
// accessor throws ImportError where the document is not what it must be.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_JSON_H
#define WEFT_FRONTENDS_TORCH_EXPORT_JSON_H

#include "llvm/ADT/StringRef.h"
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace weft::frontend::aten {

/// Parses a document; `name` is the entry it came from. Throws ImportError where it is malformed.
nlohmann::json parseJson(const std::string &text, llvm::StringRef name);

class Json {
public:
  /// The root of a document, which must outlive the cursor and all cursors from it.
  Json(const nlohmann::json &value, llvm::StringRef document) : value(&value), key(document) {}

  [[noreturn]] void fail(const std::string &message) const;

  bool isNull() const { return value->is_null(); }
  std::string string() const;
  int64_t integer() const;
  /// An integer, a float, or a string as serialisers write what JSON cannot: Infinity, NaN.
  double number() const;
  bool boolean() const;

  /// A field that must be there.
  Json operator[](const char *name) const;
  /// A field that may be absent or null.
  std::optional<Json> get(const char *name) const;
  std::string string(const char *name, const std::string &otherwise) const;
  bool boolean(const char *name, bool otherwise) const;

  /// The elements of an array.
  template <typename Function> void forEach(Function function) const {
    size_t index = 0;
    for (const nlohmann::json &element : array())
      function(Json(element, this, index++));
  }
  template <typename Function> auto map(Function function) const {
    std::vector<decltype(function(*this))> results;
    results.reserve(array().size());
    forEach([&](const Json &element) { results.push_back(function(element)); });
    return results;
  }
  /// The fields of an object: names and values, in the order of the names.
  template <typename Function> void forEachField(Function function) const {
    for (const auto &[name, field] : object())
      function(name, Json(field, this, name));
  }

  /// A union is an object with one field, whose name says which member is held.
  std::pair<std::string, Json> member() const;

private:
  static constexpr size_t noIndex = ~size_t(0);
  Json(const nlohmann::json &value, const Json *parent, llvm::StringRef key)
      : value(&value), parent(parent), key(key) {}
  Json(const nlohmann::json &value, const Json *parent, size_t index)
      : value(&value), parent(parent), index(index) {}

  std::string path() const;
  const nlohmann::json::array_t &array() const;
  const nlohmann::json::object_t &object() const;

  const nlohmann::json *value;
  const Json *parent = nullptr; ///< lives as long as this one: cursors are made going down
  llvm::StringRef key;
  size_t index = noIndex;
};

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_JSON_H

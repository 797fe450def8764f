//===- Config.h - fields of a model's configuration -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_CONFIG_CONFIG_H
#define WEFT_FRONTENDS_CONFIG_CONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace weft::frontend {

/// The object in a config.json. Getters throw ImportError where a field is missing or is not what
/// it should be. A field that is null is absent.
class Config {
public:
  /// Throws ImportError if the text is no JSON object.
  static Config parse(llvm::StringRef text);

  std::string getType() const { return getText("model_type"); }
  /// From 1 to 2^31 - 1.
  int64_t getCount(llvm::StringRef name) const;
  int64_t getCount(llvm::StringRef name, int64_t otherwise) const;
  double getNumber(llvm::StringRef name, double otherwise) const;
  bool getFlag(llvm::StringRef name, bool otherwise) const;
  std::string getText(llvm::StringRef name) const;
  std::string getText(llvm::StringRef name, llvm::StringRef otherwise) const;
  /// A field that is an object itself; none if absent.
  std::optional<Config> getObject(llvm::StringRef name) const;

private:
  explicit Config(llvm::json::Object object) : object(std::move(object)) {}
  const llvm::json::Value *find(llvm::StringRef name) const;

  llvm::json::Object object;
};

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_CONFIG_H

//===- Config.h - fields of a model's configuration -------------*- C++ -*-===//

#ifndef WEFT_FRONTENDS_CONFIG_CONFIG_H
#define WEFT_FRONTENDS_CONFIG_CONFIG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace weft::frontend {

/// The object in a config.json. Getters throw ImportError where a field is missing or is not what
/// it should be. A field that is null is absent.
class Config {
public:
  /// Throws ImportError if the text is no JSON object.
  static Config parse(llvm::StringRef text);

  std::string getType() const { return getText("model_type"); }
  bool has(llvm::StringRef name) const { return find(name); }
  size_t size() const { return object.size(); }
  /// From 1 to 2^31 - 1.
  int64_t getCount(llvm::StringRef name) const;
  int64_t getCount(llvm::StringRef name, int64_t otherwise) const;
  /// A number of layers: a count that is not absurd, as a graph has operations for each of them.
  int64_t getDepth(llvm::StringRef name) const;
  int64_t getDepth(llvm::StringRef name, int64_t otherwise) const;
  /// From -2^31 to 2^31 - 1; none if absent.
  std::optional<int64_t> getInteger(llvm::StringRef name) const;
  /// From 0 to 2^31 - 1.
  int64_t getWhole(llvm::StringRef name, int64_t otherwise) const;
  /// Two counts, or one that stands for both.
  std::pair<int64_t, int64_t> getPair(llvm::StringRef name) const;
  /// Above 0; one that is 0 in the configuration is an error.
  double getNumber(llvm::StringRef name, double otherwise) const;
  double getRequiredNumber(llvm::StringRef name) const;
  bool getFlag(llvm::StringRef name, bool otherwise) const;
  std::string getText(llvm::StringRef name) const;
  std::string getText(llvm::StringRef name, llvm::StringRef otherwise) const;
  /// A list of texts, or of whole numbers; empty if absent.
  std::vector<std::string> getTexts(llvm::StringRef name) const;
  std::vector<int64_t> getWholes(llvm::StringRef name) const;
  /// A field that is an object itself; none if absent.
  std::optional<Config> getObject(llvm::StringRef name) const;

  /// Throws ImportError where a flag is not `only`, or a text none of `known`: what they ask for is
  /// not built.
  void expectFlag(llvm::StringRef name, bool only) const;
  void expectText(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known) const;

private:
  explicit Config(llvm::json::Object object) : object(std::move(object)) {}
  const llvm::json::Value *find(llvm::StringRef name) const;

  llvm::json::Object object;
};

/// A number of a configuration, by what it is called there.
using Named = std::pair<llvm::StringRef, int64_t>;
/// Throws ImportError unless one is a multiple of the other.
void expectMultiple(Named number, Named divisor);
/// Throws ImportError if one is above the other.
void expectAtMost(Named number, Named limit);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_CONFIG_H

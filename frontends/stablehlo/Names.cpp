#include "frontends/stablehlo/Names.h"

#include "dialects/Weft/IR/SourceName.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace weft::frontend::stablehlo;

/// The keys of a path: `p['layers'][0].w` → p, layers, 0, w. Empty where it is none.
static SmallVector<StringRef> pathKeys(StringRef name) {
  SmallVector<StringRef> keys;
  size_t root = name.find_first_of("[.");
  if (root == StringRef::npos || root == 0)
    return {};
  keys.push_back(name.take_front(root));
  for (StringRef rest = name.drop_front(root); !rest.empty();) {
    StringRef key;
    if (rest.consume_front("['") || rest.consume_front("[\"")) {
      size_t end = std::min(rest.find("']"), rest.find("\"]"));
      if (end == StringRef::npos)
        return {};
      key = rest.take_front(end);
      rest = rest.drop_front(end + 2);
    } else if (rest.consume_front("[")) {
      std::tie(key, rest) = rest.split(']');
    } else if (rest.consume_front(".")) {
      key = rest.take_front(rest.find_first_of("[."));
      rest = rest.drop_front(key.size());
    }
    if (key.empty())
      return {};
    keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> weft::frontend::stablehlo::argumentAliases(StringRef name) {
  SmallVector<StringRef> keys = pathKeys(name);
  if (keys.size() < 2)
    return {};
  auto inner = ArrayRef(keys).drop_front();
  std::vector<std::string> aliases = {llvm::join(inner, "."), llvm::join(inner, "/"),
                                      llvm::join(keys, ".")};
  llvm::erase(aliases, name.str());
  aliases.erase(std::unique(aliases.begin(), aliases.end()), aliases.end());
  return aliases;
}

std::string weft::frontend::stablehlo::operationName(Operation *op) {
  StringRef name = weft::getSourceName(op->getLoc());
  if (!name.empty())
    return name.rtrim(':').str(); // JAX marks functions with a colon
  StringRef own = op->getName().getStringRef().split('.').second;
  if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
    return (llvm::sys::path::filename(place.getFilename()) + ":" + Twine(place.getLine()) + "/" +
            own)
        .str();
  return own.str();
}

/// A path without the numbers of rounds: `jit(f)/while[2]/body` is `jit(f)/while/body`.
static std::string withoutRounds(StringRef path) {
  std::string plain;
  while (!path.empty()) {
    auto [before, after] = path.split('[');
    plain += before;
    if (before.size() == path.size())
      break;
    auto [number, rest] = after.split(']');
    if (number.empty() || !llvm::all_of(number, llvm::isDigit))
      plain += ("[" + number + "]").str();
    path = rest;
  }
  return plain;
}

/// `inner` within `outer`, a path that may be the start of it, or end with what `inner` starts
/// with: `jit(f)/while/body` and `while/body/add` give `jit(f)/while/body/add`. Rounds are kept.
static std::string joinPaths(StringRef outer, StringRef inner) {
  std::string plain = withoutRounds(outer);
  if (outer.empty() || inner == plain || inner.starts_with(plain + "/"))
    return (outer + inner.drop_front(plain.size())).str();
  for (size_t end = inner.rfind('/'); end != StringRef::npos;
       end = inner.take_front(end).rfind('/')) {
    StringRef shared = inner.take_front(end);
    if (plain == shared || StringRef(plain).ends_with(("/" + shared).str()))
      return (outer + inner.drop_front(end)).str();
  }
  return (outer + "/" + inner).str();
}

std::string Names::pathOf(Operation *op) const { return joinPaths(scope, operationName(op)); }

std::string Names::unique(std::string name) {
  auto [last, isNew] = given.try_emplace(name, 1);
  if (isNew)
    return name;
  std::string numbered;
  do
    numbered = name + "~" + std::to_string(++last->second);
  while (!given.try_emplace(numbered, 1).second);
  return numbered;
}

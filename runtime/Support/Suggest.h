//===- Suggest.h - "did you mean" -------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_SUPPORT_SUGGEST_H
#define WEFT_RUNTIME_SUPPORT_SUGGEST_H

#include <string>
#include <vector>

namespace weft::runtime {

/// A sentence that ends a message about the unknown `name`: the nearest of `known` by edit distance
/// where one is near, else the list of all (the first ten).
std::string suggest(const std::string &name, const std::vector<std::string> &known);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_SUGGEST_H

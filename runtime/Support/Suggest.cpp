//===- Suggest.cpp - "did you mean" ---------------------------------------===//

#include "runtime/Support/Suggest.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft::runtime {

namespace {
/// Levenshtein's distance.
size_t getDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row.back();
}
} // namespace

std::string suggest(const std::string &name, const std::vector<std::string> &known) {
  const std::string *nearest = nullptr;
  size_t best = name.size() / 3 + 2;
  for (const std::string &candidate : known)
    if (size_t distance = getDistance(name, candidate); distance < best) {
      best = distance;
      nearest = &candidate;
    }
  if (nearest)
    return fmt::format("did you mean '{}'?", *nearest);
  if (known.empty())
    return "there are none";
  std::string list;
  for (size_t i = 0; i < known.size() && i < 10; ++i)
    list += fmt::format("{}'{}'", i ? ", " : "", known[i]);
  return fmt::format("known: {}{}", list, known.size() > 10 ? ", …" : "");
}

} // namespace weft::runtime

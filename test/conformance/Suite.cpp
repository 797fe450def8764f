#include "test/conformance/Suite.h"

#include "compiler/Interpret/Numbers.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdio>
#include <fstream>

using namespace weft;
using namespace weft::conformance;

/// The first element that differs, or -1.
template <typename Number>
static int64_t differs(const std::vector<Number> &left, const std::vector<Number> &right,
                       Tolerance tolerance) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == right[i])
      continue;
    if constexpr (std::is_same_v<Number, double>) {
      bool bothNan = std::isnan(left[i]) && std::isnan(right[i]);
      double allowed = tolerance.absolute + tolerance.relative * std::abs(right[i]);
      if (bothNan || std::abs(left[i] - right[i]) <= allowed)
        continue;
    }
    return int64_t(i);
  }
  return -1;
}

void conformance::expectEqual(const Tensor &got, const Tensor &expected, size_t index,
                              Tolerance tolerance) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (got.type() != expected.type()) {
    stream << "result " << index << " is of type " << got.type() << ", expected "
           << expected.type();
    throw Failure(text);
  }
  withNumber(got.kind(), [&](auto number) {
    auto left = numbersOf<decltype(number)>(got), right = numbersOf<decltype(number)>(expected);
    int64_t at = differs(left, right, tolerance);
    if (at >= 0)
      stream << "result " << index << " is " << left[at] << " at element " << at << ", expected "
             << right[at];
  });
  if (!text.empty())
    throw Failure(text);
}

Suite::Suite(const std::string &path) {
  std::ifstream stream(path);
  std::string line;
  while (std::getline(stream, line)) {
    auto [text, reason] = llvm::StringRef(line).split(" -- ");
    if (line.empty() || line[0] == '#')
      continue;
    if (text.empty() || reason.empty())
      throw std::runtime_error("'" + line + "' is not TEXT -- REASON");
    excuses.push_back({text.str(), reason.str(), {}});
  }
}

void Suite::pass(const std::vector<std::string> &operators) {
  ++passed;
  shown.insert(operators.begin(), operators.end());
}

void Suite::miss(const std::string &name, const std::string &message) {
  std::string text = name + ": " + message;
  bool isKnown = false;
  for (Excuse &excuse : excuses)
    if (text.find(excuse.text) != std::string::npos) {
      excuse.tests.push_back(name);
      isKnown = true;
    }
  ++(isKnown ? excused : failed);
  if (!isKnown)
    std::printf("FAILED %s\n", text.c_str());
}

void Suite::checkOperators(const std::set<std::string> &operators) {
  for (const std::string &name : operators)
    if (!shown.count(name))
      miss("operator " + name, "no test");
}

int Suite::report() const {
  int unused = 0;
  for (const Excuse &excuse : excuses) {
    unused += excuse.tests.empty();
    if (excuse.tests.empty())
      std::printf("FAILED '%s' excuses nothing\n", excuse.text.c_str());
    else
      std::printf("excused %zu, %s: %s -- %s\n", excuse.tests.size(), excuse.tests.front().c_str(),
                  excuse.text.c_str(), excuse.reason.c_str());
  }
  std::printf("%d passed, %d failed, %d not covered, %zu operators\n", passed, failed + unused,
              excused, shown.size());
  return failed || unused || !passed ? 1 : 0;
}

//===- Suite.h - recorded tests, and what is known not to pass --*- C++ -*-===//
//
// A list says what is not covered and why, a line each: `TEXT -- REASON`. A test that does not pass
// is excused where `NAME: MESSAGE` contains such a text, an operator without a passing test where
// `operator OP: no test` does. Everything else fails, and so does a text that excuses nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CONFORMANCE_SUITE_H
#define WEFT_TEST_CONFORMANCE_SUITE_H

#include "compiler/Interpret/Tensor.h"
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::conformance {

/// Why a test did not pass.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How far floats may lie apart: absolute + relative · |expected|.
struct Tolerance {
  double relative, absolute;
};

/// Throws Failure unless type and elements agree: NaN equals NaN, integers agree exactly.
void expectEqual(const Tensor &got, const Tensor &expected, size_t index, Tolerance tolerance);

class Suite {
public:
  /// Reads the list at `path`; throws std::runtime_error where a line is not as above.
  explicit Suite(const std::string &path);

  /// A test passed that shows these operators to work.
  void pass(const std::vector<std::string> &operators);
  void miss(const std::string &name, const std::string &message);
  /// Misses the operators that no test has shown to work.
  void checkOperators(const std::set<std::string> &operators);

  /// Prints the failures so far, how many tests each line excuses, and a closing count; the exit
  /// code, 1 if anything fails.
  int report() const;

private:
  struct Excuse {
    std::string text, reason;
    std::vector<std::string> tests; ///< that it excused
  };
  std::vector<Excuse> excuses;
  std::set<std::string> shown; ///< operators of the tests that passed
  int passed = 0, failed = 0, excused = 0;
};

} // namespace weft::conformance

#endif // WEFT_TEST_CONFORMANCE_SUITE_H

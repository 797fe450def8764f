#include "compiler/Cost/LeastSquares.h"

#include <algorithm>
#include <cmath>

using namespace weft;

namespace {

using Row = std::vector<double>;

/// Solves a·x = b by elimination with pivots; empty if singular.
Row solve(std::vector<Row> a, Row b) {
  size_t size = b.size();
  for (size_t column = 0; column < size; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < size; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column]))
        pivot = row;
    if (std::abs(a[pivot][column]) < 1e-12)
      return {};
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    for (size_t row = 0; row < size; ++row) {
      if (row == column)
        continue;
      double factor = a[row][column] / a[column][column];
      for (size_t k = column; k < size; ++k)
        a[row][k] -= factor * a[column][k];
      b[row] -= factor * b[column];
    }
  }
  for (size_t i = 0; i < size; ++i)
    b[i] /= a[i][i];
  return b;
}

/// Unconstrained least squares over the columns in `used`, scaled to like sizes.
Row fitColumns(const std::vector<Row> &terms, const Row &seconds, const std::vector<size_t> &used) {
  size_t size = used.size();
  Row scale(size, 0);
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t c = 0; c < size; ++c)
      scale[c] = std::max(scale[c], std::abs(terms[i][used[c]] / seconds[i]));
  for (double factor : scale)
    if (factor == 0)
      return {};
  std::vector<Row> normal(size, Row(size, 0));
  Row right(size, 0);
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t c = 0; c < size; ++c) {
      double own = terms[i][used[c]] / seconds[i] / scale[c];
      right[c] += own;
      for (size_t d = 0; d < size; ++d)
        normal[c][d] += own * terms[i][used[d]] / seconds[i] / scale[d];
    }
  Row fitted = solve(std::move(normal), std::move(right));
  for (size_t c = 0; c < fitted.size(); ++c)
    fitted[c] /= scale[c];
  return fitted;
}

} // namespace

std::vector<double> weft::fitNonNegative(const std::vector<Row> &terms, const Row &seconds) {
  if (terms.empty())
    return {};
  std::vector<size_t> used;
  for (size_t c = 0; c < terms[0].size(); ++c)
    if (std::any_of(terms.begin(), terms.end(), [&](const Row &row) { return row[c] != 0; }))
      used.push_back(c);
  while (!used.empty()) {
    Row fitted = fitColumns(terms, seconds, used);
    if (fitted.empty())
      return {};
    size_t least = std::min_element(fitted.begin(), fitted.end()) - fitted.begin();
    if (fitted[least] >= 0) {
      Row coefficients(terms[0].size(), 0);
      for (size_t c = 0; c < used.size(); ++c)
        coefficients[used[c]] = fitted[c];
      return coefficients;
    }
    used.erase(used.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return {};
}

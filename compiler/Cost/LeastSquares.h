//===- LeastSquares.h - linear fits on relative errors ----------*- C++ -*-===//

#ifndef WEFT_COMPILER_COST_LEASTSQUARES_H
#define WEFT_COMPILER_COST_LEASTSQUARES_H

#include <vector>

namespace weft {

/// Coefficients c >= 0 that minimise the sum of (terms·c / seconds - 1)²; terms[i] are those of
/// sample i. Samples that were disturbed, and so took longer, count the less the longer they took.
/// A coefficient that would be negative is left out. Empty if there is no such fit.
std::vector<double> fitNonNegative(const std::vector<std::vector<double>> &terms,
                                   const std::vector<double> &seconds);

} // namespace weft

#endif // WEFT_COMPILER_COST_LEASTSQUARES_H

//===- Least.h - least elements, by vectors ---------------------*- C++ -*-===//
//
// Standard algorithms compare one element after the other, each with the least one so far. Here as
// many go side by side as vectors hold; what is found is the same.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_LEAST_H
#define WEFT_COMPILER_SEARCH_SOLVER_LEAST_H

#include <cstddef>

namespace weft::solver {

/// The least of `count` elements, at least one, of which each is a number.
float getLeast(const float *elements, size_t count);

/// The least sum of two elements of the same place.
double getLeastSum(const double *a, const double *b, size_t count);

/// out[j] = min over i of cost[i] + table[i · width + j], of at least one row.
void minPlus(const float *__restrict cost, const float *__restrict table, int rows, int width,
             float *__restrict out);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_LEAST_H

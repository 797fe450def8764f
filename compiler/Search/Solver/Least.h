//===- Least.h - least elements, by vectors ---------------------*- C++ -*-===//
//
// Standard algorithms compare one element after the other, each with the least one so far. Here as
// many go side by side as vectors hold; what is found is the same.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SEARCH_SOLVER_LEAST_H
#define WEFT_COMPILER_SEARCH_SOLVER_LEAST_H

#include <cstddef>

#if defined(__x86_64__) && defined(__linux__)
#define WEFT_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WEFT_VECTOR_CLONES
#endif

namespace weft::solver {

/// The least of `count` elements, at least one, of which each is a number.
float getLeast(const float *elements, size_t count);

/// The least sum of two elements of the same place.
double getLeastSum(const double *a, const double *b, size_t count);

} // namespace weft::solver

#endif // WEFT_COMPILER_SEARCH_SOLVER_LEAST_H

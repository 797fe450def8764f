#include "compiler/Search/Solver/Least.h"

using namespace weft;

static constexpr size_t lanes = 8; ///< that are compared side by side

template <typename Number> static Number getLesser(Number a, Number b) { return b < a ? b : a; }

WEFT_VECTOR_CLONES
float solver::getLeast(const float *elements, size_t count) {
  float least = elements[0];
  size_t i = 0;
  if (count >= lanes) {
    float some[lanes];
    for (size_t lane = 0; lane < lanes; ++lane)
      some[lane] = elements[lane];
    for (i = lanes; i + lanes <= count; i += lanes)
      for (size_t lane = 0; lane < lanes; ++lane)
        some[lane] = getLesser(some[lane], elements[i + lane]);
    for (float each : some)
      least = getLesser(least, each);
  }
  for (; i < count; ++i)
    least = getLesser(least, elements[i]);
  return least;
}

WEFT_VECTOR_CLONES
double solver::getLeastSum(const double *a, const double *b, size_t count) {
  double least = a[0] + b[0];
  size_t i = 0;
  if (count >= lanes) {
    double some[lanes];
    for (size_t lane = 0; lane < lanes; ++lane)
      some[lane] = a[lane] + b[lane];
    for (i = lanes; i + lanes <= count; i += lanes)
      for (size_t lane = 0; lane < lanes; ++lane)
        some[lane] = getLesser(some[lane], a[i + lane] + b[i + lane]);
    for (double each : some)
      least = getLesser(least, each);
  }
  for (; i < count; ++i)
    least = getLesser(least, a[i] + b[i]);
  return least;
}

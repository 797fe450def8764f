#include "compiler/Search/Solver/Least.h"

using namespace weft;

#if defined(__x86_64__) && defined(__linux__)
#define WEFT_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define WEFT_VECTOR_CLONES
#endif

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

WEFT_VECTOR_CLONES
void solver::minPlus(const float *__restrict cost, const float *__restrict table, int rows,
                     int width, float *__restrict out) {
  for (int j = 0; j < width; ++j)
    out[j] = cost[0] + table[j];
  int i = 1;
  for (; i + 3 < rows; i += 4) {
    const float *r0 = table + size_t(i) * width, *r1 = r0 + width, *r2 = r1 + width,
                *r3 = r2 + width;
    float c0 = cost[i], c1 = cost[i + 1], c2 = cost[i + 2], c3 = cost[i + 3];
    for (int j = 0; j < width; ++j) {
      float a = c0 + r0[j], b = c1 + r1[j], c = c2 + r2[j], d = c3 + r3[j];
      a = a < b ? a : b;
      c = c < d ? c : d;
      a = a < c ? a : c;
      out[j] = out[j] < a ? out[j] : a;
    }
  }
  for (; i < rows; ++i) {
    const float *row = table + size_t(i) * width;
    for (int j = 0; j < width; ++j) {
      float a = cost[i] + row[j];
      out[j] = out[j] < a ? out[j] : a;
    }
  }
}

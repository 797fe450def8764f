//===- Softmax.h - exponentials of a row of scores --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_SOFTMAX_H
#define WEFT_RUNTIME_CPU_SOFTMAX_H

#include <cstdint>

namespace weft::runtime {

/// Floats that rows of scores are made a multiple of.
inline constexpr int64_t scoreLanes = 16;

/// What a row of exponentials is of: exp(score) = exp(shift) · exponential.
struct Exponentials {
  float shift; ///< the greatest score; 0 where all are -inf
  float sum;   ///< of the exponentials; 0 where all scores are -inf
};

/// Replaces `count` scores, a multiple of scoreLanes, by exp(score - shift).
Exponentials exponentiate(float *scores, int64_t count);

/// Replaces scores by softcap · tanh(score / softcap).
void capScores(float *scores, int64_t count, float softcap);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_SOFTMAX_H

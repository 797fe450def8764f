//===- Softmax.h - a row of scores, and its gradient ------------*- C++ -*-===//

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

/// Replaces `count` scores, a multiple of scoreLanes, by exp(score - shift); the sum of these.
float shiftAndExponentiate(float *scores, int64_t count, float shift);

/// Replaces scores by softcap · tanh(score / softcap).
void capScores(float *scores, int64_t count, float softcap);

/// Σ a·b
float multiplyAlong(const float *a, const float *b, int64_t count);

/// Replaces the gradients of weights by those of the scores that they are of: weight ·
/// (gradient - along), where `along` is the sum of weight · gradient over the whole row. What has
/// no weight has no gradient.
void differentiateSoftmax(const float *weights, float along, float *gradients, int64_t count);

/// Multiplies the gradients of capped scores by how these change with the scores.
void differentiateCap(const float *capped, float softcap, float *gradients, int64_t count);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_SOFTMAX_H

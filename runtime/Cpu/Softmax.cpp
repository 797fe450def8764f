#include "runtime/Cpu/Softmax.h"

#include "runtime/Support/FloatMath.h"

#include <algorithm>
#include <limits>

#if defined(__x86_64__)
#define WEFT_FOR_EACH_PROCESSOR                                                                    \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEFT_FOR_EACH_PROCESSOR
#endif

namespace weft::runtime {

static constexpr float negativeInfinity = -std::numeric_limits<float>::infinity();

/// NaNs are passed over: they come out of the exponentials.
WEFT_FOR_EACH_PROCESSOR static float findGreatest(const float *scores, int64_t count) {
  float lanes[scoreLanes];
  std::fill_n(lanes, scoreLanes, negativeInfinity);
  for (int64_t j = 0; j < count; j += scoreLanes)
    for (int64_t lane = 0; lane < scoreLanes; ++lane)
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
  return *std::max_element(lanes, lanes + scoreLanes);
}

/// The sum of what the scores become.
WEFT_FOR_EACH_PROCESSOR static float shiftAndExponentiate(float *scores, int64_t count,
                                                          float shift) {
  float lanes[scoreLanes] = {};
  for (int64_t j = 0; j < count; j += scoreLanes)
    for (int64_t lane = 0; lane < scoreLanes; ++lane) {
      float exponential = math::exp32(scores[j + lane] - shift);
      scores[j + lane] = exponential;
      lanes[lane] += exponential;
    }
  float sum = 0;
  for (float lane : lanes)
    sum += lane;
  return sum;
}

Exponentials exponentiate(float *scores, int64_t count) {
  float greatest = findGreatest(scores, count);
  float shift = greatest == negativeInfinity ? 0.0f : greatest;
  return {shift, shiftAndExponentiate(scores, count, shift)};
}

WEFT_FOR_EACH_PROCESSOR void capScores(float *scores, int64_t count, float softcap) {
  for (int64_t j = 0; j < count; ++j)
    scores[j] = softcap * math::tanh32(scores[j] / softcap);
}

} // namespace weft::runtime

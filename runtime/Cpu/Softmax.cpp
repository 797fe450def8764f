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

// Private to this file: a device's module that calls what is chosen for the processor finds it by
// its name in the program that loads the module, where nothing is chosen yet.
namespace loops {

/// NaNs are passed over: they come out of the exponentials.
WEFT_FOR_EACH_PROCESSOR static float findGreatest(const float *scores, int64_t count) {
  float lanes[scoreLanes];
  std::fill_n(lanes, scoreLanes, negativeInfinity);
  for (int64_t j = 0; j < count; j += scoreLanes)
    for (int64_t lane = 0; lane < scoreLanes; ++lane)
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
  return *std::max_element(lanes, lanes + scoreLanes);
}

static float addUp(const float *lanes) {
  float sum = 0;
  for (int64_t lane = 0; lane < scoreLanes; ++lane)
    sum += lanes[lane];
  return sum;
}

WEFT_FOR_EACH_PROCESSOR static float shiftAndExponentiate(float *scores, int64_t count,
                                                          float shift) {
  float lanes[scoreLanes] = {};
  for (int64_t j = 0; j < count; j += scoreLanes)
    for (int64_t lane = 0; lane < scoreLanes; ++lane) {
      float exponential = math::exp32(scores[j + lane] - shift);
      scores[j + lane] = exponential;
      lanes[lane] += exponential;
    }
  return addUp(lanes);
}

WEFT_FOR_EACH_PROCESSOR static void capScores(float *scores, int64_t count, float softcap) {
  for (int64_t j = 0; j < count; ++j)
    scores[j] = softcap * math::tanh32(scores[j] / softcap);
}

WEFT_FOR_EACH_PROCESSOR static float multiplyAlong(const float *a, const float *b, int64_t count) {
  float lanes[scoreLanes] = {};
  int64_t whole = count / scoreLanes * scoreLanes;
  for (int64_t j = 0; j < whole; j += scoreLanes)
    for (int64_t lane = 0; lane < scoreLanes; ++lane)
      lanes[lane] += a[j + lane] * b[j + lane];
  for (int64_t j = whole; j < count; ++j)
    lanes[j - whole] += a[j] * b[j];
  return addUp(lanes);
}

WEFT_FOR_EACH_PROCESSOR static void differentiateSoftmax(const float *weights, float along,
                                                         float *gradients, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    float gradient = weights[j] * (gradients[j] - along);
    gradients[j] = weights[j] == 0 ? 0 : gradient;
  }
}

WEFT_FOR_EACH_PROCESSOR static void differentiateCap(const float *capped, float softcap,
                                                     float *gradients, int64_t count) {
  for (int64_t j = 0; j < count; ++j) {
    float bounded = capped[j] / softcap;
    gradients[j] *= 1 - bounded * bounded;
  }
}

} // namespace loops

Exponentials exponentiate(float *scores, int64_t count) {
  float greatest = loops::findGreatest(scores, count);
  float shift = greatest == negativeInfinity ? 0.0f : greatest;
  return {shift, loops::shiftAndExponentiate(scores, count, shift)};
}

float shiftAndExponentiate(float *scores, int64_t count, float shift) {
  return loops::shiftAndExponentiate(scores, count, shift);
}

void capScores(float *scores, int64_t count, float softcap) {
  loops::capScores(scores, count, softcap);
}

float multiplyAlong(const float *a, const float *b, int64_t count) {
  return loops::multiplyAlong(a, b, count);
}

void differentiateSoftmax(const float *weights, float along, float *gradients, int64_t count) {
  loops::differentiateSoftmax(weights, along, gradients, count);
}

void differentiateCap(const float *capped, float softcap, float *gradients, int64_t count) {
  loops::differentiateCap(capped, softcap, gradients, count);
}

} // namespace weft::runtime

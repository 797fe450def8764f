#include "test/benchmark/cost/Pipeline.h"

#include <catch2/catch.hpp>

using namespace weft::benchmark;

static PipelineSpec makeSpec(int64_t stages, int64_t chunks, int64_t microbatches, double forward,
                             double backward) {
  auto links = static_cast<size_t>(stages * chunks);
  return {stages, chunks, microbatches, std::vector<double>(links, forward),
          std::vector<double>(links, backward)};
}

TEST_CASE("1F1B fills and drains once, and holds as many microbatches as stages are behind") {
  PipelineTrace trace = runPipeline(makeSpec(4, 1, 8, 1, 2));
  CHECK(trace.seconds == Approx((8 + 3) * 3));
  CHECK(trace.busiest == Approx(8 * 3));
  CHECK(trace.inFlight == std::vector<int64_t>{4, 3, 2, 1});
}

TEST_CASE("interleaving divides the bubble by the chunks") {
  PipelineTrace trace = runPipeline(makeSpec(4, 2, 8, 0.5, 1));
  CHECK(trace.seconds == Approx(8 * 3 + 3 * 1.5));
  CHECK(trace.inFlight[0] == 2 * 3 + 4 + 1);
}

TEST_CASE("recomputing in the backward: makespan of a published schedule") {
  CHECK(runPipeline(makeSpec(4, 1, 8, 1, 3)).seconds == Approx(44));
  CHECK(runPipeline(makeSpec(8, 1, 32, 1, 3)).seconds == Approx(156));
}

TEST_CASE("bubble of 1.5 billion parameters on eight stages, published for 1F1B") {
  PipelineSpec spec = makeSpec(8, 1, 24, 18.522, 18.086 + 9.337);
  spec.message = 0.601;
  spec.blocking = false;
  PipelineTrace trace = runPipeline(spec);
  CHECK(1 - trace.busiest / trace.seconds == Approx(0.2431).margin(0.001));
}

TEST_CASE("a message that blocks occupies its sender") {
  PipelineSpec spec = makeSpec(2, 1, 4, 1, 1);
  spec.message = 0.1;
  double blocking = runPipeline(spec).seconds;
  spec.blocking = false;
  CHECK(runPipeline(spec).seconds < blocking);
}

TEST_CASE("fewer microbatches than stages, and rounds that do not fill, finish") {
  CHECK(runPipeline(makeSpec(8, 1, 2, 1, 2)).busiest == Approx(2 * 3));
  CHECK(runPipeline(makeSpec(4, 3, 6, 1, 2)).busiest == Approx(3 * 6 * 3));
  double filled = runPipeline(makeSpec(8, 6, 32, 1, 2)).seconds;
  CHECK(runPipeline(makeSpec(8, 6, 36, 1, 2)).seconds == Approx(filled + 4 * 6 * 3));
}

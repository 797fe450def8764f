#include "test/unit/Validate/Rows.h"

using namespace weft::validate;

TEST_CASE("parts add up, and none is below nothing") {
  for (const char *cluster : {"dgx-a100", "dgx-h100"})
    for (StepRow row : {makeRow(cluster, 8, 8, 3, 1, 64), makeRow(cluster, 8, 8, 1, 16, 24),
                        makeRow(cluster, 8, 4, 6, 64, 12), makeRow(cluster, 8, 1, 1, 2, 2)}) {
      StepPrediction prediction = predict(row);
      INFO(cluster << ", pipeline " << row.pipeline << ", data " << row.data);
      CHECK(getSum(prediction) == Approx(prediction.seconds));
      for (double part : prediction.parts)
        CHECK(part >= -1e-9 * prediction.seconds);
      CHECK(prediction.memory > 0);
    }
}

TEST_CASE("gradients and weights hide beside computation, but for what has nothing beside it") {
  StepRow row = makeRow("dgx-h100", 8, 8, 12, 64, 24);
  row.overlapData = true;
  double hidden = predict(row).parts[Data];
  row.overlapData = false;
  double alone = predict(row).parts[Data];
  CHECK(alone > 0);
  CHECK(hidden < 0.35 * alone);
  // Of one chunk a rank less is left to hide beside than of many.
  row.overlapData = true;
  row.chunks = 1;
  CHECK(predict(row).parts[Data] >= hidden);
}

TEST_CASE("what hides costs what it takes of the processors") {
  StepRow row = makeRow("dgx-h100", 8, 1, 1, 2, 1);
  row.microBatch = 8;
  row.globalBatch = 16;
  row.overlapData = false;
  double alone = predict(row).parts[Data];
  row.overlapData = true;
  double loss = weft::CostConstants().overlapLoss;
  CHECK(predict(row).parts[Data] > 0.9 * loss * alone);
  CHECK(predict(row).parts[Data] < (loss + 0.1) * alone);
}

TEST_CASE("schedules by name") {
  StepRow row = makeRow("dgx-h100", 8, 8, 1, 1, 32);
  double plain = predict(row).parts[Pipeline];
  row.schedule = "zb-h1";
  CHECK(predict(row).parts[Pipeline] < plain);
  row.schedule = "gpipe";
  CHECK(predict(row).memory > 1.5 * predict(makeRow("dgx-h100", 8, 8, 1, 1, 32)).memory);
  row.schedule = "zb-v";
  CHECK_THROWS_WITH(predict(row), "expected 2 chunks of schedule zb-v, got: 1");
  row.chunks.reset();
  CHECK(predict(row).parts[Pipeline] < plain);
}

TEST_CASE("rounds of the interleaved schedule that do not fill save their work") {
  StepRow row = makeRow("dgx-a100", 8, 8, 6, 1, 32);
  double filled = predict(row).seconds;
  StepRow longer = makeRow("dgx-a100", 8, 8, 6, 1, 36);
  longer.globalBatch = 36;
  StepPrediction more = predict(longer);
  double work = more.seconds - more.parts[Pipeline] - more.parts[Optimizer] - more.parts[Data];
  CHECK(more.seconds == Approx(filled + 4 * work / 36).epsilon(0.01));
}

TEST_CASE("an optimizer's state that is sharded, and recomputation, leave memory") {
  StepRow row = makeRow("dgx-a100", 8, 8, 1, 8, 16);
  double memory = predict(row).memory;
  row.shardedOptimizer = true;
  CHECK(predict(row).memory < memory);
  row.recompute = weft::Recompute::Full;
  CHECK(predict(row).memory < 0.7 * memory);
}

TEST_CASE("later frameworks add up weight gradients in their products") {
  auto getGrowth = [](const char *cluster, Part part) {
    double two = predict(makeRow(cluster, 8, 1, 1, 1, 2)).parts[part];
    return two / (2 * predict(makeRow(cluster, 8, 1, 1, 1, 1)).parts[part]);
  };
  CHECK(getGrowth("dgx-a100", Streaming) > 1.2);
  CHECK(getGrowth("dgx-a100", Products) == Approx(1));
  CHECK(getGrowth("dgx-h100", Streaming) == Approx(1));
  CHECK(getGrowth("dgx-h100", Products) > 1.03);
}

TEST_CASE("products of 8 bits are not all of a step") {
  StepRow row = makeRow("dgx-h100", 8, 8, 1, 4, 64);
  StepPrediction wide = predict(row);
  row.dtype = "f8";
  StepPrediction narrow = predict(row);
  CHECK(narrow.parts[Products] > 0.5 * wide.parts[Products]);
  CHECK(narrow.parts[Streaming] > wide.parts[Streaming]); // casts
  CHECK(narrow.parts[Head] == Approx(wide.parts[Head]).epsilon(0.1));
  CHECK(narrow.parts[Data] < wide.parts[Data]); // gradients of 16 bits
  CHECK(narrow.seconds < 0.8 * wide.seconds);
}

TEST_CASE("a batch is done sooner, and less efficiently, by more devices, up to thousands") {
  double before = 0;
  for (int64_t data : {1, 4, 16, 121}) {
    StepRow row = makeRow("dgx-h100", 8, 12, 8, data, 2904 / data);
    row.globalBatch = 2904 - 2904 % (12 * data);
    row.dtype = "f8";
    StepPrediction prediction = predict(row);
    double flop = 6 * 175e9 * 2048 * static_cast<double>(row.globalBatch);
    double share = flop / (prediction.seconds * static_cast<double>(row.gpus) * 1979e12);
    INFO(row.gpus << " devices");
    CHECK(share < 0.6);
    CHECK(share > 0.25);
    CHECK(prediction.memory < 80e9);
    if (before > 0)
      CHECK(share < before);
    before = share;
  }
}

/// Llama 3 (Grattafiori et al. 2024), table 4: 430 and 400 TFLOP/s a device without context
/// parallelism. 6 FLOP a parameter and token; what attention needs besides counts as overhead.
TEST_CASE("a model of 405 billion parameters on thousands of devices is as published") {
  for (auto [data, published] : {std::pair{64, 430e12}, {128, 400e12}}) {
    StepRow row = makeRow("dgx-h100", 8, 16, 7, data, 2048 / data);
    row.model = "llama";
    row.hidden = 16384;
    row.layers = 126;
    row.heads = 128;
    row.sequence = 8192;
    row.vocabulary = 128256;
    row.feedForward = 53248;
    row.kvHeads = 8;
    double flop = 6 * 405e9 * 2048 * 8192;
    CHECK(flop / predict(row).seconds / static_cast<double>(row.gpus) ==
          Approx(published).epsilon(0.05));
  }
}

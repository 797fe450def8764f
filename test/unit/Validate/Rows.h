#ifndef WEFT_TEST_UNIT_VALIDATE_ROWS_H
#define WEFT_TEST_UNIT_VALIDATE_ROWS_H

#include "compiler/Validate/Validation.h"

#include <catch2/catch.hpp>
#include <fstream>

namespace weft::validate {

/// A transformer of 175 billion parameters on nodes of eight GPUs.
inline StepRow makeRow(const std::string &cluster, int64_t tensor, int64_t pipeline, int64_t chunks,
                       int64_t data, int64_t microbatches) {
  StepRow row;
  row.hidden = 12288;
  row.layers = 96;
  row.heads = 96;
  row.sequence = 2048;
  row.gpus = tensor * pipeline * data;
  row.cluster = cluster + ":" + std::to_string((row.gpus + 7) / 8);
  row.tensor = tensor;
  row.pipeline = pipeline;
  row.chunks = chunks;
  row.data = data;
  row.globalBatch = data * microbatches;
  row.sequenceParallel = true;
  row.dtype = "bf16";
  return row;
}

inline StepPrediction predict(const StepRow &row, std::set<Part> without = {}) {
  Clusters clusters;
  StepOptions options;
  options.without = std::move(without);
  return predictStep(row, clusters.get(row), options);
}

inline double getSum(const StepPrediction &prediction) {
  double sum = 0;
  for (double part : prediction.parts)
    sum += part;
  return sum;
}

} // namespace weft::validate

#endif // WEFT_TEST_UNIT_VALIDATE_ROWS_H

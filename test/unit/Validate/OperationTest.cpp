#include "compiler/Validate/OperationTable.h"
#include "test/unit/Validate/Rows.h"

using namespace weft::validate;

static OperationRow makeOperation(const std::string &name, int64_t tensor) {
  OperationRow row;
  row.model = "gpt";
  row.operation = name;
  row.hidden = 4096;
  row.feedForward = 16384;
  row.heads = 32;
  row.headSize = 128;
  row.sequence = 2048;
  row.vocabulary = 51200;
  row.microBatch = 4;
  row.tensor = tensor;
  return row;
}

static OperationTimes predict(const OperationRow &row) {
  Clusters clusters;
  return predictOperation(row, clusters.get("p3.16xlarge"), {}, {});
}

TEST_CASE("splitting an operation divides its work, and adds a collective where one is held") {
  OperationTimes whole = predict(makeOperation("enc-MLP-GEMM-1", 1));
  OperationTimes split = predict(makeOperation("enc-MLP-GEMM-1", 4));
  CHECK(split.forward == Approx(whole.forward / 4).epsilon(0.1));
  CHECK(split.backward > 1.1 * whole.backward / 4); // the input's gradient is summed
  whole = predict(makeOperation("enc-MLP-GEMM-2", 1));
  split = predict(makeOperation("enc-MLP-GEMM-2", 4));
  CHECK(split.forward > 1.1 * whole.forward / 4);
  CHECK(split.backward == Approx(whole.backward / 4).epsilon(0.1));
}

TEST_CASE("softmax of a batch that its kernel does not take is many passes") {
  OperationRow row = makeOperation("enc-attention-softmax", 1);
  row.microBatch = 1;
  double fused = predict(row).forward;
  row.heads = 30;
  CHECK(predict(row).forward > 5 * fused);
}

TEST_CASE("the decoder attends to itself, and to the encoder") {
  OperationRow row = makeOperation("dec-attention-score-1", 1);
  row.decoderSequence = 512;
  double self = predict(row).forward;
  row.operation = "dec-attention-score-2";
  CHECK(predict(row).forward > 3 * self);
  row.operation = "enc-attention-score";
  CHECK(predict(row).forward > 12 * self);
}

TEST_CASE("tiny operations take what the host takes") {
  OperationRow row = makeOperation("enc-1st-layernorm", 1);
  row.hidden = 64;
  row.sequence = 16;
  OperationProfiler profiler;
  CHECK(predict(row).forward == Approx(2 * profiler.call).epsilon(0.1));
}

TEST_CASE("an operation that is not known is named") {
  CHECK_THROWS_WITH(predict(makeOperation("enc-attention-what", 1)),
                    "no operation 'enc-attention-what'");
}

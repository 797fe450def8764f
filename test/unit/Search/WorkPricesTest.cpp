#include "compiler/Search/WorkPrices.h"

#include "test/unit/Cost/Clusters.h"
#include "test/unit/Sharding/Network.h"

using namespace weft;

namespace {
const CostConstants constants;

struct Prices : Network {
  DeviceModel device = getCluster("dgx-h100").groups.front().device;

  double price(unsigned node, FactorAxes axes, const NodeWork &work) const {
    axes.resize(graph.nodes[node].rule.factors.size());
    return getShardSeconds(graph, graph.nodes[node], work, axes, device, constants);
  }
};
const AxisList pair{{0, 1, 2}};
} // namespace

TEST_CASE_METHOD(Prices, "a product's shard costs what the cost library says of its extents") {
  dot(input({4096, 1024}), graph.addWeight({1024, 2048}, 4));
  NodeWork work{2.0 * 4096 * 1024 * 2048, "f16", 1};
  auto matmul = [&](int64_t m, int64_t n, int64_t k) {
    return getMatmulSeconds(device, {1, m, n, k, "f16"}, constants);
  };
  CHECK(price(0, {}, work) == matmul(4096, 2048, 1024));
  CHECK(price(0, {pair}, work) == matmul(2048, 2048, 1024));         // m
  CHECK(price(0, {{}, pair}, work) == matmul(4096, 2048, 512));      // k
  CHECK(price(0, {{}, {}, pair}, work) == matmul(4096, 1024, 1024)); // n
  AxisList three{{0, 1, 3}};
  CHECK(price(0, {{}, {}, three}, work) == matmul(4096, 683, 1024)); // padded: 3·683
}

TEST_CASE_METHOD(Prices, "what is no product costs what it writes, or its arithmetic") {
  unsigned x = input({4096, 1024});
  add(x, input({4096, 1024}));
  CHECK(price(0, {}, {}) == 4096.0 * 1024 * 4 / device.copy);
  CHECK(price(0, {pair}, {}) == 2048.0 * 1024 * 4 / device.copy);
  NodeWork heavy{1e15, "f16", 1};
  double whole = price(0, {}, heavy);
  CHECK(whole == Approx(1e15 / (device.getRate("f16").sustained * constants.flashForward)));
  CHECK(price(0, {pair}, heavy) == Approx(whole / 2));
  NodeWork gradients{1e15, "f16", 1, /*isOfGradients=*/true};
  CHECK(price(0, {}, gradients) * constants.flashBackward ==
        Approx(whole * constants.flashForward));
}

TEST_CASE_METHOD(Prices, "a kernel by itself costs what it streams") {
  unsigned x = input({4096, 1024});
  add(x, input({4096, 1024}));
  NodeWork work;
  work.isKernel = true;
  double bytes = 3 * 4096.0 * 1024 * 4;
  CHECK(price(0, {}, work) == getStreamSeconds(device, bytes, constants));
  CHECK(price(0, {pair}, work) == getStreamSeconds(device, bytes / 2, constants));
}

TEST_CASE_METHOD(Prices, "what moves elements of one operand is free") {
  unsigned x = input({4096, 1024});
  transpose(x);
  exp(x);
  CHECK(price(0, {}, {}) == 0);
  CHECK(price(1, {}, {}) == 0);              // fused with what makes its operand
  CHECK(price(1, {}, {1e12, "f32", 1}) > 0); // but not where it computes
}

TEST_CASE_METHOD(Prices, "blocks have the bytes of their longest ones") {
  dot(input({5, 8}), graph.addWeight({8, 6}, 2));
  FactorAxes axes(3);
  CHECK(getBlockBytes(graph, graph.nodes[0], 0, axes) == 5 * 8 * 4);
  CHECK(getBlockBytes(graph, graph.nodes[0], 1, axes) == 8 * 6 * 2);
  axes[0] = pair;
  CHECK(getBlockBytes(graph, graph.nodes[0], 0, axes) == 3 * 8 * 4);
  CHECK(getBlockBytes(graph, graph.nodes[0], 2, axes) == 3 * 6 * 4);
}

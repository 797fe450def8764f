#include "compiler/Cost/Compute.h"
#include "compiler/Cost/Overlap.h"
#include "test/unit/Cost/Clusters.h"

#include <set>

using namespace weft;

static const CostConstants constants;

static DeviceModel getA100() { return getCluster("dgx-a100").groups[0].device; }

static double getSeconds(int64_t m, int64_t n, int64_t k) {
  return getMatmulSeconds(getA100(), {1, m, n, k, "f16"}, constants);
}

TEST_CASE("the worked example of the documentation") {
  CHECK(getSeconds(2048, 4608, 12288) == Approx(0.92e-3).epsilon(0.01));
}

TEST_CASE("products are charged whole tiles, whole waves and aligned loads") {
  CHECK(getSeconds(2049, 4608, 12288) == Approx(getSeconds(2176, 4608, 12288)).epsilon(0.01));
  // 216 tiles fill A100 once; one row of tiles more starts another wave.
  CHECK(getSeconds(128 * 12, 128 * 19, 4096) > 1.2 * getSeconds(128 * 12, 128 * 18, 4096));
  CHECK(getSeconds(4096, 4100, 4096) > 1.5 * getSeconds(4096, 4096, 4096));
  CHECK(getSeconds(4096, 4099, 4096) > getSeconds(4096, 4100, 4096));
}

TEST_CASE("a shallow product is slower for its work, a thin one is bound by memory") {
  CHECK(16 * getSeconds(8192, 8192, 128) > 1.5 * getSeconds(8192, 8192, 2048));
  double bytes = 2 * (16384.0 * 16384 + 2 * 16384);
  CHECK(getSeconds(1, 16384, 16384) >= bytes / getA100().copy);
}

TEST_CASE("a result that is wider, or added to what is there, costs its depth") {
  DeviceModel device = getCluster("dgx-h100").groups[0].device;
  auto price = [&](const char *dtype, double resultBytes) {
    return getMatmulSeconds(device, {1, 12288, 12288, 2048, dtype, false, resultBytes}, constants);
  };
  double half = device.getRate("bf16").sustained / device.copy; // depth of 2 bytes
  CHECK(price("bf16", 2) == Approx(price("bf16", 0)));
  CHECK(price("bf16", 8) / price("bf16", 2) ==
        Approx((2048 + 4 * half) / (2048 + half)).epsilon(0.01));
  // Products of 8 bits write 16, which takes twice their time.
  half = device.getRate("f8").sustained / device.copy;
  CHECK(price("f8", 8) / price("f8", 0) == Approx((2048 + 4 * half) / (2048 + half)).epsilon(0.01));
}

TEST_CASE("no product is faster than the best seen") {
  DeviceModel device = getA100();
  for (int64_t size : {512, 1000, 4096, 32768}) {
    double flop = 2.0 * static_cast<double>(size) * static_cast<double>(size * size);
    CHECK(getSeconds(size, size, size) > flop / device.getRate("f16").seen);
  }
}

TEST_CASE("large products run at what the power limit sustains") {
  DeviceModel device = getCluster("dgx-h100").groups[0].device;
  CHECK(device.getRate("bf16").sustained < device.getRate("bf16").seen);
  double size = 32768, flop = 2 * size * size * size;
  CHECK(getMatmulSeconds(device, {1, 32768, 32768, 32768, "bf16"}, constants) ==
        Approx(flop / device.getRate("bf16").sustained).epsilon(0.02));
  CHECK(getA100().getRate("f16").sustained == getA100().getRate("f16").seen);
}

TEST_CASE("streaming approaches a share of the copy rate") {
  DeviceModel device = getA100();
  CHECK(getStreamSeconds(device, 1e10, constants) ==
        Approx(1e10 / (device.copy * constants.streamShare)).epsilon(0.01));
  CHECK(getStreamSeconds(device, 8e6, constants) ==
        Approx(2 * 8e6 / (device.copy * constants.streamShare)).epsilon(0.01));
  CHECK(getStreamSeconds(device, 0, constants) == 0);
}

TEST_CASE("fused attention backward computes the scores again") {
  FusedAttention attention{1, 16, 2048, 2048, 128, true, "bf16"};
  double forward = getAttentionForwardSeconds(getA100(), attention, constants);
  double backward = getAttentionBackwardSeconds(getA100(), attention, constants);
  CHECK(backward > 2.5 * forward);
  attention.causal = false;
  CHECK(getAttentionForwardSeconds(getA100(), attention, constants) > 1.8 * forward);
}

TEST_CASE("the slower of host and device decides") {
  CHECK(joinHostAndDevice(0, 5, constants) == Approx(5));
  CHECK(joinHostAndDevice(1, 10, constants) == Approx(10).epsilon(0.001));
  CHECK(joinHostAndDevice(5, 5, constants) == Approx(5 * std::pow(2, 0.25)));
  CHECK(getHostFloor(10, constants) == Approx(10 * constants.dispatch));
}

TEST_CASE("what overlaps is not free, and never dearer than in sequence") {
  double previous = 0;
  for (double communication = 0; communication < 3; communication += 0.01) {
    double exposed = getExposedSeconds(communication, 1, constants);
    CHECK(exposed <= communication);
    CHECK(exposed >= communication - 1);
    CHECK(exposed >= previous - 1e-12); // no step where one bound takes over from the other
    CHECK(exposed <= previous + 0.02);
    previous = exposed;
  }
}

TEST_CASE("few constants, each with a unit and a source, set by name") {
  CHECK(listConstants().size() <= 18);
  std::set<std::string> names;
  for (const ConstantInfo &info : listConstants()) {
    CHECK(names.insert(info.name).second);
    CHECK(std::string(info.unit) != "");
    CHECK(std::string(info.source) != "");
  }
  CostConstants changed;
  CHECK(setConstant(changed, "streamHalf", 1));
  CHECK(changed.streamHalf == 1);
  CHECK_FALSE(setConstant(changed, "streamhalf", 2));
}

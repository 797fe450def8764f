#include "compiler/Cost/Kernels.h"
#include "compiler/Cost/Compute.h"
#include "test/unit/Cost/Clusters.h"

using namespace weft;

TEST_CASE("a norm reads rows again that the cache does not hold") {
  DeviceModel v100 = getCluster("p3.16xlarge").groups[0].device;
  CHECK(getNormBytes(v100, 1e6, 2048, false) == 4e6);
  CHECK(getNormBytes(v100, 1e6, 5120, false) == 6e6);
  CHECK(getNormBytes(v100, 1e6, 5120, true) == 14e6);
  v100.cache.reset();
  CHECK(getNormBytes(v100, 1e6, 5120, false) == 4e6);
}

TEST_CASE("a causal softmax leaves out half, one of many passes writes each") {
  CHECK(getSoftmaxBytes(1e6, SoftmaxKernel::Causal, false) <
        getSoftmaxBytes(1e6, SoftmaxKernel::Masked, false));
  CHECK(getSoftmaxBytes(1e6, SoftmaxKernel::Unfused, true) >
        8 * getSoftmaxBytes(1e6, SoftmaxKernel::Masked, true));
}

TEST_CASE("one kernel moves less than its steps") {
  CHECK(getBiasDropoutAddBytes(1e6, true, false) < getBiasDropoutAddBytes(1e6, false, false));
  CHECK(getBiasDropoutAddBytes(1e6, true, false) < getBiasBytes(1e6, false) + 5e6 + 6e6);
}

TEST_CASE("products of the layout that a device is slow at") {
  DeviceModel v100 = getCluster("p3.16xlarge").groups[0].device;
  CostConstants constants;
  Matmul matmul{1, 8192, 8192, 8192, "f16", false};
  double other = getMatmulSeconds(v100, matmul, constants);
  matmul.depthMajor = true;
  CHECK(getMatmulSeconds(v100, matmul, constants) == Approx(other / 0.8).epsilon(0.01));
}

TEST_CASE("few tiles of a deep product are cut along its depth") {
  DeviceModel v100 = getCluster("p3.16xlarge").groups[0].device;
  CostConstants constants;
  double shallow = getMatmulSeconds(v100, {1, 512, 1024, 1024, "f16"}, constants);
  double deep = getMatmulSeconds(v100, {1, 512, 1024, 16384, "f16"}, constants);
  CHECK(deep < 10 * shallow);
  // Parts of a shallow one would cost more to add than they save.
  double few = getMatmulSeconds(v100, {1, 1024, 1024, 256, "f16"}, constants);
  double many = getMatmulSeconds(v100, {1, 2048, 1280, 256, "f16"}, constants);
  CHECK(few - v100.launch == Approx(many - v100.launch).epsilon(0.35));
}

TEST_CASE("small products add memory traffic to arithmetic") {
  DeviceModel v100 = getCluster("p3.16xlarge").groups[0].device;
  CostConstants constants;
  Matmul scores{64, 2048, 2048, 64, "f16"};
  double bytes = 2 * 64 * (2048.0 * 2048 + 2 * 2048 * 64), flop = 2 * 64 * 2048.0 * 2048 * 64;
  double rate = v100.getRate("f16").sustained * *v100.batched;
  CHECK(getProductSeconds(v100, scores, constants) ==
        Approx(flop / rate + bytes / v100.copy + v100.launch));
}

TEST_CASE("large products are done one after the other") {
  DeviceModel v100 = getCluster("p3.16xlarge").groups[0].device;
  CostConstants constants;
  Matmul one{1, 8192, 2048, 4096, "f16"}, eight = one;
  eight.batch = 8;
  CHECK(getProductSeconds(v100, one, constants) == getMatmulSeconds(v100, one, constants));
  CHECK(getProductSeconds(v100, eight, constants) ==
        Approx(8 * getMatmulSeconds(v100, one, constants)));
}

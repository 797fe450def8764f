#include "compiler/Cost/Instruction.h"
#include "compiler/Cost/Collectives.h"
#include "compiler/Cost/Compute.h"
#include "test/unit/Cost/Clusters.h"

using namespace weft;
using Kind = InstructionWork::Kind;

static const CostConstants constants;

static InstructionWork makeProduct(int64_t batch, int64_t m, int64_t n, int64_t k) {
  InstructionWork work;
  work.kind = Kind::Product;
  work.dtype = "f32";
  work.batch = batch;
  work.m = m;
  work.n = n;
  work.k = k;
  return work;
}

static InstructionWork makeKernel(double additions, double bytes) {
  InstructionWork work;
  work.additions = additions;
  work.bytesRead = bytes / 2;
  work.bytesWritten = bytes / 2;
  return work;
}

/// Of a host of so many cores, as the first of so many ranks has it.
static DeviceModel getPart(int64_t cores, int64_t ranks) {
  return shareHost(getCluster("cpu:" + std::to_string(cores)), ranks).groups[0].device;
}

static double getSeconds(const DeviceModel &device, const InstructionWork &work) {
  return getInstructionSeconds(device, work, constants);
}

TEST_CASE("a product costs what the matrix library takes, and each launch once") {
  DeviceModel device = getPart(1, 1);
  CHECK(getSeconds(device, makeProduct(1, 512, 512, 512)) ==
        Approx(getMatmulSeconds(device, {1, 512, 512, 512, "f32"}, constants)));
  CHECK(getFlop(makeProduct(3, 4, 5, 6)) == 2 * 3 * 4 * 5 * 6);
  InstructionWork nothing;
  CHECK(getSeconds(device, nothing) == Approx(device.launch));
}

TEST_CASE("a kernel takes the longer of its arithmetic and its memory") {
  DeviceModel device = getPart(1, 1);
  double rate = device.getRate("f32").seen;
  CHECK(getSeconds(device, makeKernel(1e9, 1e3)) == Approx(1e9 / rate + device.launch));
  CHECK(getSeconds(device, makeKernel(1, 1e9)) == Approx(1e9 / device.copy + device.launch));
  device.arithmetic = rate / 10;
  CHECK(getSeconds(device, makeKernel(1e9, 1e3)) == Approx(1e10 / rate + device.launch));
}

TEST_CASE("blocks that caches hold move faster, and rates between are between") {
  DeviceModel device = getPart(1, 1);
  auto getRate = [&](double bytes) { return bytes / getStreamSeconds(device, bytes, constants); };
  CHECK(getRate(1e3) == Approx(20e9));
  CHECK(getRate(1 << 20) == Approx(20e9));
  CHECK(getRate(2 << 20) == Approx(14e9)); // half way to four times the block, by its logarithm
  CHECK(getRate(4 << 20) == Approx(device.copy));
  CHECK(getRate(1e10) == Approx(device.copy));
  device.copies[1 << 22] = 10e9;
  CHECK(getRate(1 << 21) == Approx(15e9));
}

TEST_CASE("elements that lie alone cost their cache lines") {
  DeviceModel device = getPart(1, 1);
  InstructionWork copy;
  copy.kind = Kind::Copy;
  copy.bytesRead = copy.bytesWritten = 1e8;
  double along = getSeconds(device, copy);
  copy.runBytes = 128;
  CHECK(getSeconds(device, copy) == Approx(along));
  copy.runBytes = 4;
  CHECK(getSeconds(device, copy) == Approx(16 * along).epsilon(0.01));
}

TEST_CASE("devices with tiles transpose at the rate of a copy, but fetch whole lines") {
  DeviceModel device = getCluster("dgx-h100:1").groups[0].device;
  InstructionWork copy;
  copy.kind = Kind::Copy;
  copy.bytesRead = copy.bytesWritten = 1e9;
  double along = getSeconds(device, copy);
  copy.runBytes = 2; // transposed: rows on either side
  copy.readRun = copy.writtenRun = 4096;
  CHECK(getSeconds(device, copy) == Approx(along));
  copy.readRun = 2; // one element of each row
  CHECK(getSeconds(device, copy) == Approx(16.5 * along).epsilon(0.01));
}

TEST_CASE("convolutions are products at the share that the device reaches") {
  DeviceModel device = getPart(1, 1);
  InstructionWork product = makeProduct(1, 64, 3136, 576), convolution = product;
  convolution.kind = Kind::Convolution;
  CHECK(getSeconds(device, convolution) == Approx(getSeconds(device, product)));
  device.convolution = 0.5;
  CHECK(getSeconds(device, convolution) == Approx(2 * getSeconds(device, product) - device.launch));
}

TEST_CASE("attention is fused where there are tiles, else two products and the scores between") {
  InstructionWork attention = makeProduct(96, 1024, 1024, 64);
  attention.kind = Kind::Attention;
  DeviceModel core = getPart(1, 1);
  CHECK(getSeconds(core, attention) > 2 * getSeconds(core, makeProduct(96, 1024, 1024, 64)));
  DeviceModel gpu = getCluster("dgx-a100").groups[0].device;
  attention.dtype = "f16";
  FusedAttention fused{96, 1, 1024, 1024, 64, false, "f16"};
  CHECK(getSeconds(gpu, attention) == Approx(getAttentionForwardSeconds(gpu, fused, constants)));
}

TEST_CASE("attention's gradients are five products, fused where there are tiles") {
  InstructionWork attention = makeProduct(96, 1024, 1024, 64), backward = attention;
  attention.kind = Kind::Attention;
  backward.kind = Kind::AttentionBackward;
  CHECK(getFlop(backward) == Approx(2.5 * getFlop(attention)));
  DeviceModel core = getPart(1, 1);
  CHECK(getSeconds(core, backward) > 2 * getSeconds(core, attention));
  CHECK(getSeconds(core, backward) < 3 * getSeconds(core, attention));
  DeviceModel gpu = getCluster("dgx-a100").groups[0].device;
  backward.dtype = "f16";
  FusedAttention fused{96, 1, 1024, 1024, 64, false, "f16"};
  CHECK(getSeconds(gpu, backward) == Approx(getAttentionBackwardSeconds(gpu, fused, constants)));
}

TEST_CASE("ranks of a host divide its cores as the runtime does") {
  InstructionWork product = makeProduct(1, 2048, 2048, 2048);
  double alone = getSeconds(getPart(8, 8), product);
  CHECK(getSeconds(getPart(8, 4), product) == Approx(alone / 2).epsilon(0.01));
  CHECK(getSeconds(getPart(8, 3), product) == Approx(alone / 2).epsilon(0.01)); // two cores idle
  CHECK(getSeconds(getPart(8, 1), product) == Approx(alone / 8).epsilon(0.01));
  CHECK(getSeconds(getPart(2, 4), product) == Approx(alone * 2).epsilon(0.01)); // they take turns
  ClusterModel crowd = shareHost(getCluster("cpu:2"), 4);
  CHECK(crowd.getNumDevices() == 4);
  CHECK(crowd.groups[0].tiers[0].seen == Approx(2e9));
}

TEST_CASE("ranks that take turns communicate at the rates measured of such") {
  ClusterModel host = getCluster("cpu:2");
  host.crowded = {1e-3, 1e-4, 1e9};
  ClusterModel crowd = shareHost(host, 4);
  GroupShape shape = placeGroup(crowd.groups[0], 1, 4);
  CHECK(getCollectiveSeconds(crowd, crowd.groups[0], shape, CollectiveKind::AllGather, 4e9,
                             constants) == Approx(3 + 1e-3 + 3e-4).epsilon(0.01));
  CHECK(shareHost(host, 2).call == host.call);
  host.crowded->buffers = {{1e9, 2e9}, {4e9, 5e8}};
  crowd = shareHost(host, 4);
  CHECK(getCollectiveSeconds(crowd, crowd.groups[0], shape, CollectiveKind::AllGather, 4e9,
                             constants) == Approx(6 + 1e-3 + 3e-4).epsilon(0.01));
}

TEST_CASE("other clusters are as they are, whatever the number of ranks") {
  ClusterModel cluster = getCluster("dgx-a100:2"), shared = shareHost(cluster, 4);
  CHECK(shared.getNumDevices() == 16);
  CHECK(shared.groups[0].device.copy == cluster.groups[0].device.copy);
}

TEST_CASE("groups lie where their devices are") {
  GroupModel group = getCluster("dgx-a100:4").groups[0];
  std::vector<int64_t> across = {3, 11, 19, 27}, pair = {0, 1, 8, 9};
  GroupShape even = placeGroup(group, 8, 4);
  GroupShape shape = placeGroup(group, across);
  CHECK(shape.spread == even.spread);
  CHECK(shape.sharers == even.sharers);
  shape = placeGroup(group, pair);
  CHECK(shape.spread == std::vector<int64_t>{2, 2});
  CHECK(shape.sharers == std::vector<int64_t>{1, 4});
}

TEST_CASE("the parts of an instruction's seconds add up, none below zero, arithmetic at the peak") {
  for (const DeviceModel &device :
       {getCluster("dgx-h100:1").groups[0].device, getPart(8, 2), getPart(2, 4)})
    for (Kind kind :
         {Kind::Kernel, Kind::Product, Kind::Attention, Kind::AttentionBackward, Kind::Copy})
      for (int64_t size : {8, 512, 4096}) {
        InstructionWork work;
        work.kind = kind;
        work.m = work.n = size;
        work.k = 128;
        work.bytesRead = work.bytesWritten = static_cast<double>(4 * size * 128);
        work.additions = static_cast<double>(size * 128);
        WorkSeconds parts = splitInstructionSeconds(device, work, constants);
        CHECK(parts.arithmetic + parts.traffic + parts.kernel + parts.launch ==
              Approx(getSeconds(device, work)));
        CHECK(std::min({parts.arithmetic, parts.traffic, parts.kernel, parts.launch}) >= 0);
        if (kind == Kind::Product && size == 4096)
          CHECK(parts.arithmetic == Approx(getFlop(work) / device.getRate("f32").peak));
      }
}

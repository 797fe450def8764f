//===- ThreadsTest.cpp - results do not depend on the number of threads ---===//
//
// Run once for each instruction set of the product library (threads.test): it chooses its kernels,
// and the order of its sums, by set and by extents.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/ProductBlocks.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

using namespace weft::runtime;
namespace program = weft::program;

namespace {

using Shape = std::vector<int64_t>;

/// An operand and its bytes; floats of all magnitudes about 1, so that the order of a sum shows.
struct Tensor {
  View view;
  std::vector<std::byte> bytes;

  Tensor(uint32_t arena, DType dtype, const Shape &shape, uint32_t seed)
      : view{arena, 0, dtype, shape, getRowMajorStrides(shape)}, bytes(view.getNumBytes()) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < view.getNumElements(); ++i)
      put(i, std::ldexp(float(random()) / float(random.max()) - 0.5f, int(random() % 8)));
  }

  /// The last two dimensions lie the other way round.
  Tensor &transpose() {
    size_t last = view.shape.size() - 1;
    view.strides[last - 1] = 1;
    view.strides[last] = view.shape[last - 1];
    return *this;
  }

private:
  void put(int64_t index, float value) {
    auto store = [&](auto typed) {
      std::memcpy(bytes.data() + index * int64_t(sizeof(typed)), &typed, sizeof(typed));
    };
    if (view.dtype == program::F32)
      store(value);
    else
      store(view.dtype == program::F16 ? floatToHalf(value) : floatToBfloat(value));
  }
};

template <typename MakeAction>
void checkThreads(Tensor a, Tensor b, Tensor c, MakeAction makeAction) {
  limitLibraryThreads();
  std::vector<std::byte> expected;
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    makeAction(a.view, b.view, c.view)
        ->execute({a.bytes.data(), b.bytes.data(), c.bytes.data()}, pool);
    if (expected.empty())
      expected = c.bytes;
    INFO(threads << " threads");
    bool same = c.bytes == expected;
    CHECK(same);
  }
}

auto makeProduct = [](const View &a, const View &b, const View &c) {
  return makeGemmAction(a, b, c, /*accumulate=*/false);
};

void checkConv(const Shape &input, const Shape &kernel, const Shape &output, int64_t stride,
               int64_t pad, int64_t groups) {
  size_t spatial = input.size() - 2;
  Shape strides(spatial, stride), pads(spatial, pad), dilations(spatial, 1);
  checkThreads({0, program::F32, input, 1}, {1, program::F32, kernel, 2},
               {2, program::F32, output, 3}, [&](const View &a, const View &b, const View &c) {
                 return makeConvAction({a, b, c, strides, pads, pads, dilations, groups});
               });
}

void checkKernelGradient(const Shape &input, const Shape &kernel, const Shape &output,
                         int64_t stride, int64_t pad, int64_t groups) {
  size_t spatial = input.size() - 2;
  Shape strides(spatial, stride), pads(spatial, pad), dilations(spatial, 1);
  checkThreads({0, program::F32, input, 1}, {1, program::F32, output, 2},
               {2, program::F32, kernel, 3}, [&](const View &a, const View &b, const View &c) {
                 return makeConvAction({a, b, c, strides, pads, pads, dilations, groups,
                                        /*kernelGradient=*/true});
               });
}

} // namespace

TEST_CASE("products have the same bits on any number of threads") {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 768, 768},
                                                            {1, 1000, 3},
                                                            {8, 2304, 768},
                                                            {32, 503, 64},
                                                            {128, 128, 64},
                                                            {197, 768, 384},
                                                            {380, 380, 400},
                                                            {500, 90, 1000},
                                                            {1024, 50, 300},
                                                            {1024, 768, 96}})
    for (bool transposed : {false, true}) {
      INFO(m << " x " << n << " of depth " << k << (transposed ? " transposed" : ""));
      Tensor a(0, program::F32, {m, k}, 1), c(2, program::F32, {m, n}, 3);
      Tensor b(1, program::F32, {k, n}, 2);
      if (transposed)
        b.transpose();
      checkThreads(a, b, c, makeProduct);
      checkThreads(a, b, c.transpose(), makeProduct);
    }
}

TEST_CASE("narrow and batched products have the same bits on any number of threads") {
  for (DType dtype : {program::F16, program::BF16})
    checkThreads({0, dtype, {130, 257}, 1}, {1, dtype, {257, 390}, 2}, {2, dtype, {130, 390}, 3},
                 makeProduct);
  for (int64_t batch : {2, 3, 12})
    checkThreads({0, program::F32, {batch, 130, 64}, 1}, {1, program::F32, {batch, 64, 257}, 2},
                 {2, program::F32, {batch, 130, 257}, 3}, makeProduct);
}

TEST_CASE("convolutions have the same bits on any number of threads") {
  checkConv({1, 3, 64, 64}, {16, 3, 7, 7}, {1, 16, 32, 32}, 2, 3, 1);
  checkConv({3, 32, 28, 28}, {64, 32, 3, 3}, {3, 64, 28, 28}, 1, 1, 1);
  checkConv({1, 256, 7, 7}, {512, 256, 3, 3}, {1, 512, 7, 7}, 1, 1, 1);
  checkConv({1, 128, 28, 28}, {256, 128, 1, 1}, {1, 256, 28, 28}, 1, 0, 1);
  checkConv({8, 64, 7, 7}, {256, 64, 1, 1}, {8, 256, 7, 7}, 1, 0, 1);
  checkConv({2, 32, 20, 20}, {32, 1, 3, 3}, {2, 32, 20, 20}, 1, 1, 32);
  checkConv({1, 8, 6, 10, 10}, {8, 8, 3, 3, 3}, {1, 8, 6, 10, 10}, 1, 1, 1);
}

TEST_CASE("gradients of kernels have the same bits on any number of threads") {
  checkKernelGradient({1, 3, 64, 64}, {16, 3, 7, 7}, {1, 16, 32, 32}, 2, 3, 1);
  checkKernelGradient({3, 32, 28, 28}, {64, 32, 3, 3}, {3, 64, 28, 28}, 1, 1, 1);
  checkKernelGradient({2, 128, 28, 28}, {256, 128, 1, 1}, {2, 256, 28, 28}, 1, 0, 1);
  checkKernelGradient({2, 32, 20, 20}, {32, 1, 3, 3}, {2, 32, 20, 20}, 1, 1, 32);
  checkKernelGradient({1, 8, 6, 10, 10}, {8, 8, 3, 3, 3}, {1, 8, 6, 10, 10}, 1, 1, 1);
}

TEST_CASE("blocks cover the result and leave work to share") {
  ProductBlocks square = chooseBlocks(1, 1024, 768, 768), row = chooseBlocks(1, 1, 768, 768);
  CHECK((square.rows == 256 && square.columns == 384 && square.getCount() == 8));
  CHECK((row.rows == 1 && row.columns == 384 && row.getCount() == 2));
  CHECK(chooseBlocks(96, 128, 128, 64).getCount() == 1); // heads are enough
  CHECK(chooseBlocks(1, 128, 50257, 768).getCount() >= 16);
  ProductBlocks deep =
      chooseBlocks(1, 1024, 768, 30522); // many, but none so thin that packing shows
  CHECK((deep.getCount() >= 32 && deep.rows >= 128 && deep.columns >= 192));
  CHECK(chooseBlocks(1, 0, 5, 7).getCount() == 0);
  CHECK(chooseBlocks(1, 1, 8192, 2048, {.readsColumns = true}).getCount() >= 16);
  CHECK(chooseBlocks(1, 1024, 50257, 768, {.goodRows = 512}).rows >= 512);
  CHECK(chooseBlocks(1, 1000, 100, 512, {.goodRows = 512}).getCount() >= 2); // by rows, if need be
  for (int64_t rows : {1, 7, 63, 100, 129, 1024, 4097})
    for (int64_t columns : {1, 48, 95, 193, 503, 50257})
      for (int64_t depth : {1, 64, 3072}) {
        ProductBlocks blocks = chooseBlocks(2, rows, columns, depth, {.maxColumns = 1000});
        CHECK((blocks.rowBlocks - 1) * blocks.rows < rows);
        CHECK(blocks.rowBlocks * blocks.rows >= rows);
        CHECK((blocks.columnBlocks - 1) * blocks.columns < columns);
        CHECK(blocks.columnBlocks * blocks.columns >= columns);
        CHECK(blocks.columns <= 1008);
      }
}

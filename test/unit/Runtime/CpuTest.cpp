//===- CpuTest.cpp - actions of the CPU against plain loops ---------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/Kernels.h"
#include "runtime/Support/Error.h"
#include "test/unit/Runtime/Fixture.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

using namespace weft::runtime;
namespace program = weft::program;
namespace test = weft::test;

namespace {

using Index = std::vector<int64_t>;

int64_t getCount(const Index &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// A view of `shape` whose dimensions lie in `order`, major first, at the start of an arena.
View makeView(uint32_t arena, DType dtype, const Index &shape, Index order = {}) {
  View view{arena, 0, dtype, shape, Index(shape.size())};
  for (size_t i = order.size(); i < shape.size(); ++i)
    order.push_back(static_cast<int64_t>(i));
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0; step *= shape[order[i]])
    view.strides[order[i]] = step;
  return view;
}

int64_t getOffset(const View &view, int64_t element) {
  int64_t offset = 0;
  for (size_t dim = view.shape.size(); dim-- > 0; element /= view.shape[dim])
    offset += element % view.shape[dim] * view.strides[dim];
  return offset;
}

double get(const View &view, const Bases &bases, int64_t element) {
  return readAsDouble(view.dtype, view.getAddress(bases), getOffset(view, element));
}

void put(const View &view, const Bases &bases, int64_t element, int value) {
  std::byte *to = view.getAddress(bases) + getOffset(view, element) * getElementSize(view.dtype);
  auto store = [&](auto typed) { std::memcpy(to, &typed, sizeof(typed)); };
  switch (view.dtype) {
  case program::F16:
    return store(floatToHalf(static_cast<float>(value)));
  case program::BF16:
    return store(floatToBfloat(static_cast<float>(value)));
  case program::F32:
    return store(static_cast<float>(value));
  case program::F64:
    return store(static_cast<double>(value));
  case program::I8:
    return store(static_cast<int8_t>(value));
  default:
    return store(static_cast<int64_t>(value));
  }
}

/// Arenas of bytes with small whole numbers, exact in every type and order of summing.
struct Memory {
  explicit Memory(size_t count = 3, size_t bytes = 1 << 20)
      : arenas(count, std::vector<std::byte>(bytes)) {
    for (auto &arena : arenas)
      bases.push_back(arena.data());
  }

  std::vector<std::vector<std::byte>> arenas;
  Bases bases;

  void fill(const View &view, int seed) {
    std::mt19937 random(seed);
    for (int64_t i = 0; i < getCount(view.shape); ++i)
      put(view, bases, i, static_cast<int>(random() % 5) - 2);
  }
};

void checkGemm(DType dtype, const View &a, const View &b, const View &c, bool accumulate,
               ThreadPool &pool) {
  Memory memory;
  memory.fill(a, 1);
  memory.fill(b, 2);
  memory.fill(c, 3);
  size_t rank = c.shape.size();
  int64_t m = c.shape[rank - 2], n = c.shape[rank - 1], depth = a.shape[rank - 1];
  std::vector<double> expected;
  for (int64_t i = 0; i < getCount(c.shape); ++i) {
    int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    double sum = accumulate ? get(c, memory.bases, i) : 0;
    for (int64_t k = 0; k < depth; ++k)
      sum += get(a, memory.bases, (batch * m + row) * depth + k) *
             get(b, memory.bases, (batch * depth + k) * n + column);
    expected.push_back(sum);
  }
  makeGemmAction(a, b, c, accumulate)->execute(memory.bases, pool);
  for (int64_t i = 0; i < getCount(c.shape); ++i)
    if (get(c, memory.bases, i) != expected[i])
      FAIL("element " << i << " of type " << getName(dtype) << ": " << get(c, memory.bases, i)
                      << " instead of " << expected[i]);
}

} // namespace

TEST_CASE("the pool covers a range once and hands on exceptions") {
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.parallelFor(count, 4, [&](int64_t lo, int64_t hi) {
        for (int64_t i = lo; i < hi; ++i)
          ++seen[i];
      });
      CHECK(std::all_of(seen.begin(), seen.end(), [](auto &times) { return times == 1; }));
    }
    CHECK_THROWS_WITH(pool.parallelFor(100, 1,
                                       [](int64_t lo, int64_t hi) {
                                         if (lo <= 50 && 50 < hi)
                                           throw std::runtime_error("fifty");
                                       }),
                      "fifty");
  }
}

TEST_CASE("products of every type and layout") {
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    for (DType dtype :
         {program::F32, program::F16, program::BF16, program::F64, program::I8, program::I64})
      for (bool accumulate : {false, true}) {
        View a = makeView(0, dtype, {5, 7}), b = makeView(1, dtype, {7, 9}),
             c = makeView(2, dtype, {5, 9});
        checkGemm(dtype, a, b, c, accumulate, pool);
        checkGemm(dtype, makeView(0, dtype, {5, 7}, {1, 0}), makeView(1, dtype, {7, 9}, {1, 0}), c,
                  accumulate, pool);
        checkGemm(dtype, a, b, makeView(2, dtype, {5, 9}, {1, 0}), accumulate, pool);
      }
  }
}

TEST_CASE("products of a few rows by matrices that lie either way") {
  ThreadPool pool(2);
  for (DType dtype : {program::F32, program::BF16})
    for (int64_t rows : {1, 2, 3, 5, 8, 12, 16, 17})
      for (int64_t depth : {31, 32, 131})
        for (int64_t columns : {15, 16, 63, 300})
          for (Index order : {Index{}, Index{1, 0}}) {
            View b = makeView(1, dtype, {depth, columns}, order),
                 c = makeView(2, dtype, {rows, columns});
            bool accumulate = (rows + columns) % 2;
            checkGemm(dtype, makeView(0, dtype, {rows, depth}), b, c, accumulate, pool);
            if (columns == 63 && dtype == program::F32)
              checkGemm(dtype, makeView(0, dtype, {rows, depth}, {1, 0}), b, c, accumulate, pool);
          }
}

TEST_CASE("products of a few rows by vectors of either width") {
  auto getFloats = [](int64_t count, int64_t modulus) {
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % modulus - modulus / 2);
    return values;
  };
  auto getMatrix = [](std::vector<float> &values, int64_t rows, int64_t columns) {
    return Matrix{reinterpret_cast<std::byte *>(values.data()), rows, columns, columns, 1};
  };
  for (int64_t rows = 1; rows <= 16; ++rows)
    for (bool isTransposed : {false, true}) {
      int64_t depth = 83, columns = 70;
      std::vector<float> left = getFloats(rows * depth, 7), right = getFloats(depth * columns, 11);
      Matrix a = getMatrix(left, rows, depth), b = getMatrix(right, depth, columns);
      if (isTransposed)
        b = getMatrix(right, columns, depth).transposed();
      std::vector<float> expected(rows * columns, 1.0f), result = expected;
      for (int64_t i = 0; i < rows * columns; ++i)
        for (int64_t k = 0; k < depth; ++k)
          expected[i] +=
              left[i / columns * depth + k] * right[k * b.rowStride + i % columns * b.columnStride];
      Matrix c = getMatrix(result, rows, columns);
      if (!isOfFewRows(a, b, c))
        continue;
      multiplyFewRows(a, b, c, /*accumulate=*/true, /*areWide=*/false);
      CHECK(result == expected);
      if (hasWideVectors()) {
        multiplyFewRows(a, b, c, /*accumulate=*/false);
        multiplyFewRows(a, b, c, /*accumulate=*/true);
        CHECK(result[0] == 2 * (expected[0] - 1));
      }
    }
}

TEST_CASE("factors of 16 bits are widened once for all columns") {
  ThreadPool pool(2);
  for (DType dtype : {program::F16, program::BF16})
    for (bool accumulate : {false, true}) {
      View a = makeView(0, dtype, {2, 70, 32}), b = makeView(1, dtype, {2, 32, 1600});
      b.strides[0] = 0;
      checkGemm(dtype, a, b, makeView(2, dtype, {2, 70, 1600}), accumulate, pool);
      View transposed = makeView(1, dtype, {2, 32, 1600}, {0, 2, 1});
      transposed.strides[0] = 0;
      checkGemm(dtype, makeView(0, dtype, {2, 70, 32}, {2, 0, 1}), transposed,
                makeView(2, dtype, {2, 70, 1600}, {2, 0, 1}), accumulate, pool);
    }
}

TEST_CASE("batches: merged into rows, strided heads, broadcasts, no unit stride") {
  ThreadPool pool(2);
  DType type = GENERATE(program::F32, program::F64, program::BF16);
  View weight = makeView(1, type, {3, 16, 200});
  weight.strides[0] = 0;
  checkGemm(type, makeView(0, type, {3, 70, 16}), weight, makeView(2, type, {3, 70, 200}), false,
            pool);
  // Heads of [batch, sequence, head, feature].
  View q = makeView(0, type, {2, 4, 6, 8}, {0, 2, 1, 3});
  View k = makeView(1, type, {2, 4, 8, 6}, {0, 3, 1, 2});
  checkGemm(type, q, k, makeView(2, type, {2, 4, 6, 6}), false, pool);
  View v = makeView(1, type, {2, 4, 6, 8}, {0, 2, 1, 3});
  v.strides[1] = 0; // one head for all
  checkGemm(type, makeView(0, type, {2, 4, 6, 6}), v, makeView(2, type, {2, 4, 6, 8}, {0, 2, 1, 3}),
            true, pool);
  View odd = makeView(0, type, {6, 8});
  odd.strides = {16, 2};
  checkGemm(type, odd, makeView(1, type, {8, 5}), makeView(2, type, {6, 5}), false, pool);
  View spread = makeView(2, type, {6, 5});
  spread.strides = {10, 2};
  checkGemm(type, odd, makeView(1, type, {8, 5}), spread, true, pool);
  checkGemm(type, makeView(0, type, {6, 0}), makeView(1, type, {0, 5}), makeView(2, type, {6, 5}),
            false, pool);
  checkGemm(type, makeView(0, type, {1, 8}), makeView(1, type, {8, 1}), makeView(2, type, {1, 1}),
            false, pool);
  checkGemm(type, makeView(0, type, {0, 6, 8}), makeView(1, type, {0, 8, 5}),
            makeView(2, type, {0, 6, 5}), false, pool);
  CHECK_THROWS_AS(makeGemmAction(odd, odd, odd, false), Error);
}

TEST_CASE("products by a matrix that lies by columns are shared out among threads") {
  ThreadPool pool(3);
  for (int64_t rows : {0, 13, 100, 144})
    for (bool accumulate : {false, true})
      checkGemm(program::F32, makeView(0, program::F32, {rows, 256}),
                makeView(1, program::F32, {256, 600}, {1, 0}),
                makeView(2, program::F32, {rows, 600}), accumulate, pool);
}

/// How the operands of a convolution lie: `ChannelsLast` as [n, spatial…, c], the kernel row-major.
enum class Layout { RowMajor, Permuted, ChannelsLast, InputChannelsLast, OutputChannelsLast };

TEST_CASE("convolutions by the library equal plain ones in double") {
  struct Case {
    Index input, kernel, output;
    int64_t stride, low, high, dilation, groups;
  };
  std::vector<Case> cases = {
      {{2, 3, 8, 8}, {4, 3, 2, 2}, {2, 4, 4, 4}, 2, 0, 0, 1, 1},
      {{1, 4, 9, 7}, {6, 2, 3, 3}, {1, 6, 9, 7}, 1, 1, 1, 1, 2},
      {{1, 2, 10}, {5, 2, 3}, {1, 5, 7}, 1, 1, 0, 2, 1},
      {{3, 1, 5, 5, 5}, {2, 1, 2, 2, 2}, {3, 2, 4, 4, 4}, 1, 0, 0, 1, 1},
      // Enough channels for oneDNN's own kernels: cut into parts, odd ones, strided, dilated.
      {{1, 32, 9, 9}, {256, 32, 3, 3}, {1, 256, 9, 9}, 1, 1, 1, 1, 1},
      {{3, 5, 10, 9}, {19, 5, 3, 3}, {3, 19, 5, 5}, 2, 1, 1, 1, 1},
      {{2, 17, 12}, {64, 17, 3}, {2, 64, 9}, 1, 1, 0, 2, 1},
      {{8, 64, 7, 7}, {48, 64, 1, 1}, {8, 48, 7, 7}, 1, 0, 0, 1, 1},
      {{2, 3, 6, 7, 8}, {32, 3, 3, 3, 3}, {2, 32, 4, 5, 6}, 1, 0, 0, 1, 1},
      // Rows for several threads, and more than a cache holds: cut into bands, the last one
      // smaller.
      {{1, 16, 33, 20}, {32, 16, 3, 2}, {1, 32, 33, 21}, 1, 1, 1, 1, 1},
      {{1, 3, 140, 130}, {32, 3, 5, 5}, {1, 32, 70, 65}, 2, 2, 1, 1, 1},
      {{1, 16, 600}, {32, 16, 3}, {1, 32, 596}, 1, 0, 0, 2, 1},
      // Products by panels, where channels are last: points, windows over the edges, dilated.
      {{2, 16, 15, 14}, {80, 16, 1, 1}, {2, 80, 8, 7}, 2, 0, 0, 1, 1},
      {{2, 24, 14, 13}, {64, 24, 3, 2}, {2, 64, 7, 7}, 2, 1, 1, 1, 1},
      {{1, 16, 12, 12}, {64, 16, 3, 3}, {1, 64, 5, 5}, 2, 0, 1, 2, 1},
  };
  for (int threads : {1, 2})
    for (const Case &each : cases)
      for (Layout layout : {Layout::RowMajor, Layout::Permuted, Layout::ChannelsLast,
                            Layout::InputChannelsLast, Layout::OutputChannelsLast}) {
        ThreadPool pool(threads);
        size_t spatial = each.input.size() - 2;
        Index permuted = layout == Layout::Permuted ? Index{1, 0} : Index{}, last{0};
        for (size_t dim = 2; dim < each.input.size(); ++dim)
          last.push_back(static_cast<int64_t>(dim));
        last.push_back(1);
        bool inputLast = layout == Layout::ChannelsLast || layout == Layout::InputChannelsLast;
        bool outputLast = layout == Layout::ChannelsLast || layout == Layout::OutputChannelsLast;
        ConvCall conv{{},
                      {},
                      {},
                      Index(spatial, each.stride),
                      Index(spatial, each.low),
                      Index(spatial, each.high),
                      Index(spatial, each.dilation),
                      each.groups,
                      /*kernelGradient=*/false,
                      /*isKernelConstant=*/layout == Layout::ChannelsLast};
        std::vector<double> results[2];
        for (int wide : {0, 1}) {
          DType dtype = wide ? program::F64 : program::F32;
          conv.input = makeView(0, dtype, each.input, inputLast ? last : permuted);
          conv.kernel = makeView(1, dtype, each.kernel, permuted);
          conv.output = makeView(2, dtype, each.output, outputLast ? last : permuted);
          Memory memory(3, 1 << 21);
          memory.fill(conv.input, 1);
          memory.fill(conv.kernel, 2);
          auto action = makeConvAction(conv);
          for (int again = 0; again < 2; ++again)
            action->execute(memory.bases, pool);
          for (int64_t i = 0; i < getCount(each.output); ++i)
            results[wide].push_back(get(conv.output, memory.bases, i));
        }
        CHECK(results[0] == results[1]);
      }
}

TEST_CASE("kernels follow convolutions, in whatever pieces these are computed") {
  test::TemporaryFolder folder;
  test::writeFixture(folder.getPath(), {1, 1});
  KernelLibrary kernels;
  kernels.load(folder / "mlp.weft/kernels/cpu.so");
  struct Case {
    Index input, kernel, output;
    int64_t stride, pad, groups;
  };
  const Case cases[] = {
      {{1, 16, 33, 20}, {32, 16, 3, 3}, {1, 32, 33, 20}, 1, 1, 1}, // bands of rows
      {{2, 3, 90, 70}, {64, 3, 1, 1}, {2, 64, 90, 70}, 1, 0, 1},   // that fit a cache
      {{1, 64, 5, 5}, {256, 64, 3, 3}, {1, 256, 5, 5}, 1, 1, 1},   // parts of the channels
      {{9, 16, 6, 6}, {16, 16, 3, 3}, {9, 16, 3, 3}, 2, 1, 1},     // images
      {{2, 16, 33, 20}, {32, 16, 3, 3}, {2, 32, 33, 20}, 1, 1, 1}, // Winograd's, of rows
      {{9, 16, 12, 12}, {16, 16, 3, 3}, {9, 16, 12, 12}, 1, 1, 1}, // Winograd's, of images
      {{2, 16, 13, 11}, {64, 16, 3, 3}, {2, 64, 7, 6}, 2, 1, 1},   // products by panels
      {{3, 6, 7, 9}, {4, 3, 3, 2}, {3, 4, 7, 10}, 1, 1, 2},        // groups, no kernel of oneDNN
  };
  for (const Case &each : cases)
    for (Index order : {Index{}, Index{0, 2, 3, 1}, Index{1, 0}})
      for (int64_t tile : {7, 64, 1000, 1 << 20}) {
        int64_t count = getCount(each.output), row = tile == 64 ? count / each.output[0] : count;
        tile = std::min(tile, row);
        ConvCall conv{makeView(0, program::F32, each.input, order),
                      makeView(1, program::F32, each.kernel),
                      makeView(2, program::F32, each.output, order),
                      Index(2, each.stride),
                      Index(2, each.pad),
                      Index(2, each.pad),
                      Index(2, 1),
                      each.groups};
        conv.isKernelConstant = tile != 64;
        if (each.groups == 2)
          conv.high[1] = 1;
        View other = makeView(3, program::F32, {count});
        Memory memory(4, 1 << 22);
        memory.fill(conv.input, 1);
        memory.fill(conv.kernel, 2);
        memory.fill(conv.output, 3);
        memory.fill(other, 4);
        ThreadPool pool(2);
        makeConvAction(conv)->execute(memory.bases, pool);
        std::vector<float> expected(count), got(count);
        std::byte *output = conv.output.getAddress(memory.bases);
        std::memcpy(expected.data(), output, count * sizeof(float));
        for (int64_t i = 0; i < count; ++i)
          expected[i] = 2 * expected[i] + static_cast<float>(get(other, memory.bases, i));
        int64_t tiles = count / row * ((row - 1) / tile + 1);
        conv.epilogue = EpilogueCall{
            {"double_and_add", {conv.output, other, conv.output}, {row, tile}, tiles, 1, {}},
            tile,
            row};
        auto action = makeConvAction(conv);
        action->initialise(kernels);
        action->execute(memory.bases, pool);
        std::memcpy(got.data(), output, count * sizeof(float));
        CHECK(got == expected);
        conv.epilogue->launch.tiles += 1;
        CHECK_THROWS_AS(makeConvAction(conv), Error);
        conv.epilogue->tile = row + 1;
        CHECK_THROWS_AS(makeConvAction(conv), Error);
      }
}

TEST_CASE("copies and fills of strided operands") {
  std::mt19937 random(3);
  ThreadPool pool(2);
  for (int round = 0; round < 300; ++round) {
    Memory memory;
    Index shape, order;
    for (size_t i = 0, rank = random() % 5; i < rank; ++i) {
      shape.push_back(1 + random() % 8);
      order.push_back(static_cast<int64_t>(i));
    }
    DType dtype = random() % 2 ? program::F32 : program::I8;
    std::shuffle(order.begin(), order.end(), random);
    View from = makeView(0, dtype, shape, order);
    std::shuffle(order.begin(), order.end(), random);
    View to = makeView(1, dtype, shape, order);
    if (!shape.empty() && random() % 4 == 0)
      from.strides[random() % shape.size()] = 0;
    memory.fill(from, round);
    makeCopyAction(from, to)->execute(memory.bases, pool);
    bool same = true;
    for (int64_t i = 0; i < getCount(shape); ++i)
      same &= get(from, memory.bases, i) == get(to, memory.bases, i);
    REQUIRE(same);
    std::string value(getElementSize(dtype), '\1');
    makeFillAction(to, value)->execute(memory.bases, pool);
    for (int64_t i = 0; i < getCount(shape); ++i)
      same &= get(to, memory.bases, i) == readAsDouble(dtype, value.data(), 0);
    REQUIRE(same);
  }
}

TEST_CASE("a part of a tensor moves within it") {
  std::mt19937 random(5);
  ThreadPool pool(2);
  for (int round = 0; round < 200; ++round) {
    Index shape, order;
    for (size_t i = 0, rank = 1 + random() % 4; i < rank; ++i) {
      shape.push_back(2 + random() % 7);
      order.push_back(static_cast<int64_t>(i));
    }
    std::shuffle(order.begin(), order.end(), random);
    Memory memory;
    View whole = makeView(0, random() % 2 ? program::F32 : program::I8, shape, order);
    memory.fill(whole, round);
    size_t axis = random() % shape.size();
    int64_t by = 1 + static_cast<int64_t>(random() % (shape[axis] - 1));
    View from = whole, to = whole;
    from.shape[axis] = to.shape[axis] = shape[axis] - by;
    (round % 2 ? from : to).offset += by * whole.strides[axis] * getElementSize(whole.dtype);
    std::vector<double> expected;
    for (int64_t i = 0; i < getCount(from.shape); ++i)
      expected.push_back(get(from, memory.bases, i));
    makeCopyAction(from, to)->execute(memory.bases, pool);
    std::vector<double> got;
    for (int64_t i = 0; i < getCount(to.shape); ++i)
      got.push_back(get(to, memory.bases, i));
    REQUIRE(got == expected);
  }
}

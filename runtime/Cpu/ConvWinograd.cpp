//===- ConvWinograd.cpp - convolutions by Winograd's algorithm ------------===//

#include "runtime/Cpu/ConvWinograd.h"

#include "runtime/Cpu/FewRows.h"
#include "runtime/Cpu/PanelProduct.h"
#include "runtime/Cpu/Reorder.h"

#include <algorithm>
#include <map>
#include <string>

namespace weft::runtime {

namespace {

constexpr int64_t window = 3;                    ///< a side of the kernel
constexpr int64_t side = 4;                      ///< of a tile of the output
constexpr int64_t inputSide = side + window - 1; ///< of what a tile is made of
constexpr int64_t taps = window * window;
constexpr int64_t outputs = side * side;
constexpr int64_t points = inputSide * inputSide; ///< products of a tile

using Vector __attribute__((aligned(4), may_alias)) = float __attribute__((vector_size(64)));
constexpr int64_t lanes = sizeof(Vector) / sizeof(float);

//===----------------------------------------------------------------------===//
// Changes of basis
//===----------------------------------------------------------------------===//
//
// A row of the kernel is a polynomial of degree 2, a row of outputs one of degree 3: their product
// is known by its values at 0, ±a, ±b and its leading coefficient. The transposed algorithm, with
// M(x) = x (x² - a²) (x² - b²), is the convolution:
//
//   inputs:  rows M(x) / (x - p) for each point p, and M(x)
//   kernel:  (1, p, p²) / M'(p), and (0, 0, 1)
//   outputs: the powers of p, and (0, 0, 0, 1)
//
// Rounding errors are least where the points are neither near each other nor far from ±1.

constexpr float a = 0.625f, b = 1.5f;
constexpr float a2 = a * a, b2 = b * b;

/// Six inputs, `step` apart, to the points.
__attribute__((always_inline)) inline void changeInput(const Vector *from, int64_t step,
                                                       Vector *to) {
  const Vector &d0 = from[0], &d1 = from[step], &d2 = from[2 * step], &d3 = from[3 * step],
               &d4 = from[4 * step], &d5 = from[5 * step];
  Vector evenA = d4 - b2 * d2, oddA = a * (d3 - b2 * d1);
  Vector evenB = d4 - a2 * d2, oddB = b * (d3 - a2 * d1);
  to[0] = d4 - (a2 + b2) * d2 + a2 * b2 * d0;
  to[1] = evenA + oddA;
  to[2] = evenA - oddA;
  to[3] = evenB + oddB;
  to[4] = evenB - oddB;
  to[5] = d5 - (a2 + b2) * d3 + a2 * b2 * d1;
}

/// Three elements of a kernel, `step` apart, to the points.
__attribute__((always_inline)) inline void changeKernel(const Vector *from, int64_t step,
                                                        Vector *to) {
  constexpr float scale0 = 1 / (a2 * b2), scaleA = 1 / (2 * a2 * (a2 - b2)),
                  scaleB = 1 / (2 * b2 * (b2 - a2));
  const Vector &g0 = from[0], &g1 = from[step], &g2 = from[2 * step];
  to[0] = scale0 * g0;
  to[1] = scaleA * (g0 + a2 * g2 + a * g1);
  to[2] = scaleA * (g0 + a2 * g2 - a * g1);
  to[3] = scaleB * (g0 + b2 * g2 + b * g1);
  to[4] = scaleB * (g0 + b2 * g2 - b * g1);
  to[5] = g2;
}

/// The points, `step` apart, to four outputs.
__attribute__((always_inline)) inline void changeOutput(const Vector *from, int64_t step,
                                                        Vector *to) {
  Vector evenA = from[step] + from[2 * step], oddA = from[step] - from[2 * step];
  Vector evenB = from[3 * step] + from[4 * step], oddB = from[3 * step] - from[4 * step];
  to[0] = from[0] + evenA + evenB;
  to[1] = a * oddA + b * oddB;
  to[2] = a2 * evenA + b2 * evenB;
  to[3] = a2 * a * oddA + b2 * b * oddB + from[5 * step];
}

#define WEFT_CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))

/// Inputs of a tile, each with `channels`, to points that lie `step` apart.
WEFT_CLONED void loadTile(const float *const (&from)[points], int64_t channels, float *to,
                          int64_t step) {
  for (int64_t channel = 0; channel < channels; channel += lanes) {
    Vector tile[points], columns[points], line[inputSide];
    for (int64_t i = 0; i < points; ++i)
      tile[i] = *reinterpret_cast<const Vector *>(from[i] + channel);
    for (int64_t x = 0; x < inputSide; ++x)
      changeInput(tile + x, inputSide, columns + x * inputSide);
    for (int64_t y = 0; y < inputSide; ++y) {
      changeInput(columns + y, inputSide, line);
      for (int64_t x = 0; x < inputSide; ++x)
        *reinterpret_cast<Vector *>(to + (y * inputSide + x) * step + channel) = line[x];
    }
  }
}

/// Kernels of as many output channels as a vector has lanes to points that lie `step` apart.
WEFT_CLONED void loadKernels(const float (&from)[taps][lanes], float *to, int64_t step) {
  const auto *kernel = reinterpret_cast<const Vector *>(from);
  Vector columns[window * inputSide], line[inputSide];
  for (int64_t x = 0; x < window; ++x)
    changeKernel(kernel + x, window, columns + x * inputSide);
  for (int64_t y = 0; y < inputSide; ++y) {
    changeKernel(columns + y, inputSide, line);
    for (int64_t x = 0; x < inputSide; ++x)
      *reinterpret_cast<Vector *>(to + (y * inputSide + x) * step) = line[x];
  }
}

/// Points that lie `step` apart to the outputs of a tile, each with `channels`.
WEFT_CLONED void storeTile(const float *from, int64_t step, int64_t channels,
                           float *const (&to)[outputs]) {
  for (int64_t channel = 0; channel < channels; channel += lanes) {
    Vector tile[points], columns[inputSide * side], line[side];
    for (int64_t i = 0; i < points; ++i)
      tile[i] = *reinterpret_cast<const Vector *>(from + i * step + channel);
    for (int64_t x = 0; x < inputSide; ++x)
      changeOutput(tile + x, inputSide, columns + x * side);
    for (int64_t y = 0; y < side; ++y) {
      changeOutput(columns + y, side, line);
      for (int64_t x = 0; x < side; ++x)
        *reinterpret_cast<Vector *>(to[y * side + x] + channel) = line[x];
    }
  }
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Rows of tiles of images: of one, or all of several.
struct Group {
  int64_t image, images, row, rows;
};

/// A task is a group of tiles and a part of the output's channels. Both depend on the convolution
/// alone.
class WinogradConv : public DirectConv {
public:
  WinogradConv(const Convolution &convolution, const Epilogue *epilogue, bool areWide)
      : conv(convolution), epilogue(epilogue), areWide(areWide), inputs(conv.input[1]),
        tileRows((conv.output[2] + side - 1) / side),
        tileColumns((conv.output[3] + side - 1) / side), nothing(inputs, 0.0f) {
    makeGroups();
    parts = cutChannels(conv.output[1],
                        (wantedTasks + int64_t(groups.size()) - 1) / int64_t(groups.size()),
                        leastChannels);
    channels = conv.output[1] / parts;
    if (!areWide)
      return;
    for (const Group &group : groups) {
      int64_t tiles = countTiles(group);
      if (products.count(tiles) == 0)
        products.emplace(tiles, makeProduct(tiles));
    }
  }

  bool isFast() const { return areWide ? areKernels : hasPanelProducts(); }

  void execute(const float *input, const float *kernel, float *output, ThreadPool &pool) override {
    if (!conv.isKernelConstant || kernel != keptFrom)
      changeKernels(kernel, pool);
    keptFrom = kernel;
    pool.parallelFor(int64_t(groups.size()) * parts, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task)
        run(groups[task / parts], task % parts, input, output);
    });
    if (epilogue && parts == 1)
      epilogue->runCut(ends);
    else if (epilogue)
      epilogue->runAll(pool);
  }

private:
  static constexpr int64_t leastChannels = 64; ///< that make it cheap to change the input again
  /// Of a group: the kernel is read for so many, and they and what they make stay in a core's
  /// second cache unless channels are many.
  static constexpr int64_t wantedTiles = 64;

  struct Product {
    Desc left, right, result;
    Prepared prepared;
  };

  int64_t countTiles(const Group &group) const { return group.images * group.rows * tileColumns; }

  void makeGroups() {
    int64_t tiles = tileRows * tileColumns, images = conv.output[0];
    int64_t cuts = std::clamp<int64_t>(tiles / wantedTiles, 1, tileRows);
    int64_t rows = (tileRows + cuts - 1) / cuts;
    int64_t least = std::max<int64_t>(1, images * tiles / wantedTiles); // groups of whole images
    int64_t together = cuts > 1 ? 1 : (images + least - 1) / least;
    int64_t imageSize = countElements(conv.output, 1), rowSize = conv.output[3] * conv.output[1];
    for (int64_t image = 0; image < images; image += together)
      for (int64_t row = 0; row < tileRows; row += rows) {
        groups.push_back(
            {image, std::min(together, images - image), row, std::min(rows, tileRows - row)});
        ends.push_back((image + groups.back().images - 1) * imageSize +
                       std::min((row + rows) * side, conv.output[2]) * rowSize);
      }
  }

  Product makeProduct(int64_t tiles) {
    auto plain = [](int64_t rows, int64_t columns) {
      Dims dims{points, rows, columns};
      return rowMajor(dims, dims);
    };
    Product product{plain(tiles, inputs), plain(inputs, channels), plain(tiles, channels), {}};
    dnnl::matmul::primitive_desc desc({product.left, product.right, product.result},
                                      ownScratchpad(), getDnnlEngine());
    // Others than kernels for matrices as they lie pack, which small products do not repay.
    areKernels &= std::string(desc.impl_info_str()).rfind("brg", 0) == 0;
    product.prepared = {dnnl::matmul(desc), desc};
    return product;
  }

  /// A part is [points, inputs, channels], or [points, channels / 16, inputs, 16] in panels.
  void changeKernels(const float *kernel, ThreadPool &pool) {
    static_assert(lanes == panelColumns);
    int64_t part = points * inputs * channels, step = inputs * channels;
    int64_t pitch = areWide ? channels : lanes, column = areWide ? 1 : inputs;
    changed = keptKernels.get(parts * part * sizeof(float));
    pool.parallelFor(conv.output[1] / lanes, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t output = lo * lanes; output < hi * lanes; output += lanes)
        for (int64_t channel = 0; channel < inputs; ++channel) {
          alignas(Vector) float gathered[taps][lanes];
          for (int64_t lane = 0; lane < lanes; ++lane)
            for (int64_t tap = 0; tap < taps; ++tap)
              gathered[tap][lane] = kernel[((output + lane) * inputs + channel) * taps + tap];
          loadKernels(gathered,
                      changed + output / channels * part + channel * pitch +
                          output % channels * column,
                      step);
        }
    });
  }

  void run(const Group &group, int64_t part, const float *input, float *output) const {
    Workplace &place = Workplace::get();
    int64_t tiles = countTiles(group);
    float *left = place.operand.get(points * tiles * inputs * sizeof(float));
    float *result = place.result.get(points * tiles * channels * sizeof(float));
    forEachTile(group, [&](int64_t tile, int64_t image, int64_t y, int64_t x) {
      load(input + image * countElements(conv.input, 1), y, x, left + tile * inputs,
           tiles * inputs);
    });
    multiplyPoints(left, changed + part * points * inputs * channels, result, tiles);
    forEachTile(group, [&](int64_t tile, int64_t image, int64_t y, int64_t x) {
      store(result + tile * channels, tiles * channels, y, x,
            output + image * countElements(conv.output, 1) + part * channels);
    });
    if (epilogue && parts == 1) {
      auto number = size_t(&group - groups.data());
      epilogue->run(number ? ends[number - 1] : 0, ends[number]);
    }
  }

  void multiplyPoints(const float *left, const float *right, float *result, int64_t tiles) const {
    if (areWide) {
      const Product &product = products.at(tiles);
      return product.prepared.run({{DNNL_ARG_SRC, &product.left, left},
                                   {DNNL_ARG_WEIGHTS, &product.right, right},
                                   {DNNL_ARG_DST, &product.result, result}});
    }
    for (int64_t point = 0; point < points; ++point)
      multiplyPanels({left + point * tiles * inputs, inputs}, right + point * inputs * channels,
                     {result + point * tiles * channels, channels}, {tiles, channels, inputs});
  }

  /// Calls `body` with each tile's number, image, and first row and column of the output.
  template <typename Body> void forEachTile(const Group &group, Body body) const {
    int64_t tile = 0;
    for (int64_t image = group.image; image < group.image + group.images; ++image)
      for (int64_t row = group.row; row < group.row + group.rows; ++row)
        for (int64_t column = 0; column < tileColumns; ++column)
          body(tile++, image, row * side, column * side);
  }

  void load(const float *image, int64_t y, int64_t x, float *to, int64_t step) const {
    const float *from[points];
    for (int64_t i = 0; i < points; ++i) {
      int64_t row = y + i / inputSide - conv.low[0], column = x + i % inputSide - conv.low[1];
      bool isInside = row >= 0 && row < conv.input[2] && column >= 0 && column < conv.input[3];
      from[i] = isInside ? image + (row * conv.input[3] + column) * inputs : nothing.data();
    }
    loadTile(from, inputs, to, step);
  }

  void store(const float *from, int64_t step, int64_t y, int64_t x, float *image) const {
    float *dropped = Workplace::get().shared.get(channels * sizeof(float));
    float *to[outputs];
    for (int64_t i = 0; i < outputs; ++i) {
      int64_t row = y + i / side, column = x + i % side;
      bool isInside = row < conv.output[2] && column < conv.output[3];
      to[i] = isInside ? image + (row * conv.output[3] + column) * conv.output[1] : dropped;
    }
    storeTile(from, step, channels, to);
  }

  Convolution conv;
  const Epilogue *epilogue; ///< null: none
  bool areWide;             ///< products by oneDNN's kernels, of AVX-512; else of AVX2
  int64_t inputs;           ///< channels
  int64_t tileRows, tileColumns;
  int64_t parts, channels;             ///< of the output, and of a part
  bool areKernels = true;              ///< none of the products has but a fallback
  std::vector<float> nothing;          ///< an input outside the image
  std::vector<Group> groups;           ///< in the order of the output's memory
  std::vector<int64_t> ends;           ///< of groups, there
  std::map<int64_t, Product> products; ///< by tiles
  Scratch keptKernels;
  float *changed = nullptr;
  const float *keptFrom = nullptr; ///< of a constant kernel
};

/// Whether it computes fewer products than it costs to change bases.
bool isWorthwhile(const Convolution &conv) {
  /// A kernel that changes is changed for as many positions at least.
  constexpr int64_t leastPositions = 1024;
  /// The changed kernel, four times as large, is read for as many tiles at least.
  constexpr int64_t leastTiles = 16;
  int64_t tiles =
      conv.output[0] * ((conv.output[2] + side - 1) / side) * ((conv.output[3] + side - 1) / side);
  int64_t positions = conv.output[0] * conv.output[2] * conv.output[3];
  return tiles >= leastTiles && (conv.isKernelConstant || positions >= leastPositions);
}

} // namespace

std::unique_ptr<DirectConv> makeWinogradConv(const Convolution &conv, const Epilogue *epilogue,
                                             bool areWide) {
  auto areOne = [](const std::vector<int64_t> &values) {
    return std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 1; });
  };
  bool applies = conv.output.size() == 4 && conv.kernel[2] == window && conv.kernel[3] == window &&
                 areOne(conv.strides) && areOne(conv.dilations) && conv.inputLast &&
                 conv.outputLast && conv.input[1] % lanes == 0 && conv.output[1] % lanes == 0;
  return applies && isWorthwhile(conv) ? makeFast<WinogradConv>(conv, epilogue, areWide) : nullptr;
}

} // namespace weft::runtime

//===- Conv.cpp - convolutions --------------------------------------------===//
//
// In f32 a convolution is a product, for each element of the batch and each group:
//
//   output [channels, positions] = kernel [channels, depth] · windows [depth, positions]
//
// with depth = input channels · window. A block of its columns (ProductBlocks.h) is gathered from
// the input into a buffer of the thread and multiplied there; where the windows of a channel are
// the channel itself, the input is the operand. The gradient of the kernel is the sum over the
// batch of
//
//   gradient of the output [channels, positions] · windows transposed [positions, depth]
//
// in blocks of its columns. Where oneDNN has a kernel for the whole convolution that is faster,
// that one computes it (ConvDirect.cpp). Other types are computed by definition (ConvPlain.cpp).
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Conv.h"

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/ConvDirect.h"
#include "runtime/Cpu/Gemm.h"
#include "runtime/Cpu/ProductBlocks.h"
#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t windowBytes = 1 << 19; // of a block: its windows stay in a core's second cache
/// Output channels that make it cheap to gather a block's windows once more, in elements.
constexpr int64_t channelsToGatherAgain = 256;

/// Whether an image [n, c, s…] lies as [n, s…, c], and not as [n, c, s…].
bool hasChannelsLast(const View &view) {
  View last = view;
  std::rotate(last.shape.begin() + 1, last.shape.begin() + 2, last.shape.end());
  std::rotate(last.strides.begin() + 1, last.strides.begin() + 2, last.strides.end());
  return last.isContiguous() && !view.isContiguous();
}

/// Row-major copies of strided operands; `data` points at the operand itself where it is row-major,
/// or wanted as it lies.
class Packed {
public:
  void load(const View &view, const Bases &bases, bool asItLies = false) {
    address = view.getAddress(bases);
    if (asItLies || view.isContiguous())
      return;
    allocate(view);
    copy->execute({const_cast<std::byte *>(view.getAddress(bases)) - view.offset, buffer.data()},
                  alone);
    address = buffer.data();
  }
  /// Memory for a result that store() spreads.
  void reserve(const View &view, const Bases &bases, bool asItLies = false) {
    address = view.getAddress(bases);
    if (asItLies || view.isContiguous())
      return;
    buffer.resize(view.getNumBytes());
    address = buffer.data();
  }
  void store(const View &view, const Bases &bases, bool asItLies = false) {
    if (asItLies || view.isContiguous())
      return;
    View to = view, from = makeBufferView(view);
    to.arena = 0;
    makeCopyAction(from, to)->execute({view.getAddress(bases) - view.offset, buffer.data()}, alone);
  }
  std::byte *getData() const { return address; }
  float *getFloats() const { return reinterpret_cast<float *>(address); }

private:
  static View makeBufferView(const View &view) {
    View packed = view;
    packed.arena = 1;
    packed.offset = 0;
    packed.strides = getRowMajorStrides(view.shape);
    return packed;
  }
  void allocate(const View &view) {
    if (copy)
      return;
    buffer.resize(view.getNumBytes());
    View from = view;
    from.arena = 0;
    copy = makeCopyAction(from, makeBufferView(view));
  }

  std::byte *address = nullptr;
  std::vector<std::byte> buffer;
  std::unique_ptr<Action> copy;
  ThreadPool alone{1};
};

/// The windows of a convolution, as a matrix.
class Windows {
public:
  explicit Windows(const Convolution &conv)
      : conv(conv), taps(conv.kernel.begin() + 2, conv.kernel.end()) {
    for (size_t dim = 2; dim < conv.output.size(); ++dim) {
      inputSize *= conv.input[dim];
      windowSize *= conv.kernel[dim];
      positions *= conv.output[dim];
    }
  }

  /// Whether the windows of a channel are the channel itself.
  bool arePoints() const {
    auto all = [](const std::vector<int64_t> &values, int64_t value) {
      return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == value; });
    };
    return windowSize == 1 && all(conv.strides, 1) && all(conv.low, 0) && all(conv.high, 0);
  }

  /// Writes the windows of the output positions [begin, begin + count): [channels · window, count].
  void gather(const float *from, int64_t channels, int64_t begin, int64_t count, float *to) const {
    int64_t width = taps.empty() ? 1 : conv.output.back();
    std::vector<int64_t> tap(taps.size(), 0);
    for (int64_t channel = 0; channel < channels; ++channel, from += inputSize)
      do {
        for (int64_t done = 0; done < count;) {
          int64_t row = (begin + done) / width, x = (begin + done) % width;
          int64_t run = std::min(width - x, count - done);
          gatherRun(from, tap, row, x, run, to + done);
          done += run;
        }
        to += count;
      } while (advance(tap, taps));
  }

  int64_t inputSize = 1;  ///< elements of a channel
  int64_t windowSize = 1; ///< elements
  int64_t positions = 1;  ///< of a window in a channel

private:
  /// What `tap` sees from the positions [x, x + run) of one row of the output.
  void gatherRun(const float *from, const std::vector<int64_t> &tap, int64_t row, int64_t x,
                 int64_t run, float *to) const {
    size_t last = taps.size() - 1;
    int64_t pitch = conv.input.back();
    for (size_t dim = last; dim-- > 0; pitch *= conv.input[dim + 2]) {
      int64_t y = getInputCoordinate(conv, dim, row % conv.output[dim + 2], tap[dim]);
      row /= conv.output[dim + 2];
      if (y < 0 || y >= conv.input[dim + 2])
        return std::fill(to, to + run, 0.0f), void();
      from += y * pitch;
    }
    int64_t first = getInputCoordinate(conv, last, x, tap[last]), stride = conv.strides[last];
    // The positions [low, high) of the run lie inside, first + i · stride in [0, extent).
    int64_t extent = conv.input.back();
    int64_t low = first >= 0 ? 0 : std::min(run, (-first + stride - 1) / stride);
    int64_t high = first >= extent ? low : std::min(run, (extent - 1 - first) / stride + 1);
    high = std::max(low, high);
    std::fill(to, to + low, 0.0f);
    if (stride == 1)
      std::copy(from + first + low, from + first + high, to + low);
    else
      for (int64_t i = low; i < high; ++i)
        to[i] = from[first + i * stride];
    std::fill(to + high, to + run, 0.0f);
  }

  const Convolution &conv;
  std::vector<int64_t> taps;
};

class ConvAction : public Action {
public:
  ConvAction(const ConvCall &call, Convolution convolution)
      : input(call.input), kernel(call.kernel), output(call.output), conv(std::move(convolution)),
        windows(conv) {
    if (call.epilogue)
      epilogue.emplace(*call.epilogue, output);
    conv.inputLast = hasChannelsLast(input);
    conv.outputLast = hasChannelsLast(output);
    direct = makeDirectConv(conv, getEpilogueOfPieces());
    if (direct || !(conv.inputLast || conv.outputLast))
      return;
    conv.inputLast = conv.outputLast = false; // copied to row-major, and back
    direct = makeDirectConv(conv, getEpilogueOfPieces());
  }

  void initialise(const KernelLibrary &kernels) override {
    if (epilogue)
      epilogue->initialise(kernels);
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (output.getNumElements() == 0)
      return;
    if (epilogue)
      epilogue->setBases(bases);
    packedInput.load(input, bases, conv.inputLast);
    packedKernel.load(kernel, bases);
    packedOutput.reserve(output, bases, conv.outputLast);
    if (direct)
      direct->execute(packedInput.getFloats(), packedKernel.getFloats(), packedOutput.getFloats(),
                      pool);
    else if (conv.dtype == program::F32 && conv.output.size() > 2 && kernel.getNumElements() > 0 &&
             input.getNumElements() > 0)
      executeBlocks(pool);
    else
      pool.parallelFor(conv.output[0] * conv.output[1], 1, [&](int64_t lo, int64_t hi) {
        convolvePlainly(conv, packedInput.getData(), packedKernel.getData(), packedOutput.getData(),
                        lo, hi);
      });
    packedOutput.store(output, bases, conv.outputLast);
    if (epilogue && !(direct && getEpilogueOfPieces()))
      epilogue->runAll(pool);
  }

private:
  /// What may follow each piece of the output: it is not copied when all are there.
  const Epilogue *getEpilogueOfPieces() const {
    return epilogue && (conv.outputLast || output.isContiguous()) ? &*epilogue : nullptr;
  }

  void executeBlocks(ThreadPool &pool) {
    int64_t channels = conv.output[1] / conv.groups, depth = conv.kernel[1] * windows.windowSize;
    BlockLimits limits;
    if (!windows.arePoints())
      limits = {channelsToGatherAgain, std::max<int64_t>(1, windowBytes / (4 * depth))};
    int64_t products = conv.output[0] * conv.groups;
    ProductBlocks blocks = chooseBlocks(products, channels, windows.positions, depth, limits);
    pool.parallelFor(products * blocks.getCount(), 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task)
        runBlock(task / blocks.getCount(), blocks, task % blocks.getCount());
    });
  }

  /// A block of the product of one group of one element of the batch.
  void runBlock(int64_t product, const ProductBlocks &blocks, int64_t number) const {
    thread_local std::vector<float> gathered;
    int64_t channels = conv.output[1] / conv.groups, depth = conv.kernel[1] * windows.windowSize;
    int64_t row = number / blocks.columnBlocks * blocks.rows;
    int64_t column = number % blocks.columnBlocks * blocks.columns;
    int64_t rows = std::min(blocks.rows, channels - row);
    int64_t columns = std::min(blocks.columns, windows.positions - column);
    auto at = [](const Packed &packed, int64_t element) {
      return packed.getData() + element * int64_t(sizeof(float));
    };
    int64_t first = product % conv.groups * channels + row; // output channel
    Matrix left{at(packedKernel, first * depth), rows, depth, depth, 1};
    std::byte *image = at(packedInput, product * conv.kernel[1] * windows.inputSize);
    Matrix right{image + column * int64_t(sizeof(float)), depth, columns, windows.positions, 1};
    if (!windows.arePoints()) {
      gathered.resize(depth * columns);
      windows.gather(reinterpret_cast<const float *>(image), conv.kernel[1], column, columns,
                     gathered.data());
      right = {reinterpret_cast<std::byte *>(gathered.data()), depth, columns, columns, 1};
    }
    int64_t to = (product * channels + row) * windows.positions + column;
    multiply(left, right, {at(packedOutput, to), rows, columns, windows.positions, 1},
             /*accumulate=*/false);
  }

  View input;
  View kernel;
  View output;
  Convolution conv;
  Windows windows;
  std::optional<Epilogue> epilogue;
  std::unique_ptr<DirectConv> direct; ///< null: a product of gathered windows
  Packed packedInput, packedKernel, packedOutput;
};

/// The operands and the result of a kernel's gradient; `conv` is the convolution itself.
class KernelGradientAction : public Action {
public:
  KernelGradientAction(View input, View gradient, View result, Convolution convolution)
      : input(std::move(input)), gradient(std::move(gradient)), result(std::move(result)),
        conv(std::move(convolution)), windows(conv), direct(makeDirectKernelGradient(conv)) {
    outputs = conv.output[1] / conv.groups;
    int64_t depth = conv.kernel[1] * windows.windowSize;
    int64_t cuts = std::min(std::max(depth / columnsOfBlock, leastBlocks), conv.kernel[1]);
    cuts = std::max<int64_t>(1, cuts);
    channelsOfBlock = std::max<int64_t>(1, (conv.kernel[1] + cuts - 1) / cuts);
    channelBlocks = (conv.kernel[1] + channelsOfBlock - 1) / channelsOfBlock;
    int64_t rowCuts =
        channelBlocks >= leastBlocks ? 1 : leastBlocks / std::max<int64_t>(1, channelBlocks);
    rowsOfBlock = std::max<int64_t>(1, (outputs + rowCuts - 1) / rowCuts);
    rowBlocks = (outputs + rowsOfBlock - 1) / rowsOfBlock;
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (result.getNumElements() == 0)
      return;
    packedInput.load(input, bases);
    packedGradient.load(gradient, bases);
    packedResult.reserve(result, bases);
    if (direct)
      direct->execute(packedInput.getFloats(), packedGradient.getFloats(), packedResult.getFloats(),
                      pool);
    else if (conv.dtype == program::F32 && gradient.getNumElements() > 0 &&
             input.getNumElements() > 0)
      pool.parallelFor(conv.groups * channelBlocks * rowBlocks, 1, [&](int64_t lo, int64_t hi) {
        for (int64_t task = lo; task < hi; ++task)
          runBlock(task / (channelBlocks * rowBlocks), task / rowBlocks % channelBlocks,
                   task % rowBlocks);
      });
    else
      pool.parallelFor(conv.kernel[0], 1, [&](int64_t lo, int64_t hi) {
        sumKernelGradientPlainly(conv, packedInput.getData(), packedGradient.getData(),
                                 packedResult.getData(), lo, hi);
      });
    packedResult.store(result, bases);
  }

private:
  static constexpr int64_t columnsOfBlock = 192;
  /// As many blocks as leave work to share. Like the blocks, it depends on no number of threads, so
  /// that sums do not.
  static constexpr int64_t leastBlocks = 4;

  /// A block of the result of one group: some of its outputs, all windows of some channels.
  void runBlock(int64_t group, int64_t channelBlock, int64_t rowBlock) const {
    int64_t channel = channelBlock * channelsOfBlock, row = rowBlock * rowsOfBlock;
    int64_t channels = std::min(channelsOfBlock, conv.kernel[1] - channel);
    int64_t rows = std::min(rowsOfBlock, outputs - row);
    int64_t columns = channels * windows.windowSize, depth = conv.kernel[1] * windows.windowSize;
    Matrix sum{at(packedResult, (group * outputs + row) * depth + channel * windows.windowSize),
               rows, columns, depth, 1};
    bool points = windows.arePoints();
    int64_t most = points ? windows.positions : std::max<int64_t>(1, windowBytes / (4 * columns));
    for (int64_t image = 0; image < conv.input[0]; ++image) {
      int64_t first = image * conv.input[1] + group * conv.kernel[1] + channel;
      std::byte *from = at(packedInput, first * windows.inputSize);
      int64_t slopes = (image * conv.output[1] + group * outputs + row) * windows.positions;
      for (int64_t begin = 0; begin < windows.positions; begin += most) {
        int64_t count = std::min(most, windows.positions - begin);
        Matrix left{at(packedGradient, slopes + begin), rows, count, windows.positions, 1};
        Matrix right = points ? Matrix{from, columns, count, windows.positions, 1}
                              : gatherBlock(from, channels, begin, count);
        multiply(left, right.transposed(), sum, image + begin > 0);
      }
    }
  }

  Matrix gatherBlock(std::byte *from, int64_t channels, int64_t begin, int64_t count) const {
    thread_local std::vector<float> gathered;
    int64_t columns = channels * windows.windowSize;
    gathered.resize(columns * count);
    windows.gather(reinterpret_cast<const float *>(from), channels, begin, count, gathered.data());
    return {reinterpret_cast<std::byte *>(gathered.data()), columns, count, count, 1};
  }

  static std::byte *at(const Packed &packed, int64_t element) {
    return packed.getData() + element * int64_t(sizeof(float));
  }

  View input, gradient, result;
  Convolution conv;
  Windows windows;
  int64_t outputs; ///< of a group
  int64_t channelsOfBlock, channelBlocks, rowsOfBlock, rowBlocks;
  std::unique_ptr<DirectConv> direct; ///< null: a product of gathered windows
  Packed packedInput, packedGradient, packedResult;
};

/// Whether shapes and geometry describe a convolution.
bool isConsistent(const Convolution &conv) {
  size_t rank = conv.output.size();
  if (rank < 2 || conv.input.size() != rank || conv.kernel.size() != rank || conv.groups < 1)
    return false;
  for (const auto *values : {&conv.strides, &conv.low, &conv.high, &conv.dilations})
    if (values->size() != rank - 2)
      return false;
  bool good = conv.input[0] == conv.output[0] && conv.kernel[0] == conv.output[1] &&
              conv.output[1] % conv.groups == 0 && conv.kernel[1] * conv.groups == conv.input[1];
  for (size_t d = 2; good && d < rank; ++d) {
    int64_t stride = conv.strides[d - 2], dilation = conv.dilations[d - 2];
    int64_t window = (conv.kernel[d] - 1) * dilation + 1;
    int64_t padded = conv.input[d] + conv.low[d - 2] + conv.high[d - 2];
    good = stride >= 1 && dilation >= 1 && padded >= window &&
           conv.output[d] == (padded - window) / stride + 1;
  }
  return good;
}

} // namespace

std::unique_ptr<Action> makeConvAction(const ConvCall &call) {
  const View &input = call.input;
  const View &kernel = call.kernelGradient ? call.output : call.kernel;
  const View &output = call.kernelGradient ? call.kernel : call.output;
  Convolution convolution{output.dtype, input.shape, kernel.shape,   output.shape, call.strides,
                          call.low,     call.high,   call.dilations, call.groups};
  if (input.dtype != output.dtype || kernel.dtype != output.dtype || !isConsistent(convolution))
    throwBadInput("a convolution of operands that do not fit");
  convolution.isKernelConstant = call.isKernelConstant && kernel.isContiguous();
  if (call.kernelGradient)
    return std::make_unique<KernelGradientAction>(input, output, kernel, std::move(convolution));
  return std::make_unique<ConvAction>(call, std::move(convolution));
}

} // namespace weft::runtime

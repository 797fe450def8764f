//===- ConvDirect.cpp - convolutions by oneDNN's own kernels --------------===//

#include "runtime/Cpu/ConvDirect.h"

#include "runtime/Cpu/ConvPanels.h"
#include "runtime/Cpu/ConvWinograd.h"
#include "runtime/Cpu/Reorder.h"

#include <algorithm>
#include <string>

namespace weft::runtime {

namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

/// A product of fewer columns leaves much of a matrix kernel's tiles empty.
constexpr int64_t fewPositions = 64;

/// Strides, dilations and pads as oneDNN has them.
struct Geometry {
  explicit Geometry(const Convolution &conv)
      : strides(conv.strides), dilations(conv.dilations), low(conv.low), high(conv.high) {
    for (int64_t &dilation : dilations)
      --dilation;
  }
  Dims strides, dilations, low, high;
};

dnnl::convolution_forward::primitive_desc describeForward(const Geometry &geometry,
                                                          const Desc &input, const Desc &kernel,
                                                          const Desc &output) {
  return {{prop_kind::forward_training, algorithm::convolution_direct, input, kernel, output,
           geometry.strides, geometry.dilations, geometry.low, geometry.high},
          ownScratchpad(),
          getDnnlEngine()};
}

/// Elements along the leading dimension that a layout keeps together.
int64_t getLeadingBlock(const Desc &desc) {
  const dnnl_blocking_desc_t &blocking = desc.data.format_desc.blocking;
  int64_t block = 1;
  for (int index = 0; index < blocking.inner_nblks; ++index)
    if (blocking.inner_idxs[index] == 0)
      block *= blocking.inner_blks[index];
  return block;
}

/// Whether an implementation is a kernel for these shapes rather than a fallback.
bool isKernel(const std::string &implementation) {
  return implementation.rfind("jit", 0) == 0 || implementation.rfind("brg", 0) == 0;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Some rows of the output, rows being its first spatial dimension, and the input that they are
/// made of.
struct Band {
  int64_t row, rows;
  int64_t inputRow, inputRows;
  int64_t low, high; ///< padding

  bool isSameShape(const Band &other) const {
    return rows == other.rows && inputRows == other.inputRows && low == other.low &&
           high == other.high;
  }
};

Band getWhole(const Convolution &conv) {
  return {0, conv.output[2], 0, conv.input[2], conv.low[0], conv.high[0]};
}

Band getBand(const Convolution &conv, int64_t row, int64_t rows) {
  int64_t first = getInputCoordinate(conv, 0, row, 0);
  int64_t end = getInputCoordinate(conv, 0, row + rows - 1, conv.kernel[2] - 1) + 1;
  int64_t from = std::max<int64_t>(first, 0), to = std::min(end, conv.input[2]);
  return {row, rows, from, to - from, from - first, end - to};
}

/// A task is one image and one piece of its output: a band of rows, which a core's cache holds, or
/// a part of the channels.
class DirectForward : public DirectConv {
public:
  DirectForward(const Convolution &convolution, const Epilogue *epilogue)
      : conv(convolution), epilogue(epilogue), images(conv.output[0]),
        inputSize(countElements(conv.input, 1)), outputSize(countElements(conv.output, 1)) {
    int64_t wanted = (wantedTasks + images - 1) / images;
    parts = cutChannels(conv.output[1], wanted, leastChannels);
    int64_t bands = chooseBands(wanted);
    if (bands == 1 || !makeBands(bands))
      makeParts();
    int64_t channels = kernelLayout.dims()[0];
    int64_t block = std::max(blockChannels, getLeadingBlock(kernelLayout));
    loadKernel = {rowMajor(kernelLayout.dims(), kernelLayout.dims()), kernelLayout,
                  channels % block ? channels : block};
  }

  bool isFast() const { return areKernels; }

  void execute(const float *input, const float *kernel, float *output, ThreadPool &pool) override {
    const float *kernels = getKernels(kernel, pool);
    auto each = int64_t(pieces.size());
    bool follows = epilogue && !ends.empty();
    pool.parallelFor(images * each, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task) {
        const Piece &piece = pieces[task % each];
        int64_t start = task / each * outputSize + piece.output;
        run(shapes[piece.shape], input + task / each * inputSize + piece.input,
            kernels + piece.part * loadKernel.getSize(), output + start);
        if (follows)
          epilogue->run(start, ends[task]);
      }
    });
    if (follows)
      epilogue->runCut(ends);
    else if (epilogue)
      epilogue->runAll(pool);
  }

private:
  static constexpr int64_t leastChannels = 64;  ///< that make it cheap to load an image once more
  static constexpr int64_t bandBytes = 1 << 19; ///< of output: it stays in a core's second cache

  /// The convolution of pieces of one shape.
  struct Shape {
    Band band;
    Desc inputLayout, outputLayout;
    Prepared prepared;
    Reorder loadInput, storeOutput;
  };
  /// Where a piece starts, in elements from the start of its image.
  struct Piece {
    size_t shape;
    int64_t part; ///< of the kernel
    int64_t input, output;
  };

  /// Bands that fit caches, and as many as are wanted where that leaves each enough to do and
  /// channels do not give more; 1: none.
  int64_t chooseBands(int64_t wanted) const {
    int64_t rows = conv.output[2], positions = countElements(conv.output, 2);
    if (!conv.outputLast || rows < 2)
      return 1;
    int64_t byCache = (outputSize * int64_t(sizeof(float)) + bandBytes - 1) / bandBytes;
    int64_t byWork = std::min(wanted, positions / fewPositions);
    return std::min(rows, byCache > 1 || byWork > parts ? std::max(byCache, byWork) : 1);
  }

  /// Cuts images into bands; false where not all of them have kernels, or see any of the input.
  bool makeBands(int64_t bands) {
    int64_t rows = (conv.output[2] + bands - 1) / bands;
    parts = 1;
    try {
      for (int64_t row = 0; row < conv.output[2]; row += rows) {
        Band band = getBand(conv, row, std::min(rows, conv.output[2] - row));
        if (band.inputRows < 1)
          return false;
        addPiece(band, conv.output[1], 0, row * countElements(conv.output, 3) * conv.output[1]);
      }
    } catch (const dnnl::error &) {
      return false;
    }
    if (areKernels)
      addEnds();
    return areKernels;
  }

  void makeParts() {
    shapes.clear();
    pieces.clear();
    areKernels = true;
    parts = cutChannels(conv.output[1], (wantedTasks + images - 1) / images, leastChannels);
    int64_t channels = conv.output[1] / parts;
    int64_t step = conv.outputLast ? channels : channels * countElements(conv.output, 2);
    for (int64_t part = 0; part < parts; ++part)
      addPiece(getWhole(conv), channels, part, part * step);
    if (parts == 1 || !conv.outputLast)
      addEnds();
  }

  /// Pieces fill ranges of the output, one behind the other.
  void addEnds() {
    for (int64_t image = 0; image < images; ++image)
      for (size_t next = 1; next <= pieces.size(); ++next)
        ends.push_back(image * outputSize +
                       (next < pieces.size() ? pieces[next].output : outputSize));
  }

  void addPiece(const Band &band, int64_t channels, int64_t part, int64_t output) {
    auto same = std::find_if(shapes.begin(), shapes.end(),
                             [&](const Shape &shape) { return shape.band.isSameShape(band); });
    auto shape = size_t(same - shapes.begin());
    if (same == shapes.end())
      shapes.push_back(makeShape(band, channels));
    int64_t pitch = countElements(conv.input, 3) * (conv.inputLast ? conv.input[1] : 1);
    pieces.push_back({shape, part, band.inputRow * pitch, output});
  }

  Shape makeShape(const Band &band, int64_t channels) {
    Dims input = conv.input, kernel = conv.kernel, output = conv.output, whole = conv.output;
    input[0] = output[0] = 1;
    kernel[0] = output[1] = channels;
    input[2] = band.inputRows;
    whole[2] = output[2] = band.rows;
    Geometry geometry(conv);
    geometry.low[0] = band.low;
    geometry.high[0] = band.high;
    bool isLast = conv.inputLast || conv.outputLast;
    auto layout = [&](const Dims &dims) {
      return isLast ? channelsLast(dims, dims) : anyLayout(dims);
    };
    auto desc = describeForward(geometry, layout(input),
                                shapes.empty() ? anyLayout(kernel) : kernelLayout, layout(output));
    areKernels &= isKernel(desc.impl_info_str());
    kernelLayout = desc.weights_desc();
    Desc from = conv.inputLast ? channelsLast(input, input) : rowMajor(input, conv.input);
    Desc to = conv.outputLast ? channelsLast(output, whole) : rowMajor(output, conv.output);
    return {band,
            desc.src_desc(),
            desc.dst_desc(),
            {dnnl::convolution_forward(desc), desc},
            {from, desc.src_desc()},
            {desc.dst_desc(), to}};
  }

  /// All parts of the kernel, reordered. What never changes is reordered once.
  const float *getKernels(const float *kernel, ThreadPool &pool) {
    if (!conv.isKernelConstant)
      return loadKernel.load(kernel, parts, Workplace::get().shared, pool);
    if (kernel != keptFrom)
      kept = loadKernel.load(kernel, parts, keptKernels, pool);
    keptFrom = kernel;
    return kept;
  }

  void run(const Shape &shape, const float *image, const float *kernel, float *output) const {
    Workplace &place = Workplace::get();
    const float *from = image;
    if (shape.loadInput.isNeeded()) {
      float *copy = place.operand.get(shape.loadInput.getResultBytes());
      shape.loadInput.run(image, copy);
      from = copy;
    }
    float *to = shape.storeOutput.isNeeded() ? place.result.get(shape.storeOutput.getSourceBytes())
                                             : output;
    shape.prepared.run({{DNNL_ARG_SRC, &shape.inputLayout, from},
                        {DNNL_ARG_WEIGHTS, &kernelLayout, kernel},
                        {DNNL_ARG_DST, &shape.outputLayout, to}});
    if (shape.storeOutput.isNeeded())
      shape.storeOutput.run(to, output);
  }

  Convolution conv;
  const Epilogue *epilogue;              ///< null: none
  int64_t images, inputSize, outputSize; ///< sizes: from one image to the next
  int64_t parts;                         ///< of the kernel
  bool areKernels = true;                ///< none of the shapes has but a fallback
  std::vector<Shape> shapes;
  std::vector<Piece> pieces; ///< of an image
  std::vector<int64_t> ends; ///< of all images' pieces, where each fills a range of the output
  Desc kernelLayout;
  SharedReorder loadKernel;
  Scratch keptKernels;
  const float *keptFrom = nullptr, *kept = nullptr; ///< of a constant kernel
};

//===----------------------------------------------------------------------===//
// Gradients of kernels
//===----------------------------------------------------------------------===//

/// A task is one part of the output's channels, of all images.
class DirectKernelGradient : public DirectConv {
public:
  explicit DirectKernelGradient(const Convolution &conv)
      : parts(cutChannels(conv.output[1], wantedTasks, blockChannels)),
        gradientSize(countElements(conv.output, 1) / parts),
        kernelSize(countElements(conv.kernel) / parts) {
    Dims kernel = conv.kernel, output = conv.output;
    kernel[0] = output[1] = conv.output[1] / parts;
    Geometry geometry(conv);
    dnnl::convolution_backward_weights::primitive_desc desc(
        {algorithm::convolution_direct, anyLayout(conv.input), anyLayout(kernel), anyLayout(output),
         geometry.strides, geometry.dilations, geometry.low, geometry.high},
        ownScratchpad(), getDnnlEngine(),
        describeForward(geometry, anyLayout(conv.input), anyLayout(kernel), anyLayout(output)));
    implementation = desc.impl_info_str();
    inputLayout = desc.src_desc();
    kernelLayout = desc.diff_weights_desc();
    gradientLayout = desc.diff_dst_desc();
    prepared = {dnnl::convolution_backward_weights(desc), desc};
    loadInput = {rowMajor(conv.input, conv.input), inputLayout, /*step=*/1};
    loadGradient = {rowMajor(output, conv.output), gradientLayout};
    storeKernel = {kernelLayout, rowMajor(kernel, kernel)};
  }

  bool isFast() const { return isKernel(implementation); }

  void execute(const float *input, const float *gradient, float *result,
               ThreadPool &pool) override {
    const float *images = loadInput.load(input, 1, Workplace::get().shared, pool);
    pool.parallelFor(parts, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t part = lo; part < hi; ++part)
        run(images, gradient + part * gradientSize, result + part * kernelSize);
    });
  }

private:
  void run(const float *images, const float *gradient, float *result) const {
    Workplace &place = Workplace::get();
    const float *slopes = gradient;
    if (loadGradient.isNeeded()) {
      float *copy = place.operand.get(loadGradient.getResultBytes());
      loadGradient.run(gradient, copy);
      slopes = copy;
    }
    float *to = storeKernel.isNeeded() ? place.result.get(storeKernel.getSourceBytes()) : result;
    prepared.run({{DNNL_ARG_SRC, &inputLayout, images},
                  {DNNL_ARG_DIFF_DST, &gradientLayout, slopes},
                  {DNNL_ARG_DIFF_WEIGHTS, &kernelLayout, to}});
    if (storeKernel.isNeeded())
      storeKernel.run(to, result);
  }

  int64_t parts, gradientSize, kernelSize;
  std::string implementation;
  Desc inputLayout, kernelLayout, gradientLayout;
  Prepared prepared;
  SharedReorder loadInput;
  Reorder loadGradient, storeKernel;
};

/// What oneDNN takes, and is worth its while.
bool isCandidate(const Convolution &conv) {
  auto areNegative = [](const std::vector<int64_t> &pads) {
    return std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad < 0; });
  };
  return conv.dtype == program::F32 && conv.groups == 1 && conv.output.size() > 2 &&
         conv.output[1] >= blockChannels && countElements(conv.input) > 0 &&
         countElements(conv.kernel) > 0 && countElements(conv.output) > 0 &&
         !areNegative(conv.low) && !areNegative(conv.high);
}

} // namespace

int64_t cutChannels(int64_t channels, int64_t wanted, int64_t least) {
  int64_t parts = 1;
  while (parts < wanted && channels % (2 * parts * blockChannels) == 0 &&
         channels / (2 * parts) >= least)
    parts *= 2;
  return parts;
}

std::unique_ptr<DirectConv> makeDirectConv(const Convolution &conv, const Epilogue *epilogue) {
  // Of points, the input is an operand of a product as it lies.
  auto are = [](const std::vector<int64_t> &values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == value; });
  };
  bool points = countElements(conv.kernel, 2) == 1 && are(conv.strides, 1) && are(conv.low, 0) &&
                are(conv.high, 0);
  bool isWide = countElements(conv.output, 2) > fewPositions,
       isLast = conv.inputLast || conv.outputLast;
  if (!isCandidate(conv) || (points && !isLast && (isWide || conv.output[0] < wantedTasks)))
    return nullptr;
  if (auto winograd = makeWinogradConv(conv, epilogue))
    return winograd;
  if (auto panels = makePanelConv(conv, epilogue))
    return panels;
  return makeFast<DirectForward>(conv, epilogue);
}

std::unique_ptr<DirectConv> makeDirectKernelGradient(const Convolution &conv) {
  if (!isCandidate(conv) || countElements(conv.kernel, 2) == 1)
    return nullptr;
  return makeFast<DirectKernelGradient>(conv);
}

} // namespace weft::runtime

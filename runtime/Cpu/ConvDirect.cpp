//===- ConvDirect.cpp - convolutions by oneDNN's own kernels --------------===//

#include "runtime/Cpu/ConvDirect.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstdlib>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

namespace weft::runtime {

namespace {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using dnnl::algorithm;
using dnnl::prop_kind;

constexpr int64_t blockChannels = 16; ///< of the widest blocks
constexpr int64_t wantedTasks = 8;    ///< work for as many threads
/// A product of fewer columns leaves much of a matrix kernel's tiles empty.
constexpr int64_t fewPositions = 64;

const dnnl::engine &getEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Memory that convolutions use one after another; it only grows.
class Scratch {
public:
  float *get(size_t bytes) {
    if (bytes <= size)
      return data.get();
    size = 0;
    data.reset(static_cast<float *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
    if (!data)
      throwFailure("no memory for {} bytes that a convolution works in", bytes);
    size = bytes;
    return data.get();
  }

private:
  struct Free {
    void operator()(float *memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data;
  size_t size = 0;
};

/// What a thread works in.
struct Workplace {
  dnnl::stream stream{getEngine()};
  Scratch shared; ///< an operand that all threads read, in memory of the thread that asks
  Scratch operand, result, own;

  static Workplace &get() {
    thread_local Workplace place;
    return place;
  }
};

Desc anyLayout(const Dims &dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

/// Row-major as a part of a tensor of shape `whole`.
Desc rowMajor(const Dims &dims, const Dims &whole) {
  Dims strides(dims.size(), 1);
  for (size_t dim = dims.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * whole[dim + 1];
  return {dims, dnnl::memory::data_type::f32, strides};
}

/// A part of a tensor of shape `whole` that lies as [n, s…, c].
Desc channelsLast(const Dims &dims, const Dims &whole) {
  Dims strides(dims.size(), 1);
  int64_t step = whole[1];
  for (size_t dim = dims.size() - 1; dim > 1; step *= whole[dim--])
    strides[dim] = step;
  strides[0] = step;
  return {dims, dnnl::memory::data_type::f32, strides};
}

Desc partOf(const Dims &dims, const Dims &whole, bool isLast) {
  return isLast ? channelsLast(dims, whole) : rowMajor(dims, whole);
}

Dims withExtent(Dims dims, size_t dim, int64_t extent) {
  dims[dim] = extent;
  return dims;
}

int64_t count(const Dims &dims, size_t from = 0) {
  int64_t product = 1;
  for (size_t dim = from; dim < dims.size(); ++dim)
    product *= dims[dim];
  return product;
}

/// A primitive and the memory it wants beside its operands.
class Prepared {
public:
  Prepared() = default;
  template <typename PrimitiveDesc>
  Prepared(const dnnl::primitive &primitive, const PrimitiveDesc &desc)
      : primitive(primitive), scratchpad(desc.scratchpad_desc()) {}

  explicit operator bool() const { return bool(primitive); }

  void run(std::initializer_list<std::tuple<int, const Desc *, const float *>> operands) const {
    Workplace &place = Workplace::get();
    std::unordered_map<int, dnnl::memory> arguments;
    auto add = [&](int argument, const Desc &desc, const float *data) {
      arguments.emplace(argument, dnnl::memory(desc, getEngine(), const_cast<float *>(data)));
    };
    for (const auto &[argument, desc, data] : operands)
      add(argument, *desc, data);
    if (size_t bytes = scratchpad.get_size())
      add(DNNL_ARG_SCRATCHPAD, scratchpad, place.own.get(bytes));
    primitive.execute(place.stream, arguments);
    place.stream.wait();
  }

private:
  dnnl::primitive primitive;
  Desc scratchpad;
};

dnnl::primitive_attr ownScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// A copy of an operand in another layout.
class Reorder {
public:
  Reorder() = default;
  Reorder(const Desc &from, const Desc &to) : from(from), to(to) {
    if (from == to)
      return;
    dnnl::reorder::primitive_desc desc(getEngine(), from, getEngine(), to, ownScratchpad());
    prepared = {dnnl::reorder(desc), desc};
  }

  bool isNeeded() const { return bool(prepared); }
  size_t getSourceBytes() const { return from.get_size(); }
  size_t getResultBytes() const { return to.get_size(); }
  void run(const float *data, float *result) const {
    prepared.run({{DNNL_ARG_FROM, &from, data}, {DNNL_ARG_TO, &to, result}});
  }

private:
  Desc from, to;
  Prepared prepared;
};

/// A copy that threads share out, in parts of the leading dimension.
class SharedReorder {
public:
  SharedReorder() = default;
  /// Parts begin at multiples of `step`.
  SharedReorder(const Desc &from, const Desc &to, int64_t step) : from(from), to(to) {
    if (from == to)
      return;
    Dims dims = from.dims(), offsets(dims.size(), 0);
    for (; offsets[0] < from.dims()[0]; offsets[0] += step) {
      dims[0] = std::min(step, from.dims()[0] - offsets[0]);
      parts.emplace_back(from.submemory_desc(dims, offsets), to.submemory_desc(dims, offsets));
    }
  }

  /// Elements from one tensor that load() returns to the next.
  int64_t getSize() const { return int64_t(to.get_size() / sizeof(float)); }

  /// `tensors` that lie one behind another, or their copies in `scratch`.
  const float *load(const float *data, int64_t tensors, Scratch &scratch, ThreadPool &pool) const {
    if (parts.empty())
      return data;
    float *copies = scratch.get(tensors * to.get_size());
    int64_t size = count(from.dims()), each = int64_t(parts.size());
    pool.parallelFor(tensors * each, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task)
        parts[task % each].run(data + task / each * size, copies + task / each * getSize());
    });
    return copies;
  }

private:
  Desc from, to;
  std::vector<Reorder> parts;
};

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
                                                          const Desc &input, const Dims &kernel,
                                                          const Desc &output) {
  return {{prop_kind::forward_training, algorithm::convolution_direct, input, anyLayout(kernel),
           output, geometry.strides, geometry.dilations, geometry.low, geometry.high},
          ownScratchpad(),
          getEngine()};
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

/// The number of parts, of whole blocks and of `least` channels or more each, that channels are cut
/// into: as many as are wanted, or about half.
int64_t cutChannels(int64_t channels, int64_t wanted, int64_t least) {
  int64_t parts = 1;
  while (parts < wanted && channels % (2 * parts * blockChannels) == 0 &&
         channels / (2 * parts) >= least)
    parts *= 2;
  return parts;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// A task is one image and one part of the output's channels.
class DirectForward : public DirectConv {
public:
  explicit DirectForward(const Convolution &conv)
      : images(conv.output[0]),
        parts(cutChannels(conv.output[1], (wantedTasks + images - 1) / images, leastChannels)),
        inputSize(count(conv.input, 1)), outputSize(count(conv.output, 1)),
        partSize(conv.outputLast ? conv.output[1] / parts : outputSize / parts),
        isKernelConstant(conv.isKernelConstant) {
    Dims input = withExtent(conv.input, 0, 1), kernel = conv.kernel, output = conv.output;
    kernel[0] = output[1] = conv.output[1] / parts;
    output[0] = 1;
    bool isLast = conv.inputLast || conv.outputLast;
    auto layout = [&](const Dims &dims) {
      return isLast ? channelsLast(dims, dims) : anyLayout(dims);
    };
    auto desc = describeForward(Geometry(conv), layout(input), kernel, layout(output));
    implementation = desc.impl_info_str();
    inputLayout = desc.src_desc();
    kernelLayout = desc.weights_desc();
    outputLayout = desc.dst_desc();
    prepared = {dnnl::convolution_forward(desc), desc};
    loadInput = {partOf(input, input, conv.inputLast), inputLayout};
    storeOutput = {outputLayout, partOf(output, conv.output, conv.outputLast)};
    int64_t block = std::max(blockChannels, getLeadingBlock(kernelLayout));
    loadKernel = {rowMajor(kernel, kernel), kernelLayout, kernel[0] % block ? kernel[0] : block};
  }

  bool isFast() const { return isKernel(implementation); }

  void execute(const float *input, const float *kernel, float *output, ThreadPool &pool) override {
    const float *kernels = getKernels(kernel, pool);
    pool.parallelFor(images * parts, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task)
        run(input + task / parts * inputSize, kernels + task % parts * loadKernel.getSize(),
            output + task / parts * outputSize + task % parts * partSize);
    });
  }

private:
  static constexpr int64_t leastChannels = 64; ///< that make it cheap to load an image once more

  /// All parts of the kernel, reordered. What never changes is reordered once.
  const float *getKernels(const float *kernel, ThreadPool &pool) {
    if (!isKernelConstant)
      return loadKernel.load(kernel, parts, Workplace::get().shared, pool);
    if (kernel != keptFrom)
      kept = loadKernel.load(kernel, parts, keptKernels, pool);
    keptFrom = kernel;
    return kept;
  }

  void run(const float *image, const float *kernel, float *output) const {
    Workplace &place = Workplace::get();
    const float *from = image;
    if (loadInput.isNeeded()) {
      float *copy = place.operand.get(loadInput.getResultBytes());
      loadInput.run(image, copy);
      from = copy;
    }
    float *to = storeOutput.isNeeded() ? place.result.get(storeOutput.getSourceBytes()) : output;
    prepared.run({{DNNL_ARG_SRC, &inputLayout, from},
                  {DNNL_ARG_WEIGHTS, &kernelLayout, kernel},
                  {DNNL_ARG_DST, &outputLayout, to}});
    if (storeOutput.isNeeded())
      storeOutput.run(to, output);
  }

  int64_t images, parts, inputSize, outputSize; ///< sizes: from one image to the next
  int64_t partSize;                             ///< from one part of an image to the next
  std::string implementation;
  Desc inputLayout, kernelLayout, outputLayout;
  Prepared prepared;
  Reorder loadInput, storeOutput;
  SharedReorder loadKernel;
  bool isKernelConstant;
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
        gradientSize(count(conv.output, 1) / parts), kernelSize(count(conv.kernel) / parts) {
    Dims kernel = conv.kernel, output = conv.output;
    kernel[0] = output[1] = conv.output[1] / parts;
    Geometry geometry(conv);
    dnnl::convolution_backward_weights::primitive_desc desc(
        {algorithm::convolution_direct, anyLayout(conv.input), anyLayout(kernel), anyLayout(output),
         geometry.strides, geometry.dilations, geometry.low, geometry.high},
        ownScratchpad(), getEngine(),
        describeForward(geometry, anyLayout(conv.input), kernel, anyLayout(output)));
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
         conv.output[1] >= blockChannels && count(conv.input) > 0 && count(conv.kernel) > 0 &&
         count(conv.output) > 0 && !areNegative(conv.low) && !areNegative(conv.high);
}

template <typename Direct> std::unique_ptr<DirectConv> make(const Convolution &conv) {
  limitLibraryThreads(); // kernels are made for the number of threads that this one may use
  try {
    auto direct = std::make_unique<Direct>(conv);
    if (direct->isFast())
      return direct;
  } catch (const dnnl::error &) {
    // There is none.
  }
  return nullptr;
}

} // namespace

std::unique_ptr<DirectConv> makeDirectConv(const Convolution &conv) {
  // Of points, the input is an operand of a product as it lies.
  auto are = [](const std::vector<int64_t> &values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [=](int64_t v) { return v == value; });
  };
  bool points =
      count(conv.kernel, 2) == 1 && are(conv.strides, 1) && are(conv.low, 0) && are(conv.high, 0);
  bool isWide = count(conv.output, 2) > fewPositions, isLast = conv.inputLast || conv.outputLast;
  if (!isCandidate(conv) || (points && !isLast && (isWide || conv.output[0] < wantedTasks)))
    return nullptr;
  return make<DirectForward>(conv);
}

std::unique_ptr<DirectConv> makeDirectKernelGradient(const Convolution &conv) {
  if (!isCandidate(conv) || count(conv.kernel, 2) == 1)
    return nullptr;
  return make<DirectKernelGradient>(conv);
}

} // namespace weft::runtime

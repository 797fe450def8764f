//===- Conv.cpp - convolutions --------------------------------------------===//
//
// oneDNN's forward convolution for f32 with one to three spatial dimensions, cut into slices of the
// batch or of the output channels, one primitive a distinct slice, made once. Whatever else there
// is (other types, dilated groups of odd rank) is computed plainly, in double or 64-bit integers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/Action.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>

namespace weft::runtime {

namespace {

struct Geometry {
  std::vector<int64_t> strides, low, high, dilations;
  int64_t groups;
};

/// Row-major copies of strided operands; `data` points at the operand itself where it is row-major.
class Packed {
public:
  void load(const View &view, const Bases &bases) {
    address = view.getAddress(bases);
    if (view.isContiguous())
      return;
    allocate(view);
    copy->execute({const_cast<std::byte *>(view.getAddress(bases)) - view.offset, buffer.data()},
                  alone);
    address = buffer.data();
  }
  /// Memory for a result that store() spreads.
  void reserve(const View &view, const Bases &bases) {
    address = view.getAddress(bases);
    if (view.isContiguous())
      return;
    buffer.resize(view.getNumBytes());
    address = buffer.data();
  }
  void store(const View &view, const Bases &bases) {
    if (view.isContiguous())
      return;
    View to = view, from = makeBufferView(view);
    to.arena = 0;
    makeCopyAction(from, to)->execute({view.getAddress(bases) - view.offset, buffer.data()}, alone);
  }
  std::byte *getData() const { return address; }

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

/// oneDNN's primitive for a slice, with the memory it works in.
struct Primitive {
  dnnl::convolution_forward::primitive_desc desc;
  dnnl::convolution_forward primitive;
};

dnnl::memory::desc makeDesc(const std::vector<int64_t> &shape) {
  return {shape, dnnl::memory::data_type::f32, getRowMajorStrides(shape)};
}

class ConvAction : public Action {
public:
  ConvAction(View input, View kernel, View output, Geometry geometry)
      : input(std::move(input)), kernel(std::move(kernel)), output(std::move(output)),
        geometry(std::move(geometry)) {
    size_t spatial = this->output.shape.size() - 2;
    useLibrary = this->output.dtype == program::F32 && spatial >= 1 && spatial <= 3 &&
                 this->kernel.getNumElements() > 0 && this->input.getNumElements() > 0;
    for (size_t i = 0; i < spatial; ++i)
      useLibrary &= this->geometry.low[i] >= 0 && this->geometry.high[i] >= 0;
  }

  void execute(const Bases &bases, ThreadPool &pool) override {
    if (output.getNumElements() == 0)
      return;
    packedInput.load(input, bases);
    packedKernel.load(kernel, bases);
    packedOutput.reserve(output, bases);
    int64_t batch = output.shape[0], channels = output.shape[1];
    int64_t threads = pool.getNumThreads();
    bool byBatch = batch >= threads || geometry.groups > 1;
    int64_t extent = byBatch ? batch : channels;
    int64_t step = (extent + threads - 1) / threads;
    int64_t slices = (extent + step - 1) / step;
    if (useLibrary)
      makePrimitives(byBatch, extent, step);
    pool.parallelFor(slices, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t slice = lo; slice < hi; ++slice)
        runSlice(byBatch, slice * step, std::min(extent, (slice + 1) * step));
    });
    packedOutput.store(output, bases);
  }

private:
  void makePrimitives(bool byBatch, int64_t extent, int64_t step) {
    for (int64_t count : {std::min(step, extent), (extent - 1) % step + 1})
      if (!primitives.count(count))
        primitives.emplace(count, makePrimitive(byBatch, count));
  }

  Primitive makePrimitive(bool byBatch, int64_t count) {
    std::vector<int64_t> source = input.shape, weights = kernel.shape, result = output.shape;
    (byBatch ? source[0] : weights[0]) = count;
    (byBatch ? result[0] : result[1]) = count;
    if (geometry.groups > 1) {
      weights[0] /= geometry.groups;
      weights.insert(weights.begin(), geometry.groups);
    }
    std::vector<int64_t> dilations = geometry.dilations; // oneDNN counts the elements between
    for (int64_t &dilation : dilations)
      --dilation;
    dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::convolution_direct, makeDesc(source),
                                         makeDesc(weights), makeDesc(result), geometry.strides,
                                         dilations, geometry.low, geometry.high);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    dnnl::convolution_forward::primitive_desc made(desc, attributes, engine);
    return {made, dnnl::convolution_forward(made)};
  }

  void runSlice(bool byBatch, int64_t begin, int64_t end) {
    int64_t size = getElementSize(output.dtype);
    int64_t perInput = input.getNumElements() / input.shape[0];
    int64_t perOutput = output.getNumElements() / output.shape[0];
    if (!useLibrary)
      return runPlainly(byBatch, begin, end);
    std::byte *from = packedInput.getData(), *weights = packedKernel.getData(),
              *to = packedOutput.getData();
    if (byBatch) {
      run(end - begin, from + begin * perInput * size, weights, to + begin * perOutput * size);
      return;
    }
    // A slice of channels is contiguous within one element of the batch only.
    weights += begin * (kernel.getNumElements() / kernel.shape[0]) * size;
    int64_t perChannel = perOutput / output.shape[1];
    if (output.shape[0] == 1)
      return run(end - begin, from, weights, to + begin * perChannel * size);
    std::vector<std::byte> result(output.shape[0] * (end - begin) * perChannel * size);
    run(end - begin, from, weights, result.data());
    int64_t run = (end - begin) * perChannel * size;
    for (int64_t i = 0; i < output.shape[0]; ++i)
      std::memcpy(to + (i * perOutput + begin * perChannel) * size, result.data() + i * run, run);
  }

  void run(int64_t count, std::byte *from, std::byte *weights, std::byte *to) {
    const Primitive &primitive = primitives.at(count);
    std::vector<std::byte> scratch(primitive.desc.scratchpad_desc().get_size());
    dnnl::memory source(primitive.desc.src_desc(), engine, from);
    dnnl::memory filter(primitive.desc.weights_desc(), engine, weights);
    dnnl::memory result(primitive.desc.dst_desc(), engine, to);
    dnnl::memory pad(primitive.desc.scratchpad_desc(), engine, scratch.data());
    dnnl::stream stream(engine);
    primitive.primitive.execute(stream, {{DNNL_ARG_SRC, source},
                                         {DNNL_ARG_WEIGHTS, filter},
                                         {DNNL_ARG_DST, result},
                                         {DNNL_ARG_SCRATCHPAD, pad}});
    stream.wait();
  }

  void runPlainly(bool byBatch, int64_t begin, int64_t end);
  template <typename T, typename Sum> void runPlainly(bool byBatch, int64_t begin, int64_t end);

  View input;
  View kernel;
  View output;
  Geometry geometry;
  bool useLibrary = false;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  std::map<int64_t, Primitive> primitives; ///< by extent of the slice
  Packed packedInput, packedKernel, packedOutput;
};

struct HalfElement {
  uint16_t bits;
  explicit HalfElement(double value) : bits(floatToHalf(static_cast<float>(value))) {}
  explicit operator double() const { return halfToFloat(bits); }
};
struct BfloatElement {
  uint16_t bits;
  explicit BfloatElement(double value) : bits(floatToBfloat(static_cast<float>(value))) {}
  explicit operator double() const { return bfloatToFloat(bits); }
};

/// Steps `index` row-major through `shape`; false at the end.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &shape, size_t from) {
  for (size_t dim = shape.size(); dim-- > from;) {
    if (++index[dim] < shape[dim])
      return true;
    index[dim] = 0;
  }
  return false;
}

template <typename T, typename Sum>
void ConvAction::runPlainly(bool byBatch, int64_t begin, int64_t end) {
  auto *from = reinterpret_cast<const T *>(packedInput.getData());
  auto *weights = reinterpret_cast<const T *>(packedKernel.getData());
  auto *to = reinterpret_cast<T *>(packedOutput.getData());
  size_t rank = output.shape.size();
  int64_t perGroup = output.shape[1] / geometry.groups;
  std::vector<int64_t> at(rank, 0);
  for (int64_t position = 0;; ++position) {
    if (at[byBatch ? 0 : 1] >= begin && at[byBatch ? 0 : 1] < end) {
      Sum sum(0);
      std::vector<int64_t> tap(rank, 0); // [output channel, channel in group, window…]
      int64_t perOutput = kernel.getNumElements() / kernel.shape[0];
      for (int64_t k = 0; k < perOutput; ++k) {
        int64_t channel = at[1] / perGroup * kernel.shape[1] + tap[1];
        int64_t offset = at[0] * input.shape[1] + channel;
        bool inside = true;
        for (size_t d = 2; d < rank; ++d) {
          int64_t x = at[d] * geometry.strides[d - 2] + tap[d] * geometry.dilations[d - 2] -
                      geometry.low[d - 2];
          inside &= x >= 0 && x < input.shape[d];
          offset = offset * input.shape[d] + x;
        }
        if (inside)
          sum += Sum(from[offset]) * Sum(weights[at[1] * perOutput + k]);
        advance(tap, kernel.shape, 1);
      }
      to[position] = T(sum);
    }
    if (!advance(at, output.shape, 0))
      return;
  }
}

void ConvAction::runPlainly(bool byBatch, int64_t begin, int64_t end) {
  switch (output.dtype) {
  case program::F16:
    return runPlainly<HalfElement, double>(byBatch, begin, end);
  case program::BF16:
    return runPlainly<BfloatElement, double>(byBatch, begin, end);
  case program::F32:
    return runPlainly<float, double>(byBatch, begin, end);
  case program::F64:
    return runPlainly<double, double>(byBatch, begin, end);
  case program::I8:
    return runPlainly<int8_t, uint64_t>(byBatch, begin, end);
  case program::U8:
    return runPlainly<uint8_t, uint64_t>(byBatch, begin, end);
  case program::I32:
    return runPlainly<int32_t, uint64_t>(byBatch, begin, end);
  case program::I64:
    return runPlainly<int64_t, uint64_t>(byBatch, begin, end);
  default:
    throwBadInput("cannot convolve elements of {}", getName(output.dtype));
  }
}

/// Whether shapes and geometry describe a convolution.
bool fits(const View &input, const View &kernel, const View &output, const Geometry &geometry) {
  size_t rank = output.shape.size();
  if (rank < 2 || input.shape.size() != rank || kernel.shape.size() != rank ||
      geometry.groups < 1 || input.dtype != output.dtype || kernel.dtype != output.dtype)
    return false;
  for (const auto *values : {&geometry.strides, &geometry.low, &geometry.high, &geometry.dilations})
    if (values->size() != rank - 2)
      return false;
  bool good = input.shape[0] == output.shape[0] && kernel.shape[0] == output.shape[1] &&
              output.shape[1] % geometry.groups == 0 &&
              kernel.shape[1] * geometry.groups == input.shape[1];
  for (size_t d = 2; good && d < rank; ++d) {
    int64_t stride = geometry.strides[d - 2], dilation = geometry.dilations[d - 2];
    int64_t window = (kernel.shape[d] - 1) * dilation + 1;
    int64_t padded = input.shape[d] + geometry.low[d - 2] + geometry.high[d - 2];
    good = stride >= 1 && dilation >= 1 && padded >= window &&
           output.shape[d] == (padded - window) / stride + 1;
  }
  return good;
}

} // namespace

std::unique_ptr<Action> makeConvAction(View input, View kernel, View output,
                                       const program::Conv &conv) {
  Geometry geometry{{conv.strides().begin(), conv.strides().end()},
                    {conv.low().begin(), conv.low().end()},
                    {conv.high().begin(), conv.high().end()},
                    {conv.dilations().begin(), conv.dilations().end()},
                    conv.groups()};
  if (!fits(input, kernel, output, geometry))
    throwBadInput("a convolution of operands that do not fit");
  return std::make_unique<ConvAction>(std::move(input), std::move(kernel), std::move(output),
                                      std::move(geometry));
}

} // namespace weft::runtime

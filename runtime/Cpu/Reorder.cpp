#include "runtime/Cpu/Reorder.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <unordered_map>

namespace weft::runtime {

const dnnl::engine &getDnnlEngine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

float *Scratch::get(size_t bytes) {
  if (bytes <= size)
    return data.get();
  size = 0;
  data.reset(static_cast<float *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)));
  if (!data)
    throwFailure("no memory for {} bytes that a convolution works in", bytes);
  size = bytes;
  return data.get();
}

Workplace &Workplace::get() {
  thread_local Workplace place;
  return place;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Desc anyLayout(const Dims &dims) {
  return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
}

Desc rowMajor(const Dims &dims, const Dims &whole) {
  Dims strides(dims.size(), 1);
  for (size_t dim = dims.size() - 1; dim-- > 0;)
    strides[dim] = strides[dim + 1] * whole[dim + 1];
  return {dims, dnnl::memory::data_type::f32, strides};
}

Desc channelsLast(const Dims &dims, const Dims &whole) {
  Dims strides(dims.size(), 1);
  int64_t step = whole[1];
  for (size_t dim = dims.size() - 1; dim > 1; step *= whole[dim--])
    strides[dim] = step;
  strides[0] = step;
  return {dims, dnnl::memory::data_type::f32, strides};
}

int64_t countElements(const Dims &dims, size_t from) {
  int64_t product = 1;
  for (size_t dim = from; dim < dims.size(); ++dim)
    product *= dims[dim];
  return product;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

void Prepared::run(
    std::initializer_list<std::tuple<int, const Desc *, const float *>> operands) const {
  Workplace &place = Workplace::get();
  std::unordered_map<int, dnnl::memory> arguments;
  auto add = [&](int argument, const Desc &desc, const float *data) {
    arguments.emplace(argument, dnnl::memory(desc, getDnnlEngine(), const_cast<float *>(data)));
  };
  for (const auto &[argument, desc, data] : operands)
    add(argument, *desc, data);
  if (size_t bytes = scratchpad.get_size())
    add(DNNL_ARG_SCRATCHPAD, scratchpad, place.own.get(bytes));
  primitive.execute(place.stream, arguments);
  place.stream.wait();
}

dnnl::primitive_attr ownScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Reorder::Reorder(const Desc &from, const Desc &to) : from(from), to(to) {
  if (from == to)
    return;
  dnnl::reorder::primitive_desc desc(getDnnlEngine(), from, getDnnlEngine(), to, ownScratchpad());
  prepared = {dnnl::reorder(desc), desc};
}

void Reorder::run(const float *data, float *result) const {
  prepared.run({{DNNL_ARG_FROM, &from, data}, {DNNL_ARG_TO, &to, result}});
}

SharedReorder::SharedReorder(const Desc &from, const Desc &to, int64_t step) : from(from), to(to) {
  if (from == to)
    return;
  Dims dims = from.dims(), offsets(dims.size(), 0);
  for (; offsets[0] < from.dims()[0]; offsets[0] += step) {
    dims[0] = std::min(step, from.dims()[0] - offsets[0]);
    parts.emplace_back(from.submemory_desc(dims, offsets), to.submemory_desc(dims, offsets));
  }
}

const float *SharedReorder::load(const float *data, int64_t tensors, Scratch &scratch,
                                 ThreadPool &pool) const {
  if (parts.empty())
    return data;
  float *copies = scratch.get(tensors * to.get_size());
  int64_t size = countElements(from.dims()), each = int64_t(parts.size());
  pool.parallelFor(tensors * each, 1, [&](int64_t lo, int64_t hi) {
    for (int64_t task = lo; task < hi; ++task)
      parts[task % each].run(data + task / each * size, copies + task / each * getSize());
  });
  return copies;
}

} // namespace weft::runtime

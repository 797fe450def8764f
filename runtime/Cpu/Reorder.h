//===- Reorder.h - operands as oneDNN's kernels want them -------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CPU_REORDER_H
#define WEFT_RUNTIME_CPU_REORDER_H

#include "runtime/Cpu/ThreadPool.h"

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <vector>

namespace weft::runtime {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

const dnnl::engine &getDnnlEngine();

/// Memory that calls use one after another; it only grows.
class Scratch {
public:
  float *get(size_t bytes);

private:
  struct Free {
    void operator()(float *memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> data;
  size_t size = 0;
};

/// What a thread works in.
struct Workplace {
  dnnl::stream stream{getDnnlEngine()};
  Scratch shared; ///< an operand that all threads read, in memory of the thread that asks
  Scratch operand, result, own;

  static Workplace &get();
};

/// In f32, as the kernel likes it.
Desc anyLayout(const Dims &dims);
/// Row-major as a part of a tensor of shape `whole`.
Desc rowMajor(const Dims &dims, const Dims &whole);
/// A part of a tensor of shape `whole` that lies as [n, s…, c].
Desc channelsLast(const Dims &dims, const Dims &whole);

/// The product of the extents from a dimension on.
int64_t countElements(const Dims &dims, size_t from = 0);

/// A primitive and the memory it wants beside its operands.
class Prepared {
public:
  Prepared() = default;
  template <typename PrimitiveDesc>
  Prepared(const dnnl::primitive &primitive, const PrimitiveDesc &desc)
      : primitive(primitive), scratchpad(desc.scratchpad_desc()) {}

  explicit operator bool() const { return bool(primitive); }

  /// Operands: argument, layout, data.
  void run(std::initializer_list<std::tuple<int, const Desc *, const float *>> operands) const;

private:
  dnnl::primitive primitive;
  Desc scratchpad;
};

/// Of primitives that Prepared runs.
dnnl::primitive_attr ownScratchpad();

/// A copy of an operand in another layout.
class Reorder {
public:
  Reorder() = default;
  Reorder(const Desc &from, const Desc &to);

  bool isNeeded() const { return bool(prepared); }
  size_t getSourceBytes() const { return from.get_size(); }
  size_t getResultBytes() const { return to.get_size(); }
  void run(const float *data, float *result) const;

private:
  Desc from, to;
  Prepared prepared;
};

/// A copy that threads share out, in parts of the leading dimension.
class SharedReorder {
public:
  SharedReorder() = default;
  /// Parts begin at multiples of `step`.
  SharedReorder(const Desc &from, const Desc &to, int64_t step);

  /// Elements from one tensor that load() returns to the next.
  int64_t getSize() const { return int64_t(to.get_size() / sizeof(float)); }
  /// `tensors` that lie one behind another, or their copies in `scratch`.
  const float *load(const float *data, int64_t tensors, Scratch &scratch, ThreadPool &pool) const;

private:
  Desc from, to;
  std::vector<Reorder> parts;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_REORDER_H

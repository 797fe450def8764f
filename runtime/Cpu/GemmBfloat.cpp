//===- GemmBfloat.cpp - one matrix product of bf16 ------------------------===//
//
// Processors with products of bf16 sum them in f32 at twice the rate of f32, from matrices as they
// lie: nothing is widened.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cpu/MatrixLayout.h"
#include "runtime/Cpu/Reorder.h"

#include <array>
#include <map>

namespace weft::runtime {

namespace {

using Key = std::array<int64_t, 10>; ///< extents, layouts, and whether it is added

struct Product {
  Desc left, right, result;
  Prepared prepared;
};

Dims getStrides(const Matrix &m) {
  Layout layout = getLayout(m);
  return layout.transpose == 'N' ? Dims{layout.leading, 1} : Dims{1, layout.leading};
}

Desc describe(const Matrix &m) {
  return {{m.rows, m.columns}, dnnl::memory::data_type::bf16, getStrides(m)};
}

Product prepare(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  Product product{describe(a), describe(b), describe(c), {}};
  dnnl::primitive_attr attributes = ownScratchpad();
  if (accumulate) {
    dnnl::post_ops sum;
    sum.append_sum();
    attributes.set_post_ops(sum);
  }
  dnnl::matmul::primitive_desc desc({product.left, product.right, product.result}, attributes,
                                    getDnnlEngine());
  product.prepared = {dnnl::matmul(desc), desc};
  return product;
}

} // namespace

/// As far as oneDNN uses what the processor has: features of one kind are those of another and
/// more.
static bool hasProducts() {
  auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  auto needed = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_bf16);
  return (used & needed) == needed;
}

bool isOfBfloats(const Matrix &a, const Matrix &b, const Matrix &c) {
  static const bool isSupported = hasProducts();
  auto fits = [](const Matrix &m) { return m.dtype == program::BF16 && getLayout(m).fits; };
  return isSupported && fits(a) && fits(b) && fits(c) && a.columns > 0 && c.rows > 0 &&
         c.columns > 0;
}

void multiplyBfloats(const Matrix &a, const Matrix &b, const Matrix &c, bool accumulate) {
  thread_local std::map<Key, Product> products; // a program has some dozens
  Dims sa = getStrides(a), sb = getStrides(b), sc = getStrides(c);
  Key key{c.rows, c.columns, a.columns, sa[0], sa[1], sb[0], sb[1], sc[0], sc[1], accumulate};
  auto found = products.find(key);
  if (found == products.end())
    found = products.emplace(key, prepare(a, b, c, accumulate)).first;
  const Product &product = found->second;
  auto data = [](const Matrix &m) { return reinterpret_cast<const float *>(m.data); };
  product.prepared.run({{DNNL_ARG_SRC, &product.left, data(a)},
                        {DNNL_ARG_WEIGHTS, &product.right, data(b)},
                        {DNNL_ARG_DST, &product.result, data(c)}});
}

} // namespace weft::runtime

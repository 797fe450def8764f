#include "compiler/Interpret/Blocks.h"

#include "compiler/Interpret/Strided.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

Tensor weft::stridedView(RankedTensorType type, const Tensor &input, int64_t start,
                         ArrayRef<int64_t> strides) {
  if (input.isSplat() && type.getNumElements() != 0)
    return input.withType(type);
  Tensor result = Tensor::allocate(type);
  copyStrided(type.getShape(), result.elementBytes(), result.mutableData(),
              rowMajorStrides(type.getShape()), input.data() + start * input.elementBytes(),
              strides);
  return result;
}

static int64_t elementNumber(ArrayRef<int64_t> position, ArrayRef<int64_t> strides) {
  int64_t number = 0;
  for (auto [at, stride] : llvm::zip_equal(position, strides))
    number += at * stride;
  return number;
}

Tensor weft::blockAt(const Tensor &input, ArrayRef<int64_t> starts, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides = rowMajorStrides(input.shape());
  return stridedView(input.type().clone(shape), input, elementNumber(starts, strides), strides);
}

void weft::placeBlock(Tensor &into, const Tensor &block, ArrayRef<int64_t> starts) {
  SmallVector<int64_t> strides = rowMajorStrides(into.shape());
  SmallVector<int64_t> own = rowMajorStrides(block.shape());
  if (block.isSplat())
    own.assign(own.size(), 0);
  char *to = into.mutableData() + elementNumber(starts, strides) * into.elementBytes();
  copyStrided(block.shape(), into.elementBytes(), to, strides, block.data(), own);
}

Tensor weft::joinAlong(RankedTensorType type, ArrayRef<Tensor> parts, int64_t dim) {
  if (areSameSplats(parts))
    return parts.front().withType(type);
  Tensor result = Tensor::allocate(type);
  SmallVector<int64_t> starts(type.getRank(), 0);
  for (const Tensor &part : parts) {
    placeBlock(result, part, starts);
    starts[dim] += part.shape()[dim];
  }
  return result;
}

Tensor weft::transposed(const Tensor &input, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape, strides, own = rowMajorStrides(input.shape());
  for (int64_t dim : permutation) {
    shape.push_back(input.shape()[dim]);
    strides.push_back(own[dim]);
  }
  return stridedView(input.type().clone(shape), input, 0, strides);
}

bool weft::areSameSplats(ArrayRef<Tensor> tensors) {
  return llvm::all_of(tensors, [&](const Tensor &tensor) {
    return tensor.isSplat() && tensor.raw() == tensors.front().raw();
  });
}

#include "frontends/common/Parts.h"

using namespace mlir;
using namespace weft::frontend;

void weft::frontend::checkParts(Value x, int64_t dim, ArrayRef<int64_t> sizes) {
  int64_t left = shapeOf(x)[dim];
  for (int64_t size : sizes) {
    if (size < 0 || size > left)
      throw ImportError("the sizes of the parts exceed dimension " + std::to_string(dim) + " of " +
                        describe(x));
    left -= size;
  }
  if (left != 0)
    throw ImportError("the sizes of the parts do not sum to dimension " + std::to_string(dim) +
                      " of " + describe(x));
}

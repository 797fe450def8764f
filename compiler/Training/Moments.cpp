#include "compiler/Training/Moments.h"

#include "compiler/Training/Losses.h"

using namespace mlir;
using namespace weft;

Value weft::spreadScalar(TensorBuilder &b, Value scalar, Value like) {
  return b.broadcast(b.castTo(scalar, elementOf(like)), cast<RankedTensorType>(like.getType()), {});
}

Value weft::scaleBy(TensorBuilder &b, Value x, double number) {
  return b.mul(x, b.splat(x, number));
}

Value weft::scaleBy(TensorBuilder &b, Value x, Value scalar) {
  return b.mul(x, spreadScalar(b, scalar, x));
}

Value weft::moveTowards(TensorBuilder &b, Value mean, Value x, Value share) {
  return b.add(mean, scaleBy(b, b.sub(x, mean), share));
}

Value weft::moveTowards(TensorBuilder &b, Value mean, Value x, double share) {
  return b.add(mean, scaleBy(b, b.sub(x, mean), share));
}

Value weft::buildNorm(TensorBuilder &b, Value x) {
  return b.make<SqrtOp>(buildSum(b, b.mul(x, x)));
}

Moments weft::updateMoments(TensorBuilder &b, const Moments &old, Value gradient, double beta1,
                            double beta2) {
  Value square = b.mul(gradient, gradient);
  return {moveTowards(b, old.first, gradient, 1 - beta1),
          b.add(scaleBy(b, old.second, beta2), scaleBy(b, square, 1 - beta2))};
}

Value weft::normalizeMoments(TensorBuilder &b, const Moments &moments, Value firstScale,
                             Value rootScale, double epsilon) {
  Value root = scaleBy(b, b.make<SqrtOp>(moments.second), rootScale);
  Value divisor = b.add(root, b.splat(root, epsilon));
  return b.make<DivOp>(scaleBy(b, moments.first, firstScale), divisor);
}

Value weft::updateVelocity(TensorBuilder &b, Value velocity, Value gradient, double momentum) {
  return b.add(scaleBy(b, velocity, momentum), gradient);
}

// The optimizers, one class each, alphabetical. Arithmetic and its order are torch's, of
// optax.lamb where torch has none.

#include "compiler/Training/UpdateRule.h"

#include "compiler/Training/Losses.h"
#include "compiler/Training/Moments.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace weft;

namespace {
using Values = SmallVector<Value>;

/// What rules share: the optimizer's numbers, and the step's.
class Rule : public UpdateRule {
public:
  explicit Rule(const plan::Optimizer &optimizer) : numbers(optimizer) {}

  void beginStep(TensorBuilder &b, Value step, Value rate) override {
    learningRate = rate;
    decay = numbers.weight_decay() == 0
                ? Value()
                : b.sub(b.splat(rate, 1), scaleBy(b, rate, numbers.weight_decay()));
  }

protected:
  /// x·(1 - learning rate · weight decay): decay that does not pass the optimizer.
  Value decayed(TensorBuilder &b, const TrainedValue &parameter) const {
    return decay && parameter.decays ? scaleBy(b, parameter.value, decay) : parameter.value;
  }
  /// gradient + weight decay · x: decay as a part of the gradient.
  Value penalized(TensorBuilder &b, const TrainedValue &parameter) const {
    if (!decay || !parameter.decays)
      return parameter.gradient;
    return b.add(parameter.gradient, scaleBy(b, parameter.value, numbers.weight_decay()));
  }
  /// x - learning rate · direction
  Value descend(TensorBuilder &b, Value x, Value direction) const {
    return b.sub(x, scaleBy(b, direction, learningRate));
  }

  const plan::Optimizer numbers;
  Value learningRate;
  Value decay; ///< null: none
};

//===----------------------------------------------------------------------===//
// Adafactor
//===----------------------------------------------------------------------===//

/// Second moments of matrices are kept as means of rows and of columns.
class Adafactor : public Rule {
public:
  using Rule::Rule;

  bool isElementwise() const override { return false; }

  SmallVector<State> listStates(RankedTensorType type) const override {
    if (type.getRank() < 2)
      return {{"v", type}};
    return {{"row", without(type, type.getRank() - 1)},
            {"column", without(type, type.getRank() - 2)}};
  }

  void beginStep(TensorBuilder &b, Value step, Value rate) override {
    Rule::beginStep(b, step, rate);
    share = b.make<PowOp>(step, b.splat(step, -0.8));
    relative = b.make<MinOp>(rate, b.make<RsqrtOp>(step));
  }

  Values update(TensorBuilder &b, const TrainedValue &parameter, ArrayRef<Value> states) override {
    Value gradient = parameter.gradient;
    double epsilon = epsilonOf(elementOf(gradient));
    Values next;
    Value variance = rankOf(gradient) < 2 ? ofVector(b, gradient, states, next)
                                          : ofMatrix(b, gradient, states, epsilon, next);
    Value bounded = b.make<MaxOp>(variance, b.splat(variance, epsilon * epsilon));
    Value direction = b.mul(b.make<RsqrtOp>(bounded), gradient);
    Value size = b.make<MaxOp>(rootMeanSquare(b, direction), one(b, direction));
    Value scale = rootMeanSquare(b, parameter.value);
    scale = b.make<MaxOp>(scale, b.splat(scale, numbers.epsilon()));
    Value length = b.mul(scale, b.castTo(relative, elementOf(scale)));
    Value moved = scaleBy(b, direction, b.make<DivOp>(length, size));
    next.insert(next.begin(), b.sub(decayed(b, parameter), moved));
    return next;
  }

private:
  static RankedTensorType without(RankedTensorType type, int64_t dim) {
    SmallVector<int64_t> shape(type.getShape());
    shape.erase(shape.begin() + dim);
    return RankedTensorType::get(shape, type.getElementType());
  }
  static double epsilonOf(Type element) {
    return element.isF64() ? std::numeric_limits<double>::epsilon()
                           : std::numeric_limits<float>::epsilon();
  }
  static Value one(TensorBuilder &b, Value like) {
    return b.splat(RankedTensorType::get({}, elementOf(like)), 1);
  }
  static Value rootMeanSquare(TensorBuilder &b, Value x) {
    return b.make<SqrtOp>(buildMean(b, b.mul(x, x)));
  }
  static Value meanAlong(TensorBuilder &b, Value x, int64_t dim) {
    return scaleBy(b, b.reduce(ReduceKind::Sum, x, dim), 1.0 / shapeOf(x)[dim]);
  }

  Value ofVector(TensorBuilder &b, Value gradient, ArrayRef<Value> states, Values &next) const {
    next.push_back(moveTowards(b, states[0], b.mul(gradient, gradient), share));
    return next.front();
  }
  /// row · column / the rows' mean
  Value ofMatrix(TensorBuilder &b, Value gradient, ArrayRef<Value> states, double epsilon,
                 Values &next) const {
    int64_t last = rankOf(gradient) - 1;
    Value square = b.mul(gradient, gradient);
    next.push_back(moveTowards(b, states[0], meanAlong(b, square, last), share));
    next.push_back(moveTowards(b, states[1], meanAlong(b, square, last - 1), share));
    Value mean = meanAlong(b, next[0], last - 1);
    Value bounded = b.make<MaxOp>(mean, b.splat(mean, epsilon));
    Value rows = b.make<DivOp>(next[0], b.spread(bounded, next[0], last - 1));
    return b.mul(b.spread(rows, gradient, last), b.spread(next[1], gradient, last - 1));
  }

  Value share, relative;
};

//===----------------------------------------------------------------------===//
// Adam, AdamW
//===----------------------------------------------------------------------===//

class Adam : public Rule {
public:
  using Rule::Rule;

  SmallVector<State> listStates(RankedTensorType type) const override {
    return {{"m", type}, {"v", type}};
  }

  void beginStep(TensorBuilder &b, Value step, Value rate) override {
    Rule::beginStep(b, step, rate);
    auto correction = [&](double beta) {
      return b.sub(b.splat(step, 1), b.make<PowOp>(b.splat(step, beta), step));
    };
    firstScale = b.make<ReciprocalOp>(correction(numbers.beta1()));
    rootScale = b.make<RsqrtOp>(correction(numbers.beta2()));
  }

  Values update(TensorBuilder &b, const TrainedValue &parameter, ArrayRef<Value> states) override {
    bool isDecoupled = numbers.kind() == plan::Optimizer::ADAMW;
    Value gradient = isDecoupled ? parameter.gradient : penalized(b, parameter);
    Moments moments =
        updateMoments(b, {states[0], states[1]}, gradient, numbers.beta1(), numbers.beta2());
    Value x = isDecoupled ? decayed(b, parameter) : parameter.value;
    return {b.sub(x, direction(b, moments, b.mul(firstScale, learningRate))), moments.first,
            moments.second};
  }

protected:
  Value direction(TensorBuilder &b, const Moments &moments, Value scale) const {
    return normalizeMoments(b, moments, scale, rootScale, numbers.epsilon());
  }

  Value firstScale, rootScale;
};

//===----------------------------------------------------------------------===//
// LAMB
//===----------------------------------------------------------------------===//

/// You et al., Large batch optimization for deep learning: Adam's direction, as long as the
/// parameter itself.
class Lamb : public Adam {
public:
  using Adam::Adam;

  bool isElementwise() const override { return false; }

  Values update(TensorBuilder &b, const TrainedValue &parameter, ArrayRef<Value> states) override {
    Moments moments = updateMoments(b, {states[0], states[1]}, parameter.gradient, numbers.beta1(),
                                    numbers.beta2());
    TrainedValue adam = parameter;
    adam.gradient = direction(b, moments, firstScale);
    Value step = penalized(b, adam);
    Value own = buildNorm(b, parameter.value), length = buildNorm(b, step);
    Value zero = b.splat(own, 0);
    Value some = b.make<AndOp>(b.make<CompareOp>(CompareDirection::NE, own, zero),
                               b.make<CompareOp>(CompareDirection::NE, length, zero));
    Value ratio = b.make<SelectOp>(some, b.make<DivOp>(own, length), b.splat(own, 1));
    Value rate = b.mul(ratio, b.castTo(learningRate, elementOf(ratio)));
    return {b.sub(parameter.value, scaleBy(b, step, rate)), moments.first, moments.second};
  }
};

//===----------------------------------------------------------------------===//
// SGD
//===----------------------------------------------------------------------===//

class Sgd : public Rule {
public:
  using Rule::Rule;

  SmallVector<State> listStates(RankedTensorType type) const override {
    return numbers.momentum() == 0 ? SmallVector<State>() : SmallVector<State>{{"m", type}};
  }

  Values update(TensorBuilder &b, const TrainedValue &parameter, ArrayRef<Value> states) override {
    Value direction = penalized(b, parameter);
    if (states.empty())
      return {descend(b, parameter.value, direction)};
    Value velocity = updateVelocity(b, states[0], direction, numbers.momentum());
    if (numbers.nesterov())
      direction = b.add(direction, scaleBy(b, velocity, numbers.momentum()));
    else
      direction = velocity;
    return {descend(b, parameter.value, direction), velocity};
  }
};
} // namespace

std::unique_ptr<UpdateRule> weft::makeUpdateRule(const plan::Optimizer &optimizer) {
  switch (optimizer.kind()) {
  case plan::Optimizer::ADAFACTOR:
    return std::make_unique<Adafactor>(optimizer);
  case plan::Optimizer::ADAM:
  case plan::Optimizer::ADAMW:
    return std::make_unique<Adam>(optimizer);
  case plan::Optimizer::LAMB:
    return std::make_unique<Lamb>(optimizer);
  default:
    return std::make_unique<Sgd>(optimizer);
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The factor behind the warm-up, by the number of steps done since.
static Value buildDecline(TensorBuilder &b, const plan::Schedule &schedule, Value done) {
  double length = std::max<int64_t>(schedule.total_steps() - schedule.warmup(), 1);
  Value behind = b.sub(done, b.splat(done, schedule.warmup()));
  Value progress = scaleBy(b, behind, 1 / length);
  Value one = b.splat(done, 1), zero = b.splat(done, 0);
  Value factor;
  if (schedule.kind() == plan::Schedule::LINEAR)
    factor = b.sub(one, progress);
  else
    factor = scaleBy(b, b.add(one, b.make<CosOp>(scaleBy(b, progress, std::numbers::pi))), 0.5);
  Value isOver = b.make<CompareOp>(CompareDirection::GE, progress, one);
  return b.make<SelectOp>(isOver, zero, factor);
}

Value weft::buildLearningRate(TensorBuilder &b, const plan::Optimizer &optimizer, Value done) {
  const plan::Schedule &schedule = optimizer.schedule();
  Value factor = schedule.kind() == plan::Schedule::CONSTANT ? b.splat(done, 1)
                                                             : buildDecline(b, schedule, done);
  if (schedule.warmup() > 0) {
    Value rising = scaleBy(b, done, 1.0 / schedule.warmup());
    factor = b.selectBelow(done, b.splat(done, schedule.warmup()), rising, factor);
  }
  return scaleBy(b, factor, optimizer.learning_rate());
}

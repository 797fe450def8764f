//===- gradient_cases.cpp - gradients against central differences ---------===//
//
// gradient_cases FILE.mlir…: differentiates every function of the files by all its arguments of
// floats, and compares each element's gradient with (f(x + h) - f(x - h)) / 2h in f64, by the
// interpreter; once more with everything written out that consists of others. Arguments have random
// values, or those of their attribute `test.values`; results are weighed at random. A function with
// `test.gradients`, what another program computed, is held against these instead, with the weights
// `test.seed` of its result. Elementwise operations need no function: all that are registered are
// tested where their differences settle. Every other operation that takes floats must occur.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Training/Differentiate.h"
#include "dialects/Weft/IR/Decomposition.h"
#include "dialects/Weft/IR/Elementwise.h"
#include "dialects/Weft/IR/Gradient.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <cstdio>
#include <random>
#include <set>

using namespace mlir;
using namespace weft;

namespace {

constexpr double step = 1e-5, tolerance = 1e-6;
using Numbers = std::vector<double>;

template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}

bool isFloatTensor(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A function, its gradient, and values of its arguments.
class GradientCase {
public:
  GradientCase(func::FuncOp function, std::mt19937 &random)
      : module(function->getParentOfType<ModuleOp>()), function(function) {
    for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
      auto type = cast<RankedTensorType>(argument.getType());
      auto values = function.getArgAttrOfType<ElementsAttr>(index, "test.values");
      if (isFloatTensor(type))
        variables.push_back(index);
      else if (!values)
        throw std::runtime_error("an argument of integers lacks test.values");
      inputs.push_back(values ? take(Tensor::fromElements(values)).dense() : draw(type, random));
    }
    if (auto seed = function->getAttrOfType<ElementsAttr>("test.seed"))
      seeds.push_back(take(Tensor::fromElements(seed)).dense());
    else
      drawSeeds(random);
  }

  void drawSeeds(std::mt19937 &random) {
    for (Type type : function.getResultTypes())
      seeds.push_back(isFloatTensor(type) ? draw(cast<RankedTensorType>(type), random) : Tensor());
  }

  /// What differs; empty if nothing.
  std::string run() {
    SmallVector<Variable> by(variables.begin(), variables.end());
    auto gradient = weft::differentiate(function, by, (function.getName() + ".grad").str());
    if (failed(gradient) || failed(verify(*gradient)))
      return "cannot be differentiated";
    auto given = function->getAttrOfType<ArrayAttr>("test.gradients");
    Numbers expected = given ? numbersIn(given) : differences();
    std::string problem = compare(*gradient, expected);
    decomposeAll(*gradient);
    std::string written = compare(*gradient, expected);
    return problem.empty() && !written.empty() ? "written out: " + written : problem;
  }

private:
  static Tensor draw(RankedTensorType type, std::mt19937 &random) {
    std::uniform_real_distribution<double> numbers(-1, 1);
    Numbers values(type.getNumElements());
    for (double &value : values)
      value = numbers(random);
    return tensorOf(type, values);
  }

  static Numbers numbersIn(ArrayAttr gradients) {
    Numbers all;
    for (auto elements : gradients.getAsRange<ElementsAttr>())
      llvm::append_range(all, numbersOf<double>(take(Tensor::fromElements(elements))));
    return all;
  }

  /// Σ seed · result, without what is infinite: the greatest of nothing.
  double evaluate(ArrayRef<Tensor> arguments) {
    auto results = take(interpret(module, arguments, readStoredWeight, function.getName()));
    double sum = 0;
    for (auto [result, seed] : llvm::zip_equal(results, seeds))
      if (seed)
        for (auto [own, weight] :
             llvm::zip_equal(numbersOf<double>(result), numbersOf<double>(seed)))
          sum += std::isinf(own) ? 0 : own * weight;
    return sum;
  }

  /// The central differences of all elements of all variables.
  Numbers differences() {
    Numbers all;
    for (unsigned variable : variables) {
      Tensor at = inputs[variable];
      Numbers values = numbersOf<double>(at);
      for (double &value : values) {
        double middle = value;
        auto shifted = [&](double by) {
          value = middle + by;
          inputs[variable] = tensorOf(at.type(), values);
          return evaluate(inputs);
        };
        all.push_back((shifted(step) - shifted(-step)) / (2 * step));
        value = middle;
      }
      inputs[variable] = at;
    }
    return all;
  }

  std::string compare(func::FuncOp gradient, const Numbers &expected) {
    SmallVector<Tensor> arguments = inputs;
    for (const Tensor &seed : seeds)
      if (seed)
        arguments.push_back(seed);
    auto results = take(interpret(module, arguments, readStoredWeight, gradient.getName()));
    size_t number = 0;
    for (auto [variable, result] :
         llvm::zip_equal(variables, ArrayRef(results).drop_front(seeds.size())))
      for (double got : numbersOf<double>(result)) {
        double want = expected[number++];
        bool isNumber = !std::isnan(got) || !std::isnan(want);
        if (isNumber && !(std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want))))
          return "argument " + std::to_string(variable) + ": " + std::to_string(got) +
                 ", expected " + std::to_string(want);
      }
    return number == expected.size() ? "" : "gradients of other sizes";
  }

  ModuleOp module;
  func::FuncOp function;
  SmallVector<unsigned> variables;
  SmallVector<Tensor> inputs, seeds;
};

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

/// Functions of one elementwise operation each, on f64.
class ElementwiseCases {
public:
  ElementwiseCases(MLIRContext &context) : b(&context) {
    module = ModuleOp::create(b.getUnknownLoc());
  }

  /// How many combinations of operands and attributes it takes with a result of floats; prints
  /// those whose gradients are wrong.
  int run(RegisteredOperationName name, bool &right) {
    int found = 0;
    Type number = b.getF64Type();
    SmallVector<Type> lists[] = {{number}, {number, number}, {b.getI1Type(), number, number}};
    for (ArrayRef<Type> operands : lists)
      for (unsigned form = 0; form < 2; ++form)
        if (func::FuncOp function = make(name, operands, form)) {
          ++found;
          right &= check(function);
        }
    return found;
  }

private:
  static constexpr double points[] = {-2.5, -1.7, -1.0, -0.6, -0.1, 0.0, 0.3, 0.5, 1.0, 1.4, 3.0};
  static constexpr int64_t count = std::size(points);

  func::FuncOp make(RegisteredOperationName name, ArrayRef<Type> operands, unsigned form) {
    ScopedDiagnosticHandler quiet(b.getContext(), [](Diagnostic &) { return success(); });
    SmallVector<Type> types;
    for (Type type : operands)
      types.push_back(RankedTensorType::get({count, count}, type));
    NamedAttrList attributes;
    if (llvm::is_contained(name.getAttributeNames(), "form"))
      attributes.set("form", GeluFormAttr::get(b.getContext(), GeluForm(form)));
    else if (form != 0)
      return nullptr;
    b.setInsertionPointToEnd(module->getBody());
    auto function =
        func::FuncOp::create(b, module->getLoc(), (name.getStringRef() + Twine(made++)).str(),
                             b.getFunctionType(types, types.back()));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    Operation *op = b.create(
        OperationState(module->getLoc(), name, body->getArguments(), types.back(), attributes));
    if (failed(verify(op))) {
      function.erase();
      return nullptr;
    }
    func::ReturnOp::create(b, module->getLoc(), op->getResults());
    return function;
  }

  Tensor evaluate(func::FuncOp function, ArrayRef<Tensor> inputs, unsigned index) {
    return take(interpret(*module, inputs, readStoredWeight, function.getName()))[index];
  }

  /// Each element's gradient against its difference, where the function has a value and differences
  /// with half the step and the whole one agree: elsewhere there is none.
  bool check(func::FuncOp function) {
    SmallVector<Tensor> inputs;
    SmallVector<unsigned> variables;
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      Numbers values;
      for (int64_t i = 0; i < count * count; ++i)
        values.push_back(!isFloatTensor(type) ? i % 2 : points[index % 2 ? i / count : i % count]);
      if (isFloatTensor(type))
        variables.push_back(index);
      inputs.push_back(tensorOf(cast<RankedTensorType>(type), values));
    }
    std::string name = (function.getName() + ".grad").str();
    SmallVector<Variable> by(variables.begin(), variables.end());
    auto gradient = weft::differentiate(function, by, name);
    if (failed(gradient))
      return false;
    bool right = true;
    Numbers middle = numbersOf<double>(evaluate(function, inputs, 0));
    for (auto [number, variable] : llvm::enumerate(variables)) {
      auto slope = [&](double distance) {
        SmallVector<Tensor> below(inputs), above(inputs);
        Numbers low = numbersOf<double>(inputs[variable]), high = low;
        for (size_t i = 0; i < low.size(); ++i)
          low[i] -= distance, high[i] += distance;
        below[variable] = tensorOf(inputs[variable].type(), low);
        above[variable] = tensorOf(inputs[variable].type(), high);
        Numbers left = numbersOf<double>(evaluate(function, below, 0));
        Numbers right = numbersOf<double>(evaluate(function, above, 0));
        for (size_t i = 0; i < left.size(); ++i)
          right[i] = std::isfinite(middle[i]) ? (right[i] - left[i]) / (2 * distance) : NAN;
        return right;
      };
      SmallVector<Tensor> arguments(inputs);
      arguments.push_back(tensorOf(inputs[variable].type(), Numbers(count * count, 1)));
      right &=
          compare(function.getName(), numbersOf<double>(evaluate(*gradient, arguments, number + 1)),
                  slope(step), slope(step / 2));
    }
    return right;
  }

  static bool compare(StringRef name, const Numbers &got, const Numbers &whole,
                      const Numbers &half) {
    int settled = 0;
    bool right = true;
    for (size_t i = 0; i < got.size(); ++i) {
      double scale = std::max(1.0, std::abs(whole[i]));
      if (!(std::abs(whole[i] - half[i]) <= tolerance * scale))
        continue;
      ++settled;
      if (std::abs(got[i] - whole[i]) <= 10 * tolerance * scale)
        continue;
      std::printf("%s: FAILED at %zu: %g, expected %g\n", name.str().c_str(), i, got[i], whole[i]);
      right = false;
    }
    if (settled < count)
      std::printf("%s: FAILED: differences at %d points only\n", name.str().c_str(), settled);
    return right && settled >= count;
  }

  OpBuilder b;
  OwningOpRef<ModuleOp> module;
  unsigned made = 0;
};

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// Whether any operand of an operation of this name may be a tensor of f64: so much must be known
/// of it as its own verifier says of one operand.
bool needsCase(RegisteredOperationName name) {
  return name.hasInterface<DifferentiableOpInterface>() &&
         !name.hasInterface<ElementwiseOpInterface>();
}

/// They take no floats, or give none.
const std::set<StringRef> withoutGradient{"weft.constant", "weft.iota", "weft.load"};

bool runElementwise(MLIRContext &context) {
  bool right = true;
  int combinations = 0;
  ElementwiseCases cases(context);
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<ElementwiseOpInterface>() && name.getStringRef() != "weft.stop_gradient")
      combinations += cases.run(name, right);
  std::printf("%d elementwise cases\n", combinations);
  return right;
}

bool runFunctions(ModuleOp module, std::set<StringRef> &seen) {
  std::mt19937 random(1);
  bool right = true;
  SmallVector<func::FuncOp> functions(llvm::make_filter_range(
      module.getOps<func::FuncOp>(), [](func::FuncOp function) { return function.isPublic(); }));
  for (func::FuncOp function : functions) {
    function.walk([&](Operation *op) { seen.insert(op->getName().getStringRef()); });
    std::string problem = GradientCase(function, random).run();
    if (!problem.empty())
      std::printf("%s: FAILED: %s\n", function.getName().str().c_str(), problem.c_str());
    right &= problem.empty();
  }
  std::printf("%zu functions\n", functions.size());
  return right;
}

bool checkAllSeen(MLIRContext &context, const std::set<StringRef> &seen) {
  bool right = true;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (needsCase(name) && !withoutGradient.contains(name.getStringRef()) &&
        !seen.contains(name.getStringRef())) {
      std::printf("%s: FAILED: no function has one\n", name.getStringRef().str().c_str());
      right = false;
    }
  return right;
}

bool run(MLIRContext &context, ArrayRef<char *> files) {
  bool right = runElementwise(context);
  std::set<StringRef> seen;
  for (char *file : files) {
    auto module = parseSourceFile<ModuleOp>(file, &context);
    right &= module && runFunctions(*module, seen);
  }
  return checkAllSeen(context, seen) && right;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: gradient_cases FILE.mlir…\n"), 2;
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect>();
  try {
    return run(context, ArrayRef(argv + 1, argc - 1)) ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

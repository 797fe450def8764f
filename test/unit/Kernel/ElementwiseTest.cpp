// Every elementwise operation that is registered, on every element type that it takes: its
// arithmetic, on scalars and vectors, its rule and its cost; and kernels of it beside the
// interpreter, on ordinary values and on those at the ends of types. An operation that is added is
// tested without a word here; only attributes of its own need an entry in getAttributeChoices.
#include "compiler/Interpret/Evaluate.h"
#include "compiler/Interpret/Numbers.h"
#include "compiler/Kernel/Arithmetic.h"
#include "compiler/Kernel/KernelCompiler.h"
#include "test/unit/Kernel/LoadLibrary.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>

using namespace mlir;
using namespace weft;

namespace {

/// A kernel holds at most so many operations: it compiles in a moment, and its loops stay small.
constexpr size_t mostResults = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values at which functions turn, and, for `isWide`, the ends of integer types.
std::vector<double> getFloats(bool isWide) {
  std::vector<double> values{0.0, -0.0,  1.0,   -1.0, 0.5,      -0.5,      2.5,         -2.5,
                             1.5, 3.0,   0.001, -0.7, 0.3,      10.0,      88.0,        -90.0,
                             1e3, 3e-39, 1e-30, -7.0, infinity, -infinity, std::nan("")};
  if (isWide)
    values.insert(values.end(),
                  {0.99,         -0.99,        127.5,         -128.5,        -129.0,
                   255.5,        256.0,        32767.5,       -32769.0,      65535.5,
                   2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967040.0,
                   4294967296.0, 9.2e18,       9.3e18,        -9.2e18,       -9.3e18,
                   1.84e19,      1.85e19,      1e30,          -1e30});
  return values;
}

std::vector<int64_t> getIntegers(DType type) {
  int64_t bits = elementBits(type);
  auto least = static_cast<int64_t>(~uint64_t(0) << (bits - 1));
  std::vector<int64_t> values{0, 1, -1, 2, -2, 3, 7, -7, 31, 63, 100, -100};
  for (int64_t end : {least, least + 1, ~least, ~least - 1})
    values.push_back(end);
  return values;
}

/// An argument's elements: two of them meet in every pair of values.
Tensor makeValue(RankedTensorType type, unsigned argument, bool isWide) {
  DType element = *getDType(type.getElementType());
  auto fill = [&](auto values) {
    decltype(values) all;
    size_t count = values.size();
    for (size_t i = 0; i < size_t(type.getNumElements()); ++i)
      all.push_back(values[(argument == 0 ? i : argument == 1 ? i / count : i * 7 + 3) % count]);
    return tensorOf(type, all);
  };
  return isFloat(element) ? fill(getFloats(isWide)) : fill(getIntegers(element));
}

/// A kernel of several operations on the same operands.
struct Case {
  func::FuncOp function;
  bool isWide;
  SmallVector<Operation *> ops;
};

class Operations {
public:
  Operations() {
    context.loadDialect<func::FuncDialect, WeftDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    Builder b(&context);
    for (unsigned bits : {1, 8, 16, 32, 64})
      types.push_back(b.getIntegerType(bits));
    for (unsigned bits : {8, 16, 32, 64})
      types.push_back(b.getIntegerType(bits, /*isSigned=*/false));
    types.append({b.getF16Type(), b.getBF16Type(), b.getF32Type(), b.getF64Type()});
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.hasInterface<ElementwiseOpInterface>())
        names.push_back(name);
    for (Type type : types) {
      add({type});
      add({type, type});
      add({type, type, type});
      if (!type.isInteger(1))
        add({types.front(), type, type});
    }
    for (Case &each : cases)
      finish(each);
  }

  std::vector<Case> cases;
  std::vector<RegisteredOperationName> names;
  std::set<StringRef> found;

private:
  /// The values that an operation's attribute is tested with.
  SmallVector<Attribute> getAttributeChoices(StringRef attribute) {
    SmallVector<Attribute> choices;
    if (attribute == "direction")
      for (uint64_t i = 0; i <= getMaxEnumValForCompareDirection(); ++i)
        choices.push_back(CompareDirectionAttr::get(&context, CompareDirection(i)));
    if (attribute == "form")
      for (uint64_t i = 0; i <= getMaxEnumValForGeluForm(); ++i)
        choices.push_back(GeluFormAttr::get(&context, GeluForm(i)));
    INFO("an attribute of an elementwise operation: " << attribute.str());
    REQUIRE(!choices.empty());
    return choices;
  }

  /// All attributes that operations of this name are tested with.
  SmallVector<NamedAttrList> getAttributes(RegisteredOperationName name) {
    SmallVector<NamedAttrList> lists(1);
    for (StringAttr attribute : name.getAttributeNames()) {
      SmallVector<NamedAttrList> longer;
      for (const NamedAttrList &list : lists)
        for (Attribute choice : getAttributeChoices(attribute)) {
          longer.push_back(list);
          longer.back().set(attribute, choice);
        }
      lists = std::move(longer);
    }
    return lists;
  }

  /// Adds every operation that takes these operands.
  void add(ArrayRef<Type> operands) {
    Case ordinary = start(operands, /*isWide=*/false), wide = start(operands, /*isWide=*/true);
    for (RegisteredOperationName name : names)
      for (const NamedAttrList &attributes : getAttributes(name))
        for (Type result : types) {
          Case &current = result == operands.back() ? ordinary : wide;
          if (!tryAdd(current, name, attributes, result))
            continue;
          found.insert(name.getStringRef());
          if (current.ops.size() < mostResults)
            continue;
          cases.push_back(current);
          current = start(operands, current.isWide);
        }
    for (Case &rest : {std::ref(ordinary), std::ref(wide)}) {
      if (rest.ops.empty())
        rest.function.erase();
      else
        cases.push_back(rest);
    }
  }

  Case start(ArrayRef<Type> operands, bool isWide) {
    OpBuilder b(&context);
    b.setInsertionPointToEnd(module->getBody());
    int64_t floats = getFloats(isWide).size();
    SmallVector<Type> tensors;
    for (Type type : operands)
      tensors.push_back(RankedTensorType::get({floats, floats}, type));
    auto function = func::FuncOp::create(b, module->getLoc(), "k" + std::to_string(started++),
                                         b.getFunctionType(tensors, {}));
    function->setAttr("exec.kernel", b.getUnitAttr());
    function.addEntryBlock();
    return {function, isWide, {}};
  }

  /// Whether the operation exists on the case's operands with a result of this type.
  bool tryAdd(Case &to, RegisteredOperationName name, const NamedAttrList &attributes,
              Type result) {
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    Block &body = to.function.getBody().front();
    auto type = cast<RankedTensorType>(body.getArgument(0).getType()).clone(result);
    OperationState state(module->getLoc(), name, body.getArguments(), type, attributes);
    Operation *op = OpBuilder::atBlockEnd(&body).create(state);
    if (succeeded(verify(op))) {
      to.ops.push_back(op);
      return true;
    }
    op->erase();
    return false;
  }

  void finish(Case &each) {
    Block &body = each.function.getBody().front();
    OpBuilder b = OpBuilder::atBlockEnd(&body);
    SmallVector<Value> results;
    for (Operation *op : each.ops)
      results.push_back(op->getResult(0));
    func::ReturnOp::create(b, module->getLoc(), results);
    each.function.setFunctionType(
        b.getFunctionType(body.getArgumentTypes(), TypeRange(ValueRange(results))));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<Type> types;
  unsigned started = 0;
};

std::string toText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

double getTolerance(DType type) {
  return type == DType::F64 ? 1e-12 : type == DType::F32 ? 2e-6 : type == DType::F16 ? 1e-3 : 8e-3;
}

/// Where a result differs from the expected one; -1 if nowhere.
int64_t findDifference(const Tensor &expected, const std::vector<char> &bytes) {
  std::vector<double> want = numbersOf<double>(expected), got(want.size());
  readNumbers(expected.kind(), bytes.data(), got.data(), got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    int64_t width = expected.elementBytes();
    bool isSame = std::memcmp(expected.data() + i * width, bytes.data() + i * width, width) == 0;
    if (isFloat(expected.kind()))
      isSame |= want[i] == got[i] || (std::isnan(want[i]) && std::isnan(got[i])) ||
                std::fabs(want[i] - got[i]) <=
                    getTolerance(expected.kind()) * std::max(1.0, std::fabs(want[i]));
    if (!isSame)
      return i;
  }
  return -1;
}

void checkKernel(Case &each, void *library) {
  FailureOr<KernelInfo> info = describeKernel(each.function);
  REQUIRE(succeeded(info));
  CHECK(info->flops > 0);
  auto kernel = reinterpret_cast<Kernel>(dlsym(library, info->key.c_str()));
  REQUIRE(kernel);
  SmallVector<Tensor> inputs;
  std::vector<std::vector<char>> results;
  std::vector<void *> operands;
  for (BlockArgument argument : each.function.getArguments()) {
    inputs.push_back(makeValue(cast<RankedTensorType>(argument.getType()), argument.getArgNumber(),
                               each.isWide));
    operands.push_back(inputs.back().mutableData());
  }
  for (Type type : each.function.getResultTypes())
    results.emplace_back(Tensor::allocate(cast<RankedTensorType>(type)).raw().size());
  for (std::vector<char> &result : results)
    operands.push_back(result.data());
  int64_t error[3];
  REQUIRE(kernel(operands.data(), nullptr, 0, info->tiles, error) == 0);
  for (auto [op, result] : llvm::zip_equal(each.ops, results)) {
    INFO(toText(op));
    auto expected = evaluate(op, inputs);
    REQUIRE(bool(expected));
    int64_t place = findDifference(expected->front().dense(), result);
    if (place >= 0)
      for (const Tensor &input : inputs)
        UNSCOPED_INFO("operand: " << numbersOf<double>(input)[place]);
    CHECK(place == -1);
  }
}

/// On vectors: as on scalars, verified.
void checkArithmetic(ElementwiseOpInterface op) {
  INFO(toText(op));
  auto vectorOf = [](Type type) {
    return VectorType::get({4}, getComputedType(getElementTypeOrSelf(type)));
  };
  Block block;
  ArithmeticBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPointToStart(&block);
  for (Type type : op->getOperandTypes())
    block.addArgument(vectorOf(type), op.getLoc());
  Value result = op.buildArithmetic(b, block.getArguments());
  CHECK(result.getType() == vectorOf(op->getResult(0).getType()));
  for (Operation &each : block)
    CHECK(succeeded(verify(&each)));
  CHECK(getArithmeticCost(op) >= 1);
}

void checkRule(FactorRuleOpInterface op) {
  INFO(toText(op));
  FactorRule rule = op.getFactorRule();
  CHECK(rule.check(op->getOperandTypes(), op->getResultTypes()).empty());
  for (const Factor &factor : rule.factors)
    CHECK(factor.kind == FactorKind::Parallel);
}

} // namespace

TEST_CASE("every elementwise operation computes what the interpreter does") {
  Operations operations;
  for (RegisteredOperationName name : operations.names) {
    INFO(name.getStringRef().str());
    CHECK(operations.found.contains(name.getStringRef()));
  }
  SmallVector<func::FuncOp> kernels;
  for (Case &each : operations.cases) {
    kernels.push_back(each.function);
    for (Operation *op : each.ops) {
      checkArithmetic(cast<ElementwiseOpInterface>(op));
      checkRule(cast<FactorRuleOpInterface>(op));
    }
  }
  llvm::Expected<KernelLibrary> library = compileKernels(kernels);
  if (!library)
    FAIL(llvm::toString(library.takeError()));
  void *loaded = loadLibrary(library->bytes);
  REQUIRE(loaded);
  for (Case &each : operations.cases)
    checkKernel(each, loaded);
}

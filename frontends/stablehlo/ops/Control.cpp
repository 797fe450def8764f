// Calls, loops and branches: walked in place. And operations that only mark values.

#include "frontends/stablehlo/ops/OpTable.h"

#include "compiler/Interpret/Numbers.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// More rounds than this would make a program that nobody wants to wait for.
static constexpr int64_t maxRounds = 100'000;

/// Sets the results; null ones have failed, which was reported.
static void setResults(Instruction &op, ArrayRef<Value> values) {
  if (values.size() != op.results())
    throw ImportError("expected " + std::to_string(op.results()) + " results, got " +
                      std::to_string(values.size()));
  for (auto [index, value] : llvm::enumerate(values))
    if (value)
      op.result(index, value);
}

static void importCall(Instruction &op) {
  setResults(op, op.walker.call(op.getString("callee"), op.allOperands()));
}

/// An operation of a library, which brings its definition along.
static void importComposite(Instruction &op) {
  setResults(op, op.walker.call(op.getString("decomposition"), op.allOperands()));
}

static void passThrough(Instruction &op) { setResults(op, op.allOperands()); }

/// Functions of XLA that JAX has no operation for, and marks for compilers that say where values
/// lie, not what they are.
static void importCustomCall(Instruction &op) {
  std::string target = op.getString("call_target_name");
  if (target == "ApproxTopK")
    return importApproxTopK(op);
  static constexpr StringRef marks[] = {"LayoutConstraint",
                                        "MoveToDevice",
                                        "MoveToHost",
                                        "Sharding",
                                        "annotate_device_placement",
                                        "xla.sdy.FuncResultSharding"};
  if (!llvm::is_contained(marks, target))
    throw ImportError("a call of the foreign function '" + target + "' is not supported");
  passThrough(op);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Of a condition that is known only at run time, all branches are computed; they have no effects.
static void selectBranches(Instruction &op, Value isFirst, MutableArrayRef<Value> first,
                           ArrayRef<Value> second) {
  if (first.size() != second.size())
    throw ImportError("its branches have unequal numbers of results");
  for (auto [result, other] : llvm::zip_equal(first, second)) {
    if (!result || !other)
      throw FailedValue();
    if (typeOf(result) != typeOf(other))
      throw ImportError("its branches give " + describe(result) + " and " + describe(other));
    result = op.emit.select(isFirst, result, other);
  }
}

static void importCase(Instruction &op) {
  op.expectOperands(1);
  Value index = op.operand(0);
  expectExactRank(index, 0);
  int64_t branches = op.op->getNumRegions();
  if (branches == 0)
    throw ImportError("expected a branch");
  // An index out of range takes the last branch.
  auto inRange = [&](int64_t number) {
    return number < 0 || number >= branches ? branches - 1 : number;
  };
  if (const Tensor *known = op.emit.valueOf(index)) {
    int64_t number = inRange(storedNumbersOf<int64_t>(*known)[0]);
    return setResults(op, op.walker.walk(op.region(number), {}));
  }
  SmallVector<Value> chosen = op.walker.walk(op.region(branches - 1), {});
  for (int64_t number = branches - 2; number >= 0; --number) {
    SmallVector<Value> results = op.walker.walk(op.region(number), {});
    Value isThis =
        op.emit.compare(CompareDirection::EQ, index, op.emit.like(index, double(number)));
    selectBranches(op, isThis, results, chosen);
    chosen = results;
  }
  setResults(op, chosen);
}

static void importIf(Instruction &op) {
  op.expectOperands(1);
  Value condition = op.operand(0);
  expectExactRank(condition, 0);
  if (const Tensor *known = op.emit.valueOf(condition))
    return setResults(op, op.walker.walk(op.region(known->data()[0] ? 0 : 1), {}));
  SmallVector<Value> onTrue = op.walker.walk(op.region(0), {});
  selectBranches(op, condition, onTrue, op.walker.walk(op.region(1), {}));
  setResults(op, onTrue);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether another round follows; throws where that depends on values of the run.
static bool goesOn(Instruction &op, ArrayRef<Value> carried) {
  SmallVector<Value> results = op.walker.walk(op.region(0), carried);
  if (results.size() != 1)
    throw ImportError("expected one result of its condition");
  if (!results.front())
    throw FailedValue();
  const Tensor *known = op.emit.valueOf(results.front());
  if (!known || typeOf(results.front()).getRank() != 0)
    throw ImportError("its number of rounds is not known before the model runs; only loops that "
                      "count, as lax.scan and lax.fori_loop with constant bounds do, are "
                      "supported");
  return known->data()[0];
}

static void importWhile(Instruction &op) {
  SmallVector<Value> carried = op.allOperands();
  std::string loop = op.walker.currentName().str();
  size_t problems = op.walker.problemCount();
  for (int64_t round = 0;; ++round) {
    Names::Inside inside(op.walker.valueNames(), loop + "[" + std::to_string(round) + "]");
    if (!goesOn(op, carried))
      break;
    if (round == maxRounds)
      throw ImportError("it runs for more than " + std::to_string(maxRounds) +
                        " rounds, which is not supported");
    carried = op.walker.walk(op.region(1), carried);
    if (op.walker.problemCount() > problems)
      throw FailedValue(); // what is wrong with one round is wrong with each
    if (carried.size() != op.operands())
      throw ImportError("expected its body to give as many values as it carries");
  }
  setResults(op, carried);
}

void stablehlo::addControl(OpTable &table) {
  table["func.call"] = importCall;
  table["sdy.sharding_constraint"] = passThrough;
  table["stablehlo.case"] = importCase;
  table["stablehlo.composite"] = importComposite;
  table["stablehlo.custom_call"] = importCustomCall;
  table["stablehlo.if"] = importIf;
  table["stablehlo.optimization_barrier"] = passThrough;
  table["stablehlo.while"] = importWhile;
}

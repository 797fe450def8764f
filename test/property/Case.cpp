#include "test/property/Case.h"

#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/SourceName.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace weft;
using namespace weft::property;

namespace {
struct Axis {
  std::string name;
  int64_t size;
};
} // namespace

static std::vector<Axis> drawMesh(Random &random) {
  std::vector<std::string> names{"data", "model", "x"};
  random.shuffle(names);
  std::vector<Axis> axes;
  int64_t ranks = 1;
  for (int64_t count = random.between(1, 3); count > 0; --count) {
    int64_t size = random.pick<int64_t>({1, 2, 2, 3, 3, 4, 5, 6, 7, 8});
    if (ranks * size > 8)
      size = ranks * 2 <= 8 ? 2 : 1;
    ranks *= size;
    axes.push_back({names[axes.size()], size});
  }
  return axes;
}

/// An axis as pins write it; an axis of size 4 or 8 may give one half, the rest being left over.
static std::string drawAxis(Random &random, Axis &axis) {
  if (axis.size % 4 != 0 || !random.oneIn(3))
    return axis.name;
  bool major = random.oneIn(2);
  std::string text =
      "\"" + axis.name + "\":(" + (major ? "1" : std::to_string(axis.size / 2)) + ")2";
  axis.size = 2;
  return text;
}

/// A sharding of a shape: each axis on any dimension, whether it divides it or not, or on none.
static std::string drawSharding(Random &random, ArrayRef<int64_t> shape, std::vector<Axis> axes) {
  std::vector<std::vector<std::string>> dims(shape.size());
  random.shuffle(axes);
  for (const Axis &axis : axes) {
    if (shape.empty() || random.oneIn(3))
      continue;
    Axis part = axis;
    std::string text = drawAxis(random, part);
    dims[random.below(shape.size())].push_back(text);
  }
  std::string text = "[";
  for (size_t dim = 0; dim < dims.size(); ++dim)
    text += (dim ? ",{" : "{") + llvm::join(dims[dim], ",") + "}";
  return text + "]";
}

static void drawPins(Random &random, const std::vector<Axis> &axes, Case &result) {
  std::map<std::string, std::string> pins; // one a value
  // Few pins leave most to propagation; many force resharding everywhere.
  int64_t many = random.oneIn(3) ? result.model.values.size() / 2 : 3;
  for (int64_t count = random.between(0, many); count > 0; --count) {
    if (random.oneIn(6) && !result.model.weights.empty()) {
      auto weight =
          std::next(result.model.weights.begin(), random.below(result.model.weights.size()));
      pins["weight:" + weight->first] = drawSharding(random, weight->second.shape(), axes);
      continue;
    }
    Value value = result.model.values[random.below(result.model.values.size())];
    auto type = cast<RankedTensorType>(value.getType());
    pins[getSourceName(value)] = drawSharding(random, type.getShape(), axes);
  }
  for (const auto &[value, sharding] : pins)
    result.pins.push_back(value + "=" + sharding);
}

Case weft::property::makeCase(MLIRContext &context, uint64_t seed, StringRef weightsPath) {
  Random random(seed ^ 0x5eed);
  Case result;
  result.seed = seed;
  result.model = Generator(context, seed, weightsPath).generate(random.between(4, 11));
  std::vector<Axis> axes = drawMesh(random);
  for (const Axis &axis : axes)
    result.mesh += (result.mesh.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  drawPins(random, axes, result);
  result.chosen = result.pins.empty() || random.oneIn(2);
  return result;
}

std::string weft::property::addUnfitPin(Case &test) {
  Value value = test.model.values.front();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  std::string name = getSourceName(value), pin = name + "=[{}";
  bool unit = !shape.empty() && shape.front() > 0;
  if (unit) // of a size that the dimension has not
    pin = name + "=[{" + StringRef(test.mesh).split('=').first.str() + "} unit " +
          std::to_string(shape.front() + 1);
  for (size_t dim = unit; dim < shape.size(); ++dim)
    pin += ",{}";
  test.pins = {pin + "]"};
  return name;
}

std::string Case::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  model.module.get()->print(
      os,
      OpPrintingFlags().enableDebugInfo().elideLargeElementsAttrs(16).elideLargeResourceString(0));
  os << "\nmesh " << mesh << (chosen ? ", shardings chosen" : "") << "\n";
  for (const std::string &pin : pins)
    os << "pin  " << pin << "\n";
  return text;
}

/// The largest difference over the largest magnitude (at least 1e-3: sums may cancel to nearly
/// nothing). Infinite where one is NaN and the other not.
static double relativeDifference(const std::vector<double> &values,
                                 const std::vector<double> &expected) {
  double difference = 0, magnitude = 1e-3;
  for (auto [value, wanted] : llvm::zip_equal(values, expected)) {
    if (std::isnan(value) != std::isnan(wanted))
      return INFINITY;
    if (value == wanted || std::isnan(value))
      continue;
    difference = std::max(difference, std::fabs(value - wanted));
    magnitude = std::max(magnitude, std::fabs(wanted));
  }
  for (double wanted : expected)
    if (std::isfinite(wanted))
      magnitude = std::max(magnitude, std::fabs(wanted));
  return difference / magnitude;
}

std::string weft::property::compareOutputs(ArrayRef<Tensor> outputs, ArrayRef<Tensor> expected,
                                           double tolerance) {
  if (outputs.size() != expected.size())
    return "expected " + std::to_string(expected.size()) +
           " outputs, got: " + std::to_string(outputs.size());
  for (auto [index, output, wanted] : llvm::enumerate(outputs, expected)) {
    std::string name = "output y" + std::to_string(index);
    if (output.type() != wanted.type())
      return name + " is of another type";
    double difference = relativeDifference(numbersOf<double>(output), numbersOf<double>(wanted));
    if (difference > (isFloat(wanted.kind()) ? tolerance : 0))
      return name + " differs by " + std::to_string(difference) + " of its largest magnitude";
  }
  return "";
}

void Coverage::add(const Coverage &more) {
  for (const auto &[name, count] : more.operations)
    operations[name] += count;
  for (const auto &[name, count] : more.split)
    split[name] += count;
  for (const auto &[name, count] : more.collectives)
    collectives[name] += count;
  cases += more.cases;
  splitCases += more.splitCases;
  paddedCases += more.paddedCases;
  refused += more.refused;
}

/// The operations that have values, in alphabetical order.
static std::vector<std::string> dialectOperations() {
  MLIRContext context;
  context.loadDialect<WeftDialect>();
  std::vector<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("weft"))
    if (name.getStringRef() != WeightOp::getOperationName() &&
        name.getStringRef() != StoreOp::getOperationName())
      names.push_back(name.stripDialect().str());
  return names;
}

static int count(const std::map<std::string, int> &counts, const std::string &name) {
  auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

std::string Coverage::table() const {
  std::string text = "operations by how often they occurred, and how often with a split result:\n";
  int column = 0;
  for (const std::string &name : dialectOperations()) {
    std::string entry = name + " " + std::to_string(count(operations, name)) + "/" +
                        std::to_string(count(split, name));
    entry.resize(std::max<size_t>(entry.size() + 1, 28), ' ');
    text += entry + (++column % 4 == 0 ? "\n" : "");
  }
  text += "\noperations of the partitioned programs:";
  for (const auto &[name, number] : collectives)
    text += " " + name + " " + std::to_string(number);
  return text + "\n" + std::to_string(splitCases) + " of " + std::to_string(cases) +
         " cases split more than first dimensions, " + std::to_string(paddedCases) +
         " by what does not divide, " + std::to_string(refused) + " are refused\n";
}

/// How often each operation must occur, at least, in 100 cases or more.
static constexpr int leastOften = 6;

std::vector<std::string> Coverage::shortcomings() const {
  std::vector<std::string> lacking;
  for (const std::string &name : dialectOperations()) {
    if (count(operations, name) < leastOften)
      lacking.push_back(name + " occurs fewer than " + std::to_string(leastOften) + " times");
  }
  if (3 * splitCases < cases)
    lacking.push_back("fewer than a third of the cases split more than first dimensions");
  if (2 * paddedCases < cases)
    lacking.push_back("fewer than half of the cases are split by what does not divide");
  if (100 * refused > cases)
    lacking.push_back("more than one of a hundred cases are refused");
  return lacking;
}

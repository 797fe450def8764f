// Sorts, by what their comparators compare.

#include "frontends/stablehlo/ops/OpTable.h"

#include "frontends/common/Composites.h"
#include "frontends/stablehlo/AttributeText.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

namespace {

/// What a comparator sorts by, the most significant first.
struct SortKey {
  unsigned operand;
  bool descending;
};

/// Reads the region of a sort, of two scalars for each operand: comparisons of two elements of one
/// operand, and the lexicographic order made of them, `lt(a) | (eq(a) & lt(b))`.
class Comparator {
public:
  explicit Comparator(Region &region) : block(region.front()) {}

  /// Throws ImportError where the region is something else.
  SmallVector<SortKey> read() {
    if (block.empty() || block.back().getNumOperands() != 1)
      throw ImportError("expected one result of its comparator");
    SmallVector<SortKey> keys;
    if (!readOrder(block.back().getOperand(0), keys))
      throw ImportError("its comparator is not known: orders of operands, ascending and "
                        "descending, are supported");
    return keys;
  }

private:
  static bool isOp(Value value, StringRef name) {
    Operation *op = value.getDefiningOp();
    return op && op->getName().getStringRef() == name;
  }
  static Attribute attribute(Operation *op, StringRef name) {
    auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
    Attribute found = properties ? properties.get(name) : Attribute();
    return found ? found : op->getDiscardableAttr(name);
  }

  static bool isNanConstant(Value value) {
    auto elements =
        dyn_cast_or_null<DenseFPElementsAttr>(attribute(value.getDefiningOp(), "value"));
    return elements && elements.isSplat() && elements.getSplatValue<APFloat>().isNaN();
  }

  /// Whether a select replaces zeros by one zero, `x == 0 ? 0 : x`, or NaNs by one NaN.
  static bool makesAlike(Operation *select) {
    if (select->getNumOperands() != 3 || !isOp(select->getOperand(0), "stablehlo.compare") ||
        !isOp(select->getOperand(1), "stablehlo.constant"))
      return false;
    Operation *compare = select->getOperand(0).getDefiningOp();
    StringRef direction =
        enumWord(attribute(compare, "comparison_direction"), "comparison_direction");
    if (compare->getNumOperands() != 2)
      return false;
    if (direction == "NE")
      return compare->getOperand(0) == compare->getOperand(1) &&
             isNanConstant(select->getOperand(1));
    return direction == "EQ" && isOp(compare->getOperand(1), "stablehlo.constant") &&
           attribute(compare->getOperand(1).getDefiningOp(), "value") ==
               attribute(select->getOperand(1).getDefiningOp(), "value");
  }

  /// The argument that a value is, but for making zeros, and NaNs, alike: weft's order does that.
  std::optional<unsigned> readArgument(Value value) {
    SmallVector<Value> compared; // each must be this same element
    llvm::SmallDenseSet<Value> chain{value};
    for (; isOp(value, "stablehlo.select") && makesAlike(value.getDefiningOp());
         chain.insert(value)) {
      compared.push_back(value.getDefiningOp()->getOperand(0).getDefiningOp()->getOperand(0));
      value = value.getDefiningOp()->getOperand(2);
    }
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOne = llvm::all_of(compared, [&](Value other) { return chain.contains(other); });
    if (!argument || argument.getOwner() != &block || !isOne)
      return std::nullopt;
    return argument.getArgNumber();
  }

  /// A comparison of the two elements of one operand, as if the first stood left.
  bool readComparison(Value value, unsigned &operand, StringRef &direction) {
    if (!isOp(value, "stablehlo.compare") || value.getDefiningOp()->getNumOperands() != 2)
      return false;
    Operation *op = value.getDefiningOp();
    auto lhs = readArgument(op->getOperand(0)), rhs = readArgument(op->getOperand(1));
    if (!lhs || !rhs || *lhs / 2 != *rhs / 2 || *lhs == *rhs)
      return false;
    operand = *lhs / 2;
    direction = enumWord(attribute(op, "comparison_direction"), "comparison_direction");
    if (*lhs % 2 == 1 && direction != "EQ")
      direction = direction == "LT" ? "GT" : direction == "GT" ? "LT" : "";
    return true;
  }

  bool readOrder(Value value, SmallVectorImpl<SortKey> &keys) {
    unsigned operand;
    StringRef direction;
    if (readComparison(value, operand, direction)) {
      keys.push_back({operand, direction == "GT"});
      return direction == "LT" || direction == "GT";
    }
    if (!isOp(value, "stablehlo.or") || value.getDefiningOp()->getNumOperands() != 2)
      return false;
    for (unsigned first : {0u, 1u}) {
      Operation *op = value.getDefiningOp();
      SmallVector<SortKey> found;
      if (readOrder(op->getOperand(first), found) && found.size() == 1 &&
          readTie(op->getOperand(1 - first), found.front().operand, found)) {
        keys.append(found);
        return true;
      }
    }
    return false;
  }

  /// `eq(operand) & rest`.
  bool readTie(Value value, unsigned operand, SmallVectorImpl<SortKey> &keys) {
    if (!isOp(value, "stablehlo.and") || value.getDefiningOp()->getNumOperands() != 2)
      return false;
    Operation *op = value.getDefiningOp();
    for (unsigned first : {0u, 1u}) {
      unsigned equal;
      StringRef direction;
      if (readComparison(op->getOperand(first), equal, direction) && direction == "EQ" &&
          equal == operand)
        return readOrder(op->getOperand(1 - first), keys);
    }
    return false;
  }

  Block &block;
};

} // namespace

static Value take(Emitter &emit, Value x, Value positions, int64_t axis) {
  return emit.create<GatherElementsOp>(tensorType(shapeOf(positions), elementOf(x)), x, positions,
                                       axis);
}

/// The positions of the first `count` elements in the order that a comparator makes.
static Value emitOrder(Emitter &emit, ArrayRef<Value> inputs, Region &comparator, int64_t axis,
                       int64_t count) {
  for (Value input : inputs)
    if (shapeOf(input) != shapeOf(inputs.front()))
      throw ImportError("expected operands of one shape, got " + describe(inputs.front()) +
                        " and " + describe(input));
  if (comparator.getNumArguments() != 2 * inputs.size())
    throw ImportError("expected a comparator of two elements of each operand");
  SmallVector<SortKey> keys = Comparator(comparator).read();
  // By the least significant key first: sorts keep the order of equals.
  Value order;
  for (const SortKey &key : llvm::reverse(keys)) {
    Value column = order ? take(emit, inputs[key.operand], order, axis) : inputs[key.operand];
    int64_t kept = &key == keys.begin() ? count : shapeOf(column)[axis];
    Value positions = emit.sort(column, axis, kept, key.descending).second;
    order = order ? take(emit, order, positions, axis) : positions;
  }
  return order;
}

static void importSort(Instruction &op) {
  SmallVector<Value> inputs = op.allOperands();
  if (inputs.empty() || op.results() != inputs.size())
    throw ImportError("expected a result for each operand");
  int64_t rank = typeOf(inputs.front()).getRank(), axis = op.getInt("dimension", -1);
  axis += axis < 0 ? rank : 0;
  checkDims({axis}, rank, "dimension");
  Value order = emitOrder(op.emit, inputs, op.region(0), axis, shapeOf(inputs.front())[axis]);
  for (auto [index, input] : llvm::enumerate(inputs))
    op.result(index, take(op.emit, input, order, axis));
}

/// Operands are the inputs, then what stands for nothing in a partial result: not needed here.
void stablehlo::importApproxTopK(Instruction &op) {
  if (op.results() == 0 || op.operands() != 2 * op.results())
    throw ImportError("expected two operands for each result");
  SmallVector<Value> inputs = op.operandsFrom(0, op.results());
  auto config = dyn_cast_or_null<DictionaryAttr>(op.attribute("mhlo.backend_config"));
  auto axisOf = config ? config.getAs<IntegerAttr>("reduction_dim") : IntegerAttr();
  auto computations = dyn_cast_or_null<ArrayAttr>(op.attribute("called_computations"));
  if (!axisOf || !computations || computations.size() != 1 ||
      !isa<FlatSymbolRefAttr>(computations[0]))
    throw ImportError("expected a 'reduction_dim' in its configuration, and one comparator");
  int64_t axis = axisOf.getInt();
  checkDims({axis}, typeOf(inputs.front()).getRank(), "reduction_dim");
  int64_t count = op.resultType().getShape()[axis], size = shapeOf(inputs.front())[axis];
  auto wanted = config.getAs<IntegerAttr>("top_k");
  if (!wanted || wanted.getInt() != count || count > size)
    throw ImportError("only calls that give the first 'top_k' elements themselves are supported, "
                      "not " +
                      std::to_string(count) + " of " + std::to_string(size));
  StringRef comparator = cast<FlatSymbolRefAttr>(computations[0]).getValue();
  Value order = emitOrder(op.emit, inputs, op.walker.bodyOf(comparator), axis, count);
  for (auto [index, input] : llvm::enumerate(inputs))
    op.result(index, take(op.emit, input, order, axis));
}

static void importTopK(Instruction &op) {
  Value x = op.operand(0);
  expectRank(x, 1);
  int64_t k = op.requiredInt("k"), axis = typeOf(x).getRank() - 1;
  if (k < 0 || k > shapeOf(x)[axis])
    throw ImportError("k = " + std::to_string(k) + " is out of range for " + describe(x));
  auto [values, positions] = op.emit.sort(x, axis, k, op.getBool("largest", true));
  op.result(0, values);
  op.result(1, op.emit.cast(positions, op.resultType(1).getElementType()));
}

void stablehlo::addSorting(OpTable &table) {
  table["chlo.top_k"] = importTopK;
  table["stablehlo.sort"] = importSort;
}

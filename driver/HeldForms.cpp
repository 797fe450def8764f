//===- HeldForms.cpp - how values and weights lie -------------------------===//

#include "driver/HeldForms.h"

#include "compiler/Graph/Blocks.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/SetVector.h"
#include <fmt/format.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

OperationSplit weft::getSplitOf(const PlannedPart &part, unsigned node) {
  const FactorRule &rule = part.function->graph.nodes[node].rule;
  auto given = getSplit(*part.function->operations[node], rule, part.mesh);
  if (mlir::succeeded(given) && *given)
    return **given;
  OperationSplit split = OperationSplit::whole(rule);
  split.axes = part.shardings->resolve(node);
  return split;
}

/// How a view reads its operand whose result lies so: of what it cuts out of several side by side
/// each is split like the whole.
static TensorSharding readBack(mlir::Operation *view, const FactorRule &rule,
                               const TensorSharding &result) {
  if (mlir::isa<SliceOp>(view))
    return result;
  FactorAxes axes = projectToFactors(rule, rule.results.front(), result).axes;
  TensorSharding form = factorsToSharding(rule, rule.operands.front(), axes).sharding;
  for (auto [factors, own] : llvm::zip_equal(rule.operands.front(), form.dims))
    for (unsigned factor : factors)
      if (own.empty()) // it is behind one that is whole: one of parts side by side
        own = axes[factor];
  return form;
}

TensorSharding weft::getHeldForm(const PlannedPart &part, unsigned tensor) {
  const ShardingGraph &graph = part.function->graph;
  const TensorSharding &own = part.shardings->get(tensor);
  auto load = part.function->values[tensor].getDefiningOp<LoadOp>();
  bool isState = load && part.function->states.contains(load.getWeight()); // lies as it is stored
  if (!graph.tensors[tensor].weight || !own.isReplicated() || isState)
    return own;
  for (unsigned user : graph.tensors[tensor].users) {
    const ShardingGraph::Node &node = graph.nodes[user];
    if (node.results.empty())
      continue;
    unsigned slot = llvm::find(node.operands, tensor) - node.operands.begin();
    bool isView = node.view && node.operands.size() == 1 && node.results.size() == 1;
    TensorSharding form = isView ? readBack(part.function->operations[user], node.rule,
                                            getHeldForm(part, node.results.front()))
                                 : getOperandForm(node.rule, slot, getSplitOf(part, user));
    if (!form.isReplicated())
      return form;
  }
  return own;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What all names begin with, up to a `.` or `/`.
static std::string findCommonStem(llvm::ArrayRef<llvm::StringRef> names) {
  if (names.empty())
    return "";
  llvm::StringRef common = names.front();
  for (llvm::StringRef name : names)
    while (!name.starts_with(common))
      common = common.drop_back();
  size_t end = common.find_last_of("./");
  return end == llvm::StringRef::npos ? "" : common.take_front(end).str();
}

/// The weights of more than one dimension that a block's operations load; others follow what they
/// are added to.
static llvm::SetVector<mlir::Value> listLoads(const ModelBlock &block) {
  llvm::SetVector<mlir::Value> loads;
  for (mlir::Operation *op : block.operations)
    for (mlir::Value operand : op->getOperands())
      if (auto load = operand.getDefiningOp<LoadOp>())
        if (mlir::cast<mlir::ShapedType>(load.getType()).getRank() > 1)
          loads.insert(operand);
  return loads;
}

namespace {
class BlockReader {
public:
  explicit BlockReader(const PlannedPart &part) : part(part), names(part.main) {}

  BlockSplits read(const ModelBlock &block) const;

private:
  void addWeights(const ModelBlock &block, BlockSplits &splits) const;
  std::string getSharding(unsigned tensor) const {
    return str(part.mesh, getHeldForm(part, tensor));
  }

  const PlannedPart &part;
  ValueNames names;
};
} // namespace

/// The weights of a block, by how they lie. Those that count there give it its name.
void BlockReader::addWeights(const ModelBlock &block, BlockSplits &splits) const {
  llvm::SetVector<mlir::Value> loads = listLoads(block);
  std::vector<llvm::StringRef> own;
  for (mlir::Value value : loads)
    if (llvm::StringRef name = value.getDefiningOp<LoadOp>().getWeight();
        llvm::is_contained(block.weights, name))
      own.push_back(name);
  splits.name = findCommonStem(own);
  for (mlir::Value value : loads) {
    auto tensor = part.function->tensors.find(value);
    if (tensor == part.function->tensors.end())
      continue;
    std::string sharding = getSharding(tensor->second);
    auto group = llvm::find_if(splits.weights, [&](const BlockSplits::Group &other) {
      return other.sharding == sharding;
    });
    if (group == splits.weights.end())
      group = splits.weights.insert(splits.weights.end(), {sharding, {}});
    llvm::StringRef name = value.getDefiningOp<LoadOp>().getWeight();
    if (name.starts_with(splits.name + ".") || name.starts_with(splits.name + "/"))
      name = name.drop_front(splits.name.size() + 1);
    if (!llvm::is_contained(group->names, name.str()))
      group->names.push_back(name.str());
  }
}

BlockSplits BlockReader::read(const ModelBlock &block) const {
  BlockSplits splits;
  splits.count = 1;
  splits.parameters = block.parameters;
  addWeights(block, splits);
  if (block.last && block.last->getNumResults() > 0) {
    mlir::Value made = block.last->getResult(0);
    splits.result = names.get(made);
    auto tensor = part.function->tensors.find(made);
    if (tensor != part.function->tensors.end())
      splits.resultSharding = getSharding(tensor->second);
  }
  if (splits.name.empty())
    splits.name = splits.result;
  return splits;
}

std::vector<BlockSplits> weft::listBlocks(const PlannedPart &part) {
  ModelBlocks model = findBlocks(part.main);
  BlockReader reader(part);
  std::vector<BlockSplits> list;
  std::map<std::pair<uint32_t, int64_t>, size_t> known; // by kind and parameters
  for (const ModelBlock &block : model.blocks) {
    auto [found, isNew] = known.try_emplace({block.kind, block.parameters}, list.size());
    if (isNew)
      list.push_back(reader.read(block));
    else
      ++list[found->second].count;
  }
  return list;
}

std::vector<BlockSplits> weft::listBlocks(const PlannedModule &planned) {
  std::vector<BlockSplits> list;
  for (const PlannedPart &part : planned.parts)
    llvm::append_range(list, listBlocks(part));
  return list;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
/// How many tensors of one sort an axis splits, and their bytes.
struct Share {
  double bytes = 0, all = 0;

  void add(double size, bool isSplit) {
    all += size;
    bytes += isSplit ? size : 0;
  }
  void describe(const char *what, std::vector<std::string> &words) const {
    if (bytes == 0)
      return;
    double percent = 100 * bytes / all;
    words.push_back(percent > 99.5 ? fmt::format("all {}", what)
                                   : fmt::format("{:.0f} % of {}", percent, what));
  }
};
} // namespace

namespace {
/// What an axis splits of several parts.
struct AxisUse {
  bool takesBatch = false;
  Share weights, states, values;

  void add(const PlannedPart &part, unsigned axis);
};
} // namespace

void AxisUse::add(const PlannedPart &part, unsigned axis) {
  const ShardingGraph &graph = part.function->graph;
  AxisRef whole = fullAxis(part.mesh, axis);
  BatchDimensions batch(graph);
  for (unsigned tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    const ShardingGraph::Tensor &described = graph.tensors[tensor];
    TensorSharding form = getHeldForm(part, tensor);
    bool isSplit = form.uses(whole);
    if (described.input)
      for (auto [dim, axes] : llvm::enumerate(form.dims))
        takesBatch |= batch.has(tensor, dim) && overlaps(axes, whole);
    auto load = part.function->values[tensor].getDefiningOp<LoadOp>();
    auto size = static_cast<double>(described.bytes());
    if (load)
      (load.getWeight().starts_with("optimizer.") ? states : weights).add(size, isSplit);
    else if (described.varying)
      values.add(size, isSplit);
  }
}

std::vector<std::string> weft::describeUse(llvm::ArrayRef<const PlannedPart *> parts,
                                           unsigned axis) {
  AxisUse use;
  for (const PlannedPart *part : parts)
    use.add(*part, axis);
  std::vector<std::string> words;
  if (use.takesBatch)
    words.push_back("the batch");
  use.weights.describe("weights", words);
  use.states.describe("optimizer state", words);
  use.values.describe("activations", words);
  return words;
}

//===- HeldForms.cpp - how values and weights lie -------------------------===//

#include "driver/HeldForms.h"

#include "compiler/Graph/Blocks.h"
#include "compiler/Plan/ValueNames.h"
#include "compiler/Sharding/BatchDimensions.h"
#include "compiler/Sharding/OperationSplit.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <fmt/format.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// How an operation reads one of its operands.
static TensorSharding getReadForm(const PlannedPart &part, unsigned node, unsigned slot) {
  const FactorRule &rule = part.function->graph.nodes[node].rule;
  mlir::FailureOr<std::optional<OperationSplit>> given =
      getSplit(*part.function->operations[node], rule, part.mesh);
  OperationSplit split = mlir::succeeded(given) && *given
                             ? **given
                             : OperationSplit{part.shardings->resolve(node), {}};
  split.sums.operands.resize(rule.operands.size());
  return getOperandForm(rule, slot, split);
}

/// How a view reads its operand whose result lies so.
static TensorSharding readBack(const FactorRule &rule, const TensorSharding &result) {
  FactorAxes axes = projectToFactors(rule, rule.results.front(), result).axes;
  return factorsToSharding(rule, rule.operands.front(), axes).sharding;
}

TensorSharding weft::getHeldForm(const PlannedPart &part, unsigned tensor) {
  const ShardingGraph &graph = part.function->graph;
  const TensorSharding &own = part.shardings->get(tensor);
  if (!graph.tensors[tensor].weight || !own.isReplicated() || part.shardings->isPinned(tensor))
    return own;
  for (unsigned user : graph.tensors[tensor].users) {
    const ShardingGraph::Node &node = graph.nodes[user];
    if (node.results.empty())
      continue;
    unsigned slot = llvm::find(node.operands, tensor) - node.operands.begin();
    bool isView = node.view && node.operands.size() == 1 && node.results.size() == 1;
    TensorSharding form = isView ? readBack(node.rule, getHeldForm(part, node.results.front()))
                                 : getReadForm(part, user, slot);
    if (!form.isReplicated())
      return form;
  }
  return own;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// What all names begin with, up to a `.` or `/`.
static std::string findCommonStem(llvm::ArrayRef<std::string> names) {
  if (names.size() < 2)
    return "";
  llvm::StringRef common = names.front();
  for (const std::string &name : names)
    while (!llvm::StringRef(name).starts_with(common))
      common = common.drop_back();
  size_t end = common.find_last_of("./");
  return end == llvm::StringRef::npos ? "" : common.take_front(end).str();
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

/// The weights that the block's operations load, by how they lie, without those of one dimension:
/// they follow what they are added to.
void BlockReader::addWeights(const ModelBlock &block, BlockSplits &splits) const {
  llvm::SetVector<mlir::Value> loads;
  for (mlir::Operation *op : block.operations)
    for (mlir::Value operand : op->getOperands())
      if (auto load = operand.getDefiningOp<LoadOp>())
        if (mlir::cast<mlir::ShapedType>(load.getType()).getRank() > 1)
          loads.insert(operand);
  std::vector<std::string> all;
  for (mlir::Value value : loads)
    all.push_back(value.getDefiningOp<LoadOp>().getWeight().str());
  splits.name = findCommonStem(all);
  for (auto [value, name] : llvm::zip_equal(loads, all)) {
    auto tensor = part.function->tensors.find(value);
    if (tensor == part.function->tensors.end())
      continue;
    std::string sharding = getSharding(tensor->second);
    auto group = llvm::find_if(splits.weights, [&](const BlockSplits::Group &other) {
      return other.sharding == sharding;
    });
    if (group == splits.weights.end())
      group = splits.weights.insert(splits.weights.end(), {sharding, {}});
    std::string own = splits.name.empty() ? name : name.substr(splits.name.size() + 1);
    if (!llvm::is_contained(group->names, own))
      group->names.push_back(own);
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
  BlockReader reader(part);
  std::vector<BlockSplits> list;
  std::map<std::pair<uint32_t, int64_t>, size_t> known; // by kind and parameters
  for (const ModelBlock &block : findBlocks(part.main).blocks) {
    auto [found, isNew] = known.try_emplace({block.kind, block.parameters}, list.size());
    if (isNew)
      list.push_back(reader.read(block));
    else
      ++list[found->second].count;
  }
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

std::vector<std::string> weft::describeUse(const PlannedPart &part, unsigned axis) {
  const ShardingGraph &graph = part.function->graph;
  AxisRef whole = fullAxis(part.mesh, axis);
  BatchDimensions batch(graph);
  bool takesBatch = false;
  Share weights, states, values;
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
  std::vector<std::string> words;
  if (takesBatch)
    words.push_back("the batch");
  weights.describe("weights", words);
  states.describe("optimizer state", words);
  values.describe("activations", words);
  return words;
}

#include "compiler/Graph/Blocks.h"
#include "compiler/Graph/ModelSequence.h"
#include "compiler/Graph/Work.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>
#include <set>

using namespace mlir;
using namespace weft;

namespace {

/// Gives every operation to a block.
class BlockMaker {
public:
  explicit BlockMaker(func::FuncOp function)
      : body(function.front()), model(function), starts(findBlockBounds(model.getSequence())),
        numBlocks(std::max<size_t>(starts.size(), 1)), home(numBlocks) {}

  ModelBlocks run();

private:
  void placeSequence();
  void classify();
  void findHomes();
  void placeOthers();
  uint32_t findBlock(Operation &op) const;
  void addOperations(std::vector<ModelBlock> &blocks) const;
  std::vector<int64_t> measureLive() const;
  void countParameters(std::vector<ModelBlock> &blocks) const;
  void addReaders(LoadOp load, std::set<uint32_t> &readers) const;
  uint32_t findOwner(const std::set<uint32_t> &readers) const;
  int64_t getFirst(uint32_t block) const { return block < starts.size() ? starts[block] : 0; }

  Block &body;
  ModelSequence model;
  std::vector<uint32_t> starts;
  size_t numBlocks;
  std::vector<uint32_t> kinds; ///< by block
  std::vector<uint32_t> home;  ///< of what a block shares with later ones, by block
  llvm::DenseMap<Operation *, uint32_t> blockOf;
};

void BlockMaker::placeSequence() {
  const std::vector<Operation *> &operations = model.getOperations();
  for (size_t block = 0; block < starts.size(); ++block) {
    size_t end = block + 1 < starts.size() ? starts[block + 1] : operations.size();
    for (size_t i = starts[block]; i < end; ++i)
      blockOf[operations[i]] = block;
  }
}

void BlockMaker::classify() {
  const OperationSequence &sequence = model.getSequence();
  llvm::DenseMap<uint64_t, uint32_t> known;
  for (size_t block = 0; block < numBlocks; ++block) {
    uint32_t end = block + 1 < starts.size() ? starts[block + 1] : sequence.size();
    uint64_t key = getStretchKey(sequence, getFirst(block), end) >> 1; // no reserved key
    kinds.push_back(known.try_emplace(key, known.size()).first->second);
  }
}

/// The nearest block at or before each that is alone of its kind; where there is none, itself.
void BlockMaker::findHomes() {
  std::vector<uint32_t> members(numBlocks);
  for (uint32_t kind : kinds)
    ++members[kind];
  std::optional<uint32_t> alone;
  for (uint32_t block = 0; block < numBlocks; ++block) {
    if (members[kinds[block]] == 1)
      alone = block;
    home[block] = alone.value_or(block);
  }
}

/// Of those that use it: if they are several, the home of the first.
uint32_t BlockMaker::findBlock(Operation &op) const {
  std::optional<uint32_t> first, last;
  for (Operation *user : op.getUsers()) {
    auto found = blockOf.find(user);
    if (found == blockOf.end())
      continue; // the function's end
    first = first ? std::min(*first, found->second) : found->second;
    last = last ? std::max(*last, found->second) : found->second;
  }
  if (!first)
    return numBlocks - 1;
  return first == last ? *first : home[*first];
}

/// What is no part of the sequence follows its users, the last operations first; a store, what it
/// stores.
void BlockMaker::placeOthers() {
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (op.getNumResults() > 0 && !blockOf.contains(&op))
      blockOf[&op] = findBlock(op);
  for (Operation &op : body.without_terminator())
    if (op.getNumResults() == 0) {
      Operation *source = op.getNumOperands() > 0 ? op.getOperand(0).getDefiningOp() : nullptr;
      blockOf[&op] = source ? blockOf.lookup(source) : 0;
    }
}

void BlockMaker::addOperations(std::vector<ModelBlock> &blocks) const {
  for (Operation &op : body.without_terminator()) {
    ModelBlock &block = blocks[blockOf.lookup(&op)];
    if (!isa<LoadOp, ConstantOp>(op))
      block.operations.push_back(&op);
    block.flops += countFlops(&op);
  }
}

/// By block but the last, what is live behind it: a value is from the block that makes it to the
/// one before its last use.
std::vector<int64_t> BlockMaker::measureLive() const {
  std::vector<int64_t> change(numBlocks + 1);
  for (Operation &op : body.without_terminator()) {
    uint32_t block = blockOf.lookup(&op);
    for (Value result : op.getResults()) {
      uint32_t last = block;
      for (Operation *user : result.getUsers())
        if (auto found = blockOf.find(user); found != blockOf.end())
          last = std::max(last, found->second);
      if (last == block || model.isFixed(result))
        continue;
      change[block] += countBytes(result.getType());
      change[last] -= countBytes(result.getType());
    }
  }
  std::vector<int64_t> live;
  std::partial_sum(change.begin(), change.begin() + numBlocks - 1, std::back_inserter(live));
  return live;
}

/// Adds the blocks that read what a load gives, or what follows from weights alone by it.
void BlockMaker::addReaders(LoadOp load, std::set<uint32_t> &readers) const {
  llvm::SetVector<Value> values;
  values.insert(load.getResult());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : Value(values[i]).getUsers())
      if (user->getNumResults() > 0 && model.isFixed(user->getResult(0)))
        values.insert(user->result_begin(), user->result_end());
      else if (auto found = blockOf.find(user); found != blockOf.end())
        readers.insert(found->second);
}

/// The first of those that read a weight, whose gradients and whose update follow it; of layers
/// that repeat and share one, their home.
uint32_t BlockMaker::findOwner(const std::set<uint32_t> &readers) const {
  if (readers.empty())
    return numBlocks - 1; // the function's end reads it
  uint32_t first = *readers.begin();
  for (uint32_t next = first + 1; next < numBlocks && kinds[next] == kinds[first]; ++next)
    if (readers.contains(next))
      return home[first];
  return first;
}

/// A model whose weights were written into it as constants has those instead.
void BlockMaker::countParameters(std::vector<ModelBlock> &blocks) const {
  llvm::DenseMap<StringAttr, std::set<uint32_t>> readers;
  for (auto load : body.getOps<LoadOp>())
    addReaders(load, readers[load.getWeightAttr().getAttr()]);
  auto weights = body.getParentOp()->getParentOfType<ModuleOp>().getOps<WeightOp>();
  auto isParameter = [](WeightOp op) {
    return op.getKind() == WeightKind::Parameter || op.getKind() == WeightKind::Trained;
  };
  bool inlined = llvm::none_of(weights, isParameter);
  for (auto weight : weights)
    if (auto found = readers.find(weight.getSymNameAttr()); found != readers.end())
      if ((inlined ? weight.getKind() == WeightKind::Constant : isParameter(weight)) &&
          isa<FloatType>(cast<ShapedType>(weight.getType()).getElementType())) {
        ModelBlock &owner = blocks[findOwner(found->second)];
        owner.weights.push_back(weight.getSymName());
        owner.parameters += countElements(weight.getType());
      }
}

ModelBlocks BlockMaker::run() {
  placeSequence();
  classify();
  findHomes();
  placeOthers();
  ModelBlocks result;
  result.blocks.resize(numBlocks);
  for (size_t block = 0; block < numBlocks; ++block)
    result.blocks[block].kind = kinds[block];
  for (Operation *op : model.getOperations())
    result.blocks[blockOf.lookup(op)].last = op;
  for (ModelBlock &block : result.blocks)
    if (block.last)
      block.name = getSourceName(block.last->getResult(0));
  addOperations(result.blocks);
  countParameters(result.blocks);
  result.liveBytes = measureLive();
  return result;
}

} // namespace

ModelBlocks weft::findBlocks(func::FuncOp function) { return BlockMaker(function).run(); }

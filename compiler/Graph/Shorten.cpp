#include "compiler/Graph/Shorten.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;
using Operations = std::vector<Operation *>;

Shortener::Shortener(ModuleOp module, uint32_t least) : module(module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || !main.getBody().hasOneBlock())
    return;
  blocks = findBlocks(main);
  uint32_t size = blocks.blocks.size();
  for (uint32_t begin = 0, end = 0; begin < size; begin = end) {
    while (end < size && blocks.blocks[end].kind == blocks.blocks[begin].kind)
      ++end;
    if (end - begin >= least)
      runs.push_back({begin, end - begin});
  }
}

/// Whether equal blocks list their operations in one order.
static bool correspond(const Operations &a, const Operations &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           auto [x, y] = pair;
           return x->getName() == y->getName() && x->getResultTypes() == y->getResultTypes();
         });
}

/// Lets what uses results of `last`, and is not itself left out, use those of `kept`. False where
/// something uses results of other operations that are left out.
static bool redirect(const llvm::SetVector<Operation *> &leftOut, const Operations &last,
                     const Operations &kept) {
  llvm::DenseMap<Operation *, Operation *> standIns;
  for (auto [from, to] : llvm::zip_equal(last, kept))
    standIns[from] = to;
  for (Operation *op : leftOut)
    for (OpResult result : op->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        if (leftOut.contains(use.getOwner()))
          continue;
        Operation *other = standIns.lookup(op);
        if (!other)
          return false;
        use.set(other->getResult(result.getResultNumber()));
      }
  return true;
}

/// Erases what nothing uses any more, and the weights that only that read.
static void eraseUnused(ModuleOp module, func::FuncOp main) {
  llvm::DenseSet<StringAttr> unread;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front()))) {
    if (!op.use_empty() || !isa<WeftDialect>(op.getDialect()) || op.getNumResults() == 0 ||
        !(isa<LoadOp>(op) || isOpTriviallyDead(&op)))
      continue;
    if (auto load = dyn_cast<LoadOp>(op))
      unread.insert(load.getWeightAttr().getAttr());
    op.erase();
  }
  main.walk([&](LoadOp load) { unread.erase(load.getWeightAttr().getAttr()); });
  main.walk([&](StoreOp store) { unread.erase(store.getWeightAttr().getAttr()); });
  for (auto weight : llvm::make_early_inc_range(module.getOps<WeightOp>()))
    if (unread.contains(weight.getSymNameAttr()))
      weight.erase();
}

OwningOpRef<ModuleOp> Shortener::shorten(ArrayRef<uint32_t> lengths) const {
  IRMapping mapping;
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone(mapping)));
  auto listBlock = [&](uint32_t block) {
    Operations list;
    for (Operation *op : blocks.blocks[block].operations)
      list.push_back(mapping.lookup(op));
    return list;
  };
  for (auto [run, length] : llvm::zip_equal(runs, lengths)) {
    if (length >= run.count)
      continue;
    uint32_t begin = run.first + (length + 1) / 2, end = begin + run.count - length;
    Operations last = listBlock(end - 1), kept = listBlock(begin - 1);
    llvm::SetVector<Operation *> leftOut;
    for (uint32_t block = begin; block < end; ++block)
      leftOut.insert_range(listBlock(block));
    if (!correspond(last, kept) || !redirect(leftOut, last, kept))
      return nullptr;
    for (Operation *op : leftOut)
      op->dropAllUses();
    for (Operation *op : leftOut)
      op->erase();
  }
  eraseUnused(*copy, copy->lookupSymbol<func::FuncOp>("main"));
  return copy;
}

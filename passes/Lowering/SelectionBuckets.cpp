//===- SelectionBuckets.cpp - small messages are sent together ------------===//
//
// Reductions over the batch's axes of less than a bucket, and small all-gathers, wait for others of
// their kind (one element type, group and way to join), until the bucket is full or a result is
// needed: one instruction does them all. Which ones go together depends on the program alone, so
// that all ranks agree, and each element is joined in the order in which it would be alone.
//
//===----------------------------------------------------------------------===//

#include "compiler/Kernel/Buckets.h"
#include "compiler/Sharding/Axes.h"
#include "dialects/Dist/IR/Sharding.h"
#include "passes/Lowering/Selection.h"

using namespace mlir;
using namespace weft;

static int64_t bytesOf(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// Whether two reductions may be one.
static bool isAlike(Operation *a, Operation *b) {
  auto attr = [](Operation *op, StringRef name) { return op->getAttr(name); };
  return a->getName() == b->getName() &&
         getElementTypeOrSelf(a->getOperand(0)) == getElementTypeOrSelf(b->getOperand(0)) &&
         llvm::all_of(ArrayRef<StringRef>{"axes", "mesh", "reduction"},
                      [&](StringRef name) { return attr(a, name) == attr(b, name); });
}

FailureOr<bool> Selection::joinBucket(Operation *op) {
  if (!isa<dist::AllGatherOp, dist::AllReduceOp, dist::ReduceScatterOp>(op) || bytesOf(op) == 0)
    return false;
  bool gathers = isa<dist::AllGatherOp>(op);
  bool ofBatch = llvm::all_of(dist::getAxisRefs(op->getAttrOfType<ArrayAttr>("axes")),
                              [](dist::AxisRefAttr axis) { return isBatchAxis(axis.getName()); });
  int64_t bytes = bytesOf(op), limit = getBucketBytes(module);
  if (gathers ? !isSmallGather(op) : !ofBatch || bytes >= limit)
    return false;
  bool fits = bucket.empty() || (isAlike(bucket.front(), op) && bucketBytes + bytes <= limit);
  if (!fits && failed(flushBucket()))
    return failure();
  bucket.push_back(op);
  bucketBytes += bytes;
  return true;
}

bool Selection::readsBucket(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return llvm::is_contained(bucket, operand.getDefiningOp());
  });
}

LogicalResult Selection::flushBucket() {
  SmallVector<Operation *> members = std::exchange(bucket, {});
  bucketBytes = 0;
  if (members.size() == 1)
    return success(succeeded(lower(members.front())) &&
                   succeeded(handOut(members.front()->getResults())));
  if (members.empty())
    return success();
  SmallVector<BucketMember> parts;
  SmallVector<Location> locations;
  for (Operation *op : members) {
    auto dim = op->getAttrOfType<IntegerAttr>("dim");
    parts.push_back(
        {views.at(op->getOperand(0)), dim ? std::optional(dim.getInt()) : std::nullopt});
    locations.push_back(op->getLoc());
  }
  Operation *first = members.front();
  RankGroup group = getGroup(first, first->getAttrOfType<FlatSymbolRefAttr>("mesh"),
                             first->getAttrOfType<ArrayAttr>("axes"));
  Location loc = FusedLoc::get(context, locations);
  auto reduction = first->getAttrOfType<dist::ReduceKindAttr>("reduction");
  SmallVector<View> results = reduction
                                  ? addReductions(segment, loc, parts, group, reduction.getValue())
                                  : addGathers(segment, loc, parts, group);
  for (auto [op, view] : llvm::zip_equal(members, results)) {
    views[op->getResult(0)] = view;
    if (failed(handOut(op->getResults())))
      return failure();
  }
  return success();
}

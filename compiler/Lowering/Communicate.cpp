#include "compiler/Lowering/Communicate.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;
using exec::CollectiveKind;

/// Adds the instruction. Both views are contiguous.
static void addCollective(SegmentBuilder &segment, Location loc, const View &input,
                          const View &output, const RankGroup &group, CollectiveKind kind,
                          ReduceKind reduction = ReduceKind::Sum, ArrayAttr toAxes = {}) {
  bool reduces = kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter;
  std::string shapeClass = llvm::formatv("{0} n={1} bytes={2}", exec::stringifyCollectiveKind(kind),
                                         group.ranks, input.getStoredBytes());
  exec::CollectiveOp::create(
      segment.getBuilder(), loc, kind, reduction, group.axes, toAxes, group.mesh.getValue(),
      segment.getOperand(input), segment.getOperand(output),
      segment.getPrice(loc, {input}, {output}, reduces ? input.getNumElements() : 0, shapeClass),
      exec::AsyncAttr());
}

/// [p…, n, q…] seen as [ranks, p…, n/ranks, q…].
static View splitBlocks(const View &view, int64_t dim, int64_t ranks) {
  View split = view;
  int64_t local = view.shape[dim] / ranks;
  split.shape[dim] = local;
  split.shape.insert(split.shape.begin(), ranks);
  split.strides.insert(split.strides.begin(), view.strides[dim] * local);
  return split;
}

/// Whether blocks along `dim` lie one after another in a row-major tensor.
static bool isOutermost(const View &view, int64_t dim) {
  return llvm::all_of(ArrayRef<int64_t>(view.shape).take_front(dim),
                      [](int64_t extent) { return extent == 1; });
}

/// The blocks of `view` along `dim`, one after another: [ranks, p…, n/ranks, q…], row-major.
static View packBlocks(SegmentBuilder &segment, Location loc, const View &view, int64_t dim,
                       int64_t ranks) {
  View blocks = splitBlocks(view, dim, ranks);
  return segment.makeContiguous(loc, blocks, ArenaKind::Activations);
}

/// The tensor whose blocks along `dim` are `blocks` ([ranks, p…, n, q…], row-major).
static View unpackBlocks(SegmentBuilder &segment, Location loc, const View &blocks, int64_t dim) {
  View result = blocks;
  int64_t ranks = blocks.shape.front();
  result.shape.erase(result.shape.begin());
  bool direct = isOutermost(result, dim);
  result.shape[dim] *= ranks;
  result.strides = getRowMajorStrides(result.shape);
  if (direct)
    return result;
  result = segment.allocate(ArenaKind::Activations, blocks.dtype, result.shape);
  segment.copy(loc, blocks, splitBlocks(result, dim, ranks));
  return result;
}

View weft::addAllReduce(SegmentBuilder &segment, Location loc, View input, const RankGroup &group,
                        ReduceKind reduction) {
  // Every rank lays the value out alike, so any gapless order of dimensions will do.
  if (!isDense(input.shape, input.strides))
    input = segment.makeContiguous(loc, input, ArenaKind::Activations);
  View result = segment.allocate(ArenaKind::Activations, input.dtype, input.shape, input.strides);
  auto flat = [](View view) {
    view.shape = {view.getNumElements()};
    view.strides = {1};
    return view;
  };
  addCollective(segment, loc, flat(input), flat(result), group, CollectiveKind::AllReduce,
                reduction);
  return result;
}

View weft::addAllGather(SegmentBuilder &segment, Location loc, View input, int64_t dim,
                        const RankGroup &group, const std::optional<View> &into) {
  input = segment.makeContiguous(loc, input, ArenaKind::Activations);
  if (into && isOutermost(input, dim)) {
    addCollective(segment, loc, input, *into, group, CollectiveKind::AllGather);
    return *into;
  }
  Extents shape = input.shape;
  shape.insert(shape.begin(), group.ranks);
  View blocks = segment.allocate(ArenaKind::Activations, input.dtype, shape);
  addCollective(segment, loc, input, blocks, group, CollectiveKind::AllGather);
  if (!into)
    return unpackBlocks(segment, loc, blocks, dim);
  segment.copy(loc, blocks, splitBlocks(*into, dim, group.ranks));
  return *into;
}

View weft::addReduceScatter(SegmentBuilder &segment, Location loc, View input, int64_t dim,
                            const RankGroup &group, ReduceKind reduction) {
  View blocks = packBlocks(segment, loc, input, dim, group.ranks);
  View result = segment.allocate(ArenaKind::Activations, input.dtype,
                                 ArrayRef<int64_t>(blocks.shape).drop_front());
  addCollective(segment, loc, blocks, result, group, CollectiveKind::ReduceScatter, reduction);
  return result;
}

View weft::addAllToAll(SegmentBuilder &segment, Location loc, View input, int64_t splitDim,
                       int64_t concatDim, const RankGroup &group) {
  View blocks = packBlocks(segment, loc, input, splitDim, group.ranks);
  View received = segment.allocate(ArenaKind::Activations, input.dtype, blocks.shape);
  addCollective(segment, loc, blocks, received, group, CollectiveKind::AllToAll);
  return unpackBlocks(segment, loc, received, concatDim);
}

View weft::addPermute(SegmentBuilder &segment, Location loc, View input, const RankGroup &group,
                      ArrayAttr toAxes) {
  input = segment.makeContiguous(loc, input, ArenaKind::Activations);
  View result = segment.allocate(ArenaKind::Activations, input.dtype, input.shape);
  addCollective(segment, loc, input, result, group, CollectiveKind::Permute, ReduceKind::Sum,
                toAxes);
  return result;
}

/// Views in rows of `width` elements of a buffer, from element `start` of each row on.
static View placeInRows(const View &rows, const View &like, int64_t start, int64_t width) {
  View place{rows.buffer, rows.offset.plus(start), rows.dtype, like.shape, {}};
  place.strides = getRowMajorStrides(ArrayRef<int64_t>(like.shape).drop_front());
  place.strides.insert(place.strides.begin(), width);
  return place;
}

SmallVector<View> weft::addReductions(SegmentBuilder &segment, Location loc,
                                      ArrayRef<BucketMember> members, const RankGroup &group,
                                      ReduceKind reduction) {
  // Rows are what each rank gets: of all-reduces there is one.
  int64_t rows = members.front().dim ? group.ranks : 1, width = 0;
  auto inRows = [&](const BucketMember &member) {
    return splitBlocks(member.input, member.dim.value_or(0), rows);
  };
  SmallVector<View> parts;
  for (const BucketMember &member : members) {
    View flat = member.input;
    if (flat.shape.empty()) { // a scalar has one element along a dimension
      flat.shape = {1};
      flat.strides = {1};
    }
    parts.push_back(inRows({flat, member.dim}));
    width += parts.back().getNumElements() / rows;
  }
  Type dtype = members.front().input.dtype;
  View bucket = segment.allocate(ArenaKind::Activations, dtype, {rows, width});
  View joined = segment.allocate(ArenaKind::Activations, dtype, {width});
  SmallVector<View> results;
  int64_t start = 0;
  for (auto [member, part] : llvm::zip_equal(members, parts)) {
    segment.copy(loc, part, placeInRows(bucket, part, start, width));
    View result = joined;
    result.offset = joined.offset.plus(start);
    result.shape = member.input.shape;
    if (member.dim)
      result.shape[*member.dim] /= rows;
    result.strides = getRowMajorStrides(result.shape);
    results.push_back(result);
    start += part.getNumElements() / rows;
  }
  View whole = bucket;
  whole.shape = {rows * width};
  whole.strides = {1};
  addCollective(segment, loc, whole, joined, group,
                members.front().dim ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
                reduction);
  return results;
}

SmallVector<View> weft::addGathers(SegmentBuilder &segment, Location loc,
                                   ArrayRef<BucketMember> members, const RankGroup &group) {
  int64_t width = 0;
  for (const BucketMember &member : members)
    width += member.input.getNumElements();
  Type dtype = members.front().input.dtype;
  View bucket = segment.allocate(ArenaKind::Activations, dtype, {1, width});
  View joined = segment.allocate(ArenaKind::Activations, dtype, {group.ranks, width});
  int64_t start = 0;
  for (const BucketMember &member : members) {
    View block = splitBlocks(member.input, *member.dim, 1);
    segment.copy(loc, block, placeInRows(bucket, block, start, width));
    start += block.getNumElements();
  }
  View message = bucket;
  message.shape = {width};
  message.strides = {1};
  addCollective(segment, loc, message, joined, group, CollectiveKind::AllGather);
  SmallVector<View> results;
  start = 0;
  for (const BucketMember &member : members) {
    Extents shape(member.input.shape);
    shape[*member.dim] *= group.ranks;
    View result = segment.allocate(ArenaKind::Activations, dtype, shape);
    View blocks = splitBlocks(result, *member.dim, group.ranks);
    segment.copy(loc, placeInRows(joined, blocks, start, width), blocks);
    results.push_back(result);
    start += member.input.getNumElements();
  }
  return results;
}

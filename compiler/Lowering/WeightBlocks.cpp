#include "compiler/Lowering/WeightBlocks.h"

using namespace mlir;
using namespace weft;

/// What is the same for every read of these elements, in any order of dimensions.
static std::vector<int64_t> describeElements(const WeightRead &read) {
  SmallVector<LoopDim> loops;
  for (auto [extent, stride] : llvm::zip_equal(read.shape, read.strides))
    if (stride != 0)
      loops.push_back({extent, {stride}});
  std::vector<int64_t> description;
  for (const LoopDim &loop : mergeLoops(loops, 0)) {
    description.push_back(loop.extent);
    description.push_back(loop.strides[0]);
  }
  // What is padded, by its stride: the order of dimensions does not count here either.
  std::map<int64_t, const void *> padded;
  if (read.valid)
    for (auto [stride, valid] : llvm::zip_equal(read.strides, read.valid))
      if (!cast<exec::AffineAttr>(valid).isConstant())
        padded[stride] = valid.getAsOpaquePointer();
  for (auto [stride, valid] : padded) {
    description.push_back(stride);
    description.push_back(reinterpret_cast<int64_t>(valid));
  }
  return description;
}

std::optional<View> WeightBlocks::findView(const Block &block, const WeightRead &read) {
  View view = block.local;
  view.shape = read.shape;
  view.strides.assign(read.shape.size(), 0);
  for (auto [dim, extent, stride] : llvm::enumerate(read.shape, read.strides)) {
    if (extent == 1 || stride == 0)
      continue;
    // The loop of the block within which this dimension steps.
    const auto *loop = llvm::find_if(block.loops, [&](const LoopDim &loop) {
      int64_t step = loop.strides[InFile];
      return step > 0 && stride % step == 0 && stride * extent <= step * loop.extent;
    });
    if (loop == block.loops.end())
      return std::nullopt;
    view.strides[dim] = stride / loop->strides[InFile] * loop->strides[InArena];
  }
  if (read.rowMajor && !view.isContiguous())
    return std::nullopt;
  return view;
}

/// Tells for each loop of a block how much of it is the weight's. What is padded is the outermost
/// of what its loop joins: in the file a longer dimension lies where the block has the padded one.
void WeightBlocks::addValid(Block &block, const WeightRead &read) {
  if (!read.valid)
    return;
  MLIRContext *context = read.valid.getContext();
  SmallVector<Attribute> valid;
  for (const LoopDim &loop : block.loops)
    valid.push_back(exec::AffineAttr::get(context, loop.extent));
  for (auto [extent, stride, attr] : llvm::zip_equal(read.shape, read.strides, read.valid)) {
    auto affine = cast<exec::AffineAttr>(attr);
    if (affine.isConstant())
      continue;
    auto loop = llvm::find_if(block.loops, [&, extent = extent, stride = stride](LoopDim &loop) {
      int64_t step = loop.strides[InFile];
      return step > 0 && stride % step == 0 && stride * extent == step * loop.extent;
    });
    if (extent != 1 && loop != block.loops.end()) {
      valid[loop - block.loops.begin()] = affine.times(stride / loop->strides[InFile]);
      continue;
    }
    block.loops.insert(block.loops.begin(), {1, {stride, block.local.getNumElements()}});
    block.local.shape.insert(block.local.shape.begin(), 1);
    block.local.strides.insert(block.local.strides.begin(), block.local.getNumElements());
    valid.insert(valid.begin(), affine);
  }
  block.valid = ArrayAttr::get(context, valid);
}

WeightBlocks::Block WeightBlocks::makeBlock(const WeightRead &read) {
  SmallVector<LoopDim> order;
  for (auto [extent, stride] : llvm::zip_equal(read.shape, read.strides))
    if (extent != 1 && (stride != 0 || read.rowMajor))
      order.push_back({extent, {stride, 0}});
  if (!read.rowMajor)
    llvm::sort(order, [](const LoopDim &a, const LoopDim &b) {
      return std::pair(-a.strides[InFile], a.extent) < std::pair(-b.strides[InFile], b.extent);
    });
  int64_t elements = 1;
  for (LoopDim &loop : llvm::reverse(order)) {
    loop.strides[InArena] = elements;
    elements *= loop.extent;
  }
  Block block{read.weight, read.start, mergeLoops(order, InArena), {}, {}};
  Extents shape;
  for (const LoopDim &loop : block.loops)
    shape.push_back(loop.extent);
  block.local = segment.allocate(exec::ArenaKind::Weights, read.dtype, shape);
  addValid(block, read);
  return block;
}

View WeightBlocks::get(const WeightRead &read) {
  std::vector<unsigned> &known = index[{read.weight.getAsOpaquePointer(),
                                        read.start.getAsOpaquePointer(), describeElements(read)}];
  for (unsigned number : known)
    if (std::optional<View> view = findView(blocks[number], read))
      return *view;
  known.push_back(blocks.size());
  blocks.push_back(makeBlock(read));
  if (std::optional<View> view = findView(blocks.back(), read))
    return *view;
  // Repeats that a row-major reader needs stored: the block is the read itself.
  View view = blocks.back().local;
  view.shape = read.shape;
  view.strides = getRowMajorStrides(read.shape);
  return view;
}

void WeightBlocks::emit(OpBuilder &builder, Location loc) const {
  for (const Block &block : blocks) {
    SmallVector<int64_t> strides;
    for (const LoopDim &loop : block.loops)
      strides.push_back(loop.strides[InFile]);
    exec::WeightBlockOp::create(builder, loc, block.weight, block.start,
                                builder.getDenseI64ArrayAttr(strides),
                                segment.getOperand(block.local), block.valid);
  }
}

#include "compiler/Lowering/ProgramBuilder.h"

#include "compiler/Lowering/Arena.h"
#include "dialects/Weft/IR/SourceName.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

/// Every buffer starts at a multiple of this: a cache line, and the widest vector.
static constexpr int64_t bufferAlignment = 64;

int64_t View::getNumElements() const {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

int64_t View::getStoredBytes() const {
  return storedElements(shape, strides) * exec::getElementBytes(dtype);
}

View ProgramBuilder::allocate(ArenaKind kind, Type dtype, ArrayRef<int64_t> shape) {
  return allocate(kind, dtype, shape, getRowMajorStrides(shape));
}

View ProgramBuilder::allocate(ArenaKind kind, Type dtype, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> strides) {
  unsigned index = buffers.size();
  Buffer buffer{.kind = kind, .root = index};
  buffer.bytes = footprint(shape, strides) * exec::getElementBytes(dtype);
  buffers.push_back(buffer);
  return View{index, exec::AffineAttr::get(context, 0), dtype, Extents(shape), Extents(strides)};
}

void ProgramBuilder::setKind(unsigned buffer, ArenaKind kind) {
  if (buffers[buffer].kind != ArenaKind::Weights)
    buffers[buffer].kind = kind;
}

View ProgramBuilder::makeContiguous(Location loc, const View &view, ArenaKind kind) {
  if (view.isContiguous())
    return view;
  View result = allocate(kind, view.dtype, view.shape);
  copy(loc, view, result);
  return result;
}

void ProgramBuilder::copy(Location loc, const View &from, const View &to) {
  std::string text = "copy";
  for (auto [i, extent] : llvm::enumerate(from.shape))
    text += llvm::formatv("{0}{1}", i == 0 ? " " : "x", extent).str();
  add({loc,
       {from},
       {to},
       0,
       text,
       [](OpBuilder &builder, Location loc, ArrayRef<exec::OperandAttr> operands,
          exec::PriceAttr price) {
         exec::CopyOp::create(builder, loc, operands[0], operands[1], price);
       }});
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

unsigned ProgramBuilder::findRoot(unsigned buffer) const {
  while (buffers[buffer].root != buffer)
    buffer = buffers[buffer].root;
  return buffer;
}

void ProgramBuilder::computeLifetimes() {
  auto touch = [&](const View &view, int64_t time) {
    Buffer &buffer = buffers[view.buffer];
    if (buffer.first < 0)
      buffer.first = time;
    buffer.last = time;
  };
  for (auto [time, step] : llvm::enumerate(steps)) {
    for (const View &view : step.reads)
      touch(view, time);
    for (const View &view : step.writes)
      touch(view, time);
  }
  int64_t end = steps.empty() ? 0 : steps.size() - 1;
  for (Buffer &buffer : buffers) {
    if (buffer.always || buffer.kind == ArenaKind::Weights)
      buffer.first = 0;
    if (buffer.first >= 0 && (buffer.always || buffer.toEnd || buffer.kind == ArenaKind::Weights))
      buffer.last = end;
  }
}

void ProgramBuilder::shareInPlace() {
  for (auto [time, step] : llvm::enumerate(steps)) {
    if (!step.mayReuseInput)
      continue;
    unsigned input = findRoot(step.reads.front().buffer), output = step.writes.front().buffer;
    Buffer &from = buffers[input], &to = buffers[output];
    bool ends = from.last == static_cast<int64_t>(time) && !from.always && !from.toEnd;
    if (!ends || from.kind != to.kind || from.bytes != to.bytes || input == output)
      continue;
    to.root = input;
    from.last = to.last;
    from.toEnd |= to.toEnd;
  }
}

void ProgramBuilder::place() {
  computeLifetimes();
  shareInPlace();
  for (unsigned kind = 0; kind <= exec::getMaxEnumValForArenaKind(); ++kind) {
    std::vector<unsigned> members;
    std::vector<BufferLifetime> lifetimes;
    for (auto [index, buffer] : llvm::enumerate(buffers)) {
      if (static_cast<unsigned>(buffer.kind) != kind || buffer.first < 0)
        continue;
      arenaUsed[kind] = true;
      if (buffer.root != index)
        continue;
      members.push_back(index);
      lifetimes.push_back({buffer.bytes, buffer.first, buffer.last});
    }
    if (kind == static_cast<unsigned>(ArenaKind::Weights)) { // all live: one after another
      for (unsigned member : members) {
        buffers[member].offset = arenaBytes[kind];
        arenaBytes[kind] += llvm::alignTo(buffers[member].bytes, bufferAlignment);
      }
      continue;
    }
    ArenaPlacement placement = placeBuffers(lifetimes, bufferAlignment);
    arenaBytes[kind] = placement.bytes;
    for (auto [member, offset] : llvm::zip_equal(members, placement.offsets))
      buffers[member].offset = offset;
  }
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

exec::OperandAttr ProgramBuilder::getOperand(const View &view) const {
  const Buffer &buffer = buffers[findRoot(view.buffer)];
  exec::AffineAttr offset =
      view.offset.times(exec::getElementBytes(view.dtype)).plus(buffer.offset);
  return exec::OperandAttr::get(context, buffer.kind, offset, view.dtype, view.shape, view.strides,
                                /*value=*/view.buffer + 1);
}

void ProgramBuilder::emitArenas(OpBuilder &builder, Location loc) const {
  for (unsigned kind = 0; kind <= exec::getMaxEnumValForArenaKind(); ++kind)
    if (arenaUsed[kind])
      exec::ArenaOp::create(builder, loc, static_cast<ArenaKind>(kind), arenaBytes[kind],
                            bufferAlignment);
}

void ProgramBuilder::emitSteps(OpBuilder &builder) const {
  for (const Step &step : steps) {
    SmallVector<exec::OperandAttr> operands;
    int64_t bytesRead = 0, bytesWritten = 0;
    for (const View &view : step.reads) {
      operands.push_back(getOperand(view));
      bytesRead += view.getStoredBytes();
    }
    for (const View &view : step.writes) {
      operands.push_back(getOperand(view));
      bytesWritten += view.getStoredBytes();
    }
    auto price = exec::PriceAttr::get(context, getSourceName(step.loc), step.flops, bytesRead,
                                      bytesWritten, step.shapeClass);
    step.emit(builder, step.loc, operands, price);
  }
}

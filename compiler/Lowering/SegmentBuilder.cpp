#include "compiler/Lowering/SegmentBuilder.h"

#include "dialects/Weft/IR/SourceName.h"

#include "llvm/Support/raw_ostream.h"

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

std::string weft::formatExtents(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

void SegmentBuilder::begin(StringRef name, bool inFrames) {
  this->inFrames = inFrames;
  builder.setInsertionPointToEnd(&program.getBody().front());
  segments.push_back(exec::SegmentOp::create(builder, program.getLoc(), name));
  builder.setInsertionPointToStart(&segments.back().getBody().emplaceBlock());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

View SegmentBuilder::allocate(ArenaKind kind, Type dtype, ArrayRef<int64_t> shape) {
  return allocate(kind, dtype, shape, getRowMajorStrides(shape));
}

View SegmentBuilder::allocate(ArenaKind kind, Type dtype, ArrayRef<int64_t> shape,
                              ArrayRef<int64_t> strides) {
  unsigned index = buffers.size();
  Buffer &buffer = buffers.emplace_back();
  buffer.kind = kind;
  buffer.bytes = footprint(shape, strides) * exec::getElementBytes(dtype);
  if (kind == ArenaKind::Weights)
    buffer.live = exec::Lifetime::Step;
  return View{index, exec::AffineAttr::get(getContext(), 0), dtype, Extents(shape),
              Extents(strides)};
}

void SegmentBuilder::setKind(unsigned index, ArenaKind kind) {
  Buffer &buffer = buffers[index];
  if (buffer.kind == kind || exec::isKept(buffer.kind) || buffer.kind == ArenaKind::Ports)
    return;
  buffer.kind = kind;
  buffer.moved |= buffer.used;
}

void SegmentBuilder::keepToEnd(unsigned buffer) {
  if (buffers[buffer].live == exec::Lifetime::Uses)
    buffers[buffer].live = exec::Lifetime::End;
}

exec::OperandAttr SegmentBuilder::getOperand(const View &view) {
  Buffer &buffer = buffers[view.buffer];
  buffer.used = true;
  if (!segments.empty()) {
    unsigned segment = segments.size() - 1;
    if (!buffer.firstSegment)
      buffer.firstSegment = segment;
    buffer.shared |= *buffer.firstSegment != segment;
    buffer.outside |= !inFrames;
  }
  return exec::OperandAttr::get(getContext(), buffer.kind,
                                view.offset.times(exec::getElementBytes(view.dtype)), view.dtype,
                                view.shape, view.strides, /*value=*/view.buffer + 1);
}

void SegmentBuilder::separateFrames() {
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    bool isHandedOn = buffer.shared && !buffer.outside && buffer.live == exec::Lifetime::Uses;
    bool mayLieInFrames =
        buffer.kind == ArenaKind::Activations || buffer.kind == ArenaKind::Communication;
    if (mayLieInFrames && !isHandedOn)
      setKind(index, ArenaKind::Workspace);
  }
}

void SegmentBuilder::finish() {
  auto rename = [&](exec::OperandAttr operand) {
    const Buffer &buffer = buffers[operand.getValue() - 1];
    if (operand.getArena() == buffer.kind)
      return operand;
    return exec::OperandAttr::get(getContext(), buffer.kind, operand.getOffset(),
                                  operand.getDtype(), operand.getShape(), operand.getStrides(),
                                  operand.getValue());
  };
  if (llvm::any_of(buffers, [](const Buffer &buffer) { return buffer.moved; }))
    for (exec::SegmentOp segment : segments)
      for (auto op : segment.getBody().getOps<exec::InstructionOpInterface>())
        op.mapOperands(rename);
  builder.setInsertionPointToStart(&program.getBody().front());
  for (auto [index, buffer] : llvm::enumerate(buffers))
    if (buffer.used)
      exec::BufferOp::create(builder, program.getLoc(), index + 1, buffer.kind, buffer.bytes,
                             bufferAlignment, buffer.live);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

exec::PriceAttr SegmentBuilder::getPrice(Location loc, ArrayRef<View> reads, ArrayRef<View> writes,
                                         int64_t flops, StringRef shapeClass) {
  auto sum = [](ArrayRef<View> views) {
    int64_t bytes = 0;
    for (const View &view : views)
      bytes += view.getStoredBytes();
    return bytes;
  };
  return exec::PriceAttr::get(getContext(), getSourceName(loc), flops, sum(reads), sum(writes),
                              shapeClass);
}

View SegmentBuilder::makeContiguous(Location loc, const View &view, ArenaKind kind) {
  if (view.isContiguous())
    return view;
  View result = allocate(kind, view.dtype, view.shape);
  copy(loc, view, result);
  return result;
}

void SegmentBuilder::copy(Location loc, const View &from, const View &to) {
  std::string shapeClass = "copy";
  if (!from.shape.empty())
    shapeClass += " " + formatExtents(from.shape);
  exec::CopyOp::create(builder, loc, getOperand(from), getOperand(to),
                       getPrice(loc, {from}, {to}, 0, shapeClass), exec::AsyncAttr());
}

void SegmentBuilder::fill(Location loc, const View &to, Attribute value) {
  exec::FillOp::create(builder, loc, value, getOperand(to), getPrice(loc, {}, {to}, 0, "fill"));
}

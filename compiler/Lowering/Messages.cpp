#include "compiler/Lowering/Messages.h"

#include "compiler/Lowering/Coordinates.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "compiler/Sharding/Transfer.h"
#include "dialects/Dist/IR/Sharding.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace weft;
using exec::ArenaKind;

int64_t MessageSide::getNumPeers() const {
  int64_t peers = 1;
  for (int64_t extent : ArrayRef(shape).take_front(steps.size()))
    peers *= extent;
  return peers;
}

//===----------------------------------------------------------------------===//
// Peers
//===----------------------------------------------------------------------===//

/// How far apart positions lie that differ by one in a digit of a mesh.
static int64_t getPositionStep(const MeshShape &mesh, AxisRef digit) {
  int64_t step = mesh.axes[digit.axis].size / digit.end();
  for (const MeshAxis &axis : ArrayRef(mesh.axes).drop_front(digit.axis + 1))
    step *= axis.size;
  return step;
}

namespace {
/// What one side sees: its own digits and the other's.
struct SideDigit {
  int64_t size;
  std::optional<AxisRef> own, other;
  std::optional<unsigned> dim;
};
} // namespace

static MessageSide makeSide(MLIRContext *context, const MeshShape &own, const MeshShape &other,
                            ArrayRef<SideDigit> digits, ArrayRef<int64_t> block) {
  MessageSide side;
  side.mesh = FlatSymbolRefAttr::get(context, other.name);
  side.peer = exec::AffineAttr::get(context, 0);
  Extents peers, piece(block);
  SmallVector<AxisRef> leaders;
  for (const SideDigit &digit : digits) {
    if (!digit.other) {
      if (!digit.dim)
        leaders.push_back(*digit.own);
      continue;
    }
    int64_t step = getPositionStep(other, *digit.other);
    if (digit.own) {
      ArrayAttr axes = toAxesAttr(context, {*digit.own}, own);
      side.peer = side.peer.plus(getCoordinate(context, dist::getAxisRefs(axes), step));
      continue;
    }
    peers.push_back(digit.size);
    side.steps.push_back(step);
    side.dividedDims.push_back(digit.dim);
    if (digit.dim)
      piece[*digit.dim] /= digit.size;
  }
  side.leaders = toExecAxes(context, dist::getAxisRefs(toAxesAttr(context, leaders, own)));
  side.shape = peers;
  side.shape.append(piece);
  return side;
}

FailureOr<std::pair<MessageSide, MessageSide>> weft::getMessageSides(dist::TransferOp op) {
  MeshShape source = getMeshShape(dist::lookupMesh(op, op.getFrom().getMesh()));
  MeshShape target = getMeshShape(dist::lookupMesh(op, op.getTo().getMesh()));
  std::optional<SmallVector<TransferDigit>> digits = findTransferDigits(
      source, target, fromAttr(op.getFrom(), source), fromAttr(op.getTo(), target));
  if (!digits)
    return op.emitOpError() << "expected shardings of which one divides the other's blocks, got: "
                            << op.getFrom() << " and " << op.getTo();
  SmallVector<SideDigit> ofSource, ofTarget;
  for (const TransferDigit &digit : *digits) {
    ofSource.push_back({digit.size, digit.source, digit.target, digit.dim});
    // Of copies that the source alone has the first sends, at coordinate 0.
    if (digit.target || digit.dim)
      ofTarget.push_back({digit.size, digit.target, digit.source, digit.dim});
  }
  MLIRContext *context = op.getContext();
  MessageSide receiving = makeSide(context, target, source, ofTarget, op.getType().getShape());
  receiving.leaders = ArrayAttr::get(context, {});
  return std::pair(makeSide(context, source, target, ofSource, op.getInput().getType().getShape()),
                   receiving);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// A block as [peers…, piece…]: each digit of peers is the next minor one of the dimension that it
/// divides.
static View splitBlock(const View &block, const MessageSide &side) {
  size_t count = side.steps.size();
  View split = block;
  split.shape = side.shape;
  split.strides.assign(count, 0);
  split.strides.append(block.strides);
  Extents inner(ArrayRef(side.shape).drop_front(count)); // below the digit that comes next
  for (size_t peer = count; peer-- > 0;)
    if (std::optional<unsigned> dim = side.dividedDims[peer]) {
      split.strides[peer] = inner[*dim] * block.strides[*dim];
      inner[*dim] *= side.shape[peer];
    }
  return split;
}

/// Has the elements of each piece follow one another. Peers that get the same share it.
static View packPieces(SegmentBuilder &segment, Location loc, const View &split,
                       const MessageSide &side) {
  size_t count = side.steps.size();
  if (isRowMajor(ArrayRef(split.shape).drop_front(count),
                 ArrayRef(split.strides).drop_front(count)))
    return split;
  View once = split;
  for (size_t peer = 0; peer < count; ++peer)
    if (!side.dividedDims[peer])
      once.shape[peer] = 1;
  View packed = segment.makeContiguous(loc, once, ArenaKind::Communication);
  packed.shape = split.shape;
  for (size_t peer = 0; peer < count; ++peer)
    if (!side.dividedDims[peer])
      packed.strides[peer] = 0;
  return packed;
}

static std::string describe(const char *what, const MessageSide &side, const View &message) {
  return llvm::formatv("{0} n={1} bytes={2}", what, side.getNumPeers(),
                       message.getNumElements() * exec::getElementBytes(message.dtype));
}

void weft::addSend(SegmentBuilder &segment, Location loc, const View &block,
                   const MessageSide &side, int64_t tag, FlatSymbolRefAttr until) {
  View source = block;
  if (until && segment.isState(block.buffer)) { // it may change before it is waited for
    source = segment.allocate(ArenaKind::Communication, block.dtype, block.shape);
    segment.copy(loc, block, source);
  }
  View message = packPieces(segment, loc, splitBlock(source, side), side);
  segment.setKind(message.buffer, ArenaKind::Communication);
  if (until)
    segment.share(message.buffer);
  exec::SendOp::create(segment.getBuilder(), loc, segment.getBuilder().getI64IntegerAttr(tag),
                       segment.getOperand(message), side.mesh, side.peer,
                       segment.getBuilder().getDenseI64ArrayAttr(side.steps), side.leaders, until,
                       segment.getPrice(loc, {message}, {}, 0, describe("send", side, message)),
                       exec::AsyncAttr());
}

View weft::addReceive(SegmentBuilder &segment, Location loc, RankedTensorType block,
                      const MessageSide &side, int64_t tag) {
  View message = segment.allocate(ArenaKind::Communication, block.getElementType(), side.shape);
  exec::ReceiveOp::create(
      segment.getBuilder(), loc, segment.getBuilder().getI64IntegerAttr(tag), side.mesh, side.peer,
      segment.getBuilder().getDenseI64ArrayAttr(side.steps), segment.getOperand(message),
      segment.getPrice(loc, {}, {message}, 0, describe("receive", side, message)),
      exec::AsyncAttr());
  View result = message; // as a block where pieces follow one another in it
  result.shape = Extents(block.getShape());
  result.strides = getRowMajorStrides(block.getShape());
  View pieces = splitBlock(result, side);
  if (sameStrides(message.shape, message.strides, pieces.strides))
    return result;
  result = segment.allocate(ArenaKind::Activations, block.getElementType(), block.getShape());
  segment.copy(loc, message, splitBlock(result, side));
  return result;
}

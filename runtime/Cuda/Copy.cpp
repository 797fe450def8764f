//===- Copy.cpp - copies and fills ----------------------------------------===//
//
// Elements may move to where others of them lie, all by the same distance (a part of a tensor moves
// within it). Copies on a GPU are done in no order, so such a copy goes through the stream's
// workspace: in pieces, in the order of addresses from the end that is left, so that no element is
// overwritten before it was moved. By 2 elements to the right in pieces of 3:
//
//   abcdefg..   efg → workspace → 6…8; bcd → 3…5; a → 2:   ababcdefg
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/Commands.h"
#include "runtime/Cuda/StridedCopy.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t pieceBytes = 32 << 20;

class Move {
public:
  /// By `distance` bytes, not 0.
  Move(const CopyLoops &loops, int64_t distance) {
    size_t cut = 0; // the dimension that is cut; inner ones stay whole
    int64_t inner = loops.getNumElements() / loops.shape[0] * loops.size;
    while (inner > pieceBytes)
      inner /= loops.shape[++cut];
    int64_t extent = loops.shape[cut], most = std::clamp(pieceBytes / inner, int64_t(1), extent);
    bytes = most * inner;
    addPart(loops, cut, most);
    addPart(loops, cut, extent % most);
    int64_t outer = loops.getNumElements() * loops.size / inner / extent;
    for (int64_t number = 0; number < outer; ++number) {
      int64_t rest = number, offset = 0;
      for (size_t dim = cut; dim-- > 0; rest /= loops.shape[dim])
        offset += rest % loops.shape[dim] * loops.to[dim];
      for (int64_t at = 0; at < extent; at += most)
        pieces.push_back({offset + at * loops.to[cut], at + most > extent});
    }
    if (distance > 0)
      std::reverse(pieces.begin(), pieces.end());
  }

  int64_t getWorkspaceBytes() const { return bytes; }

  void enqueue(CudaContext &context, CUdeviceptr from, CUdeviceptr to, CudaStream &stream) const {
    CUdeviceptr workspace = stream.getWorkspace(bytes);
    for (const Piece &piece : pieces) {
      const Part &part = parts[piece.isRest ? 1 : 0];
      part.in.enqueue(context, from + piece.offset, workspace, stream);
      part.out.enqueue(context, workspace, to + piece.offset, stream);
    }
  }

private:
  /// Copies to and from the workspace.
  struct Part {
    StridedCopy in, out;
  };
  /// Elements that go through the workspace at once.
  struct Piece {
    int64_t offset; ///< bytes from the first element, on both sides
    bool isRest;    ///< the last of the cut dimension, with less elements
  };

  void addPart(const CopyLoops &loops, size_t cut, int64_t extent) {
    CopyLoops in = loops;
    auto drop = [&](std::vector<int64_t> &of) {
      of.erase(of.begin(), of.begin() + static_cast<int64_t>(cut));
    };
    drop(in.shape);
    drop(in.from);
    drop(in.to);
    in.shape[0] = extent;
    int64_t step = in.size;
    for (size_t dim = in.shape.size(); dim-- > 0; step *= in.shape[dim])
      in.to[dim] = step;
    CopyLoops out = in;
    std::swap(out.from, out.to);
    parts.push_back({StridedCopy(std::move(in)), StridedCopy(std::move(out))});
  }

  int64_t bytes = 0; ///< of the workspace
  std::vector<Part> parts;
  std::vector<Piece> pieces;
};

class CopyCommand : public Command {
public:
  CopyCommand(CudaContext &context, CopyCall given)
      : context(context), call(std::move(given)), copy(call.input, call.output) {
    // Arenas do not overlap.
    const CopyLoops &loops = copy.getLoops();
    int64_t distance = call.output.offset - call.input.offset;
    if (call.input.arena != call.output.arena || loops.from != loops.to ||
        loops.getNumElements() == 0 || !loops.overlaps(distance))
      return;
    isInPlace = distance == 0;
    if (isInPlace)
      return;
    move.emplace(loops, distance);
    context.reserveWorkspace(move->getWorkspaceBytes());
  }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    CUdeviceptr from = toPointer(call.input.getAddress(bases)),
                to = toPointer(call.output.getAddress(bases));
    auto &own = static_cast<CudaStream &>(stream);
    if (move)
      move->enqueue(context, from, to, own);
    else if (!isInPlace)
      copy.enqueue(context, from, to, own);
  }

private:
  CudaContext &context;
  CopyCall call;
  StridedCopy copy;
  std::optional<Move> move; ///< where the operands overlap
  bool isInPlace = false;
};

class FillCommand : public Command {
public:
  FillCommand(CudaContext &context, FillCall given)
      : context(context), call(std::move(given)), fill(call.output, call.value) {}

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    fill.enqueue(context, toPointer(call.output.getAddress(bases)),
                 static_cast<CudaStream &>(stream));
  }

private:
  CudaContext &context;
  FillCall call;
  StridedFill fill;
};

} // namespace

std::unique_ptr<Command> makeCopyCommand(CudaContext &context, CopyCall call) {
  checkCopy(call);
  return std::make_unique<CopyCommand>(context, std::move(call));
}

std::unique_ptr<Command> makeFillCommand(CudaContext &context, FillCall call) {
  checkFill(call);
  return std::make_unique<FillCommand>(context, std::move(call));
}

} // namespace weft::runtime

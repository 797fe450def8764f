#include "compiler/Sharding/SliceTokens.h"

#include "compiler/Sharding/OutlineStages.h"
#include "compiler/Sharding/PartSlicer.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace weft;

static DictionaryAttr getTraining(ModuleOp module) {
  return module->getAttrOfType<DictionaryAttr>("weft.training");
}

int64_t weft::countSlices(ModuleOp module) {
  DictionaryAttr training = getTraining(module);
  auto count = training ? training.getAs<IntegerAttr>("slices") : IntegerAttr();
  return count ? count.getInt() : 1;
}

/// What slices are multiples of: the largest power of two of which there are enough for them to be
/// about equal. Meshes that divide the sequence are likely to divide slices then.
static int64_t findUnit(int64_t length, int64_t count) {
  constexpr int64_t enough = 8; // in a slice
  int64_t unit = 1;
  while (length % (2 * unit) == 0 && length / (2 * unit) >= enough * count)
    unit *= 2;
  return unit;
}

/// The slices of a sequence of so many tokens. Fails, after an error, where it has no such.
static FailureOr<SmallVector<int64_t>> getSliceLengths(ModuleOp module, int64_t length) {
  int64_t count = countSlices(module);
  if (count > length)
    return module.emitError() << "expected slices of at least a token, got " << count
                              << " slices of " << length << " tokens";
  if (auto asked = getTraining(module).getAs<DenseI64ArrayAttr>("slice_lengths")) {
    SmallVector<int64_t> lengths(asked.asArrayRef());
    auto sum = std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
    bool areSlices = llvm::all_of(lengths, [](int64_t each) { return each > 0; });
    if (sum != length || !areSlices || static_cast<int64_t>(lengths.size()) != count)
      return module.emitError() << "expected " << count << " slices of " << length
                                << " tokens, got: " << sum << " in " << lengths.size();
    return lengths;
  }
  int64_t unit = findUnit(length, count), units = length / unit;
  SmallVector<int64_t> lengths(count, units / count * unit);
  for (int64_t number = 0; number < units % count; ++number)
    lengths[number] += unit;
  return lengths;
}

namespace {
/// Rewrites parts, and what @main hands from one to another.
class Slicer {
public:
  Slicer(const Parts &parts, const SequenceDims &dims, ArrayRef<int64_t> lengths);

  void run();

private:
  void rewriteParts();
  void rewriteMain();
  unsigned getNumber(unsigned part, unsigned result) const;
  SmallVector<Value> getOperands(Value old, unsigned part, unsigned argument, OpBuilder &builder);

  const Parts &parts;
  SmallVector<TokenRange> ranges;
  const SequenceDims &dims;
  std::map<std::pair<unsigned, unsigned>, Channel> incoming; ///< by part and argument
  /// By part: which arguments and results are in slices.
  SmallVector<llvm::BitVector> arguments, results;
  SmallVector<func::CallOp> calls;
};
} // namespace

Slicer::Slicer(const Parts &parts, const SequenceDims &dims, ArrayRef<int64_t> lengths)
    : parts(parts), dims(dims) {
  int64_t begin = 0;
  for (int64_t each : lengths) {
    ranges.push_back({begin, begin + each});
    begin += each;
  }
  for (const Channel &channel : parts.channels)
    incoming[{channel.to, channel.argument}] = channel;
}

void Slicer::rewriteParts() {
  for (const Part &part : parts.parts) {
    arguments.emplace_back(func::FuncOp(part.function).getNumArguments());
    results.emplace_back(func::FuncOp(part.function).getNumResults());
  }
  for (const Channel &channel : parts.channels)
    if (dims.isSliced(channel)) {
      arguments[channel.to].set(channel.argument);
      results[channel.from].set(channel.result);
    }
  for (auto [number, part] : llvm::enumerate(parts.parts))
    PartSlicer(part, dims, ranges, arguments[number], results[number]).run();
}

/// Where a result of a part, or the first slice of it, is now.
unsigned Slicer::getNumber(unsigned part, unsigned result) const {
  unsigned number = result;
  for (unsigned before : results[part].set_bits())
    number += before < result ? ranges.size() - 1 : 0;
  return number;
}

/// What stands for an operand of a part's old call: an input, or results of another part.
SmallVector<Value> Slicer::getOperands(Value old, unsigned part, unsigned argument,
                                       OpBuilder &builder) {
  if (isa<BlockArgument>(old))
    return {old};
  const Channel &channel = incoming.at({part, argument});
  func::FuncOp from = parts.parts[channel.from].function;
  unsigned first = getNumber(channel.from, channel.result);
  unsigned count = results[channel.from].test(channel.result) ? ranges.size() : 1;
  SmallVector<Value> values;
  for (unsigned number = first; number < first + count; ++number)
    values.push_back(channel.from < calls.size()
                         ? calls[channel.from].getResult(number)
                         : dist::ResultOfOp::create(builder, old.getLoc(),
                                                    from.getResultTypes()[number],
                                                    from.getSymName(), number)
                               .getResult());
  return values;
}

void Slicer::rewriteMain() {
  func::FuncOp main = parts.main;
  OpBuilder builder(main.getContext());
  for (auto [number, part] : llvm::enumerate(parts.parts)) {
    func::CallOp old = part.call;
    builder.setInsertionPoint(old);
    SmallVector<Value> operands;
    for (OpOperand &operand : old->getOpOperands())
      llvm::append_range(operands,
                         getOperands(operand.get(), number, operand.getOperandNumber(), builder));
    calls.push_back(func::CallOp::create(builder, old.getLoc(), part.function, operands));
  }
  Operation *end = main.getBody().front().getTerminator();
  for (OpOperand &operand : end->getOpOperands()) {
    auto result = cast<OpResult>(operand.get());
    auto part = llvm::find_if(parts.parts,
                              [&](const Part &each) { return each.call == result.getOwner(); });
    unsigned number = part - parts.parts.begin();
    operand.set(calls[number].getResult(getNumber(number, result.getResultNumber())));
  }
  for (const Part &part : llvm::reverse(parts.parts)) {
    func::CallOp old = part.call;
    SmallVector<Value> operands(old.getOperands());
    old.erase();
    for (Value operand : operands)
      if (auto later = operand.getDefiningOp<dist::ResultOfOp>(); later && later->use_empty())
        later.erase();
  }
}

void Slicer::run() {
  rewriteParts();
  rewriteMain();
}

/// Where the sequence is, and the slices' lengths.
static FailureOr<std::pair<SequenceDims, SmallVector<int64_t>>> findSlices(ModuleOp module,
                                                                           const Parts &parts) {
  if (!areStages(parts))
    return func::FuncOp(parts.main)
        .emitError("expected stages, which slices of a sequence go through: give slices=1");
  FailureOr<SequenceDims> dims = SequenceDims::find(parts);
  if (failed(dims))
    return failure();
  FailureOr<SmallVector<int64_t>> lengths = getSliceLengths(module, dims->getLength());
  if (failed(lengths))
    return failure();
  return std::pair(std::move(*dims), std::move(*lengths));
}

FailureOr<SmallVector<int64_t>> weft::findSliceLengths(ModuleOp planned) {
  std::optional<Parts> parts = countSlices(planned) > 1 ? getParts(planned) : std::nullopt;
  if (!parts)
    return failure();
  auto found = findSlices(planned, *parts);
  return failed(found) ? FailureOr<SmallVector<int64_t>>(failure()) : std::move(found->second);
}

LogicalResult weft::checkSlices(ModuleOp module) {
  return success(countSlices(module) <= 1 || succeeded(findSliceLengths(module)));
}

LogicalResult weft::sliceTokens(ModuleOp module) {
  if (countSlices(module) <= 1)
    return success();
  std::optional<Parts> parts = getParts(module);
  if (parts && !parts->channels.empty()) {
    separateChannels(*parts);
    parts = getParts(module);
  }
  if (!parts)
    return failure();
  auto found = findSlices(module, *parts);
  if (failed(found))
    return failure();
  Slicer(*parts, found->first, found->second).run();
  return success();
}

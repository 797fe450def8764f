#include "compiler/Sharding/OutlineStages.h"

#include "compiler/Schedule/Pipelines.h"
#include "compiler/Sharding/SliceTokens.h"
#include "compiler/Sharding/StagePhases.h"
#include "dialects/Dist/IR/Sharding.h"

#include <deque>
#include <tuple>

using namespace mlir;
using namespace weft;

namespace {
class StageOutliner {
public:
  explicit StageOutliner(const Parts &parts);

  void run();

private:
  void findLevels();
  void rewriteMain();
  void call(StagePhases &stage, PhaseFunction &phase, OpBuilder &builder);
  void joinMeshes();
  dist::TransferOp getTransfer(unsigned part, unsigned argument) const;
  Value getHanded(StagePhases &stage, BlockArgument argument, OpBuilder &builder);

  const Parts &parts;
  std::deque<StagePhases> stages;
  std::map<std::pair<unsigned, unsigned>, Channel> incoming; ///< by part and argument
  /// By stage: what its values are in @main.
  std::vector<llvm::DenseMap<Value, Value>> outer;
};
} // namespace

StageOutliner::StageOutliner(const Parts &parts) : parts(parts), outer(parts.parts.size()) {
  auto module = parts.main->getParentOfType<ModuleOp>();
  int64_t number = 0;
  for (const Part &part : parts.parts) {
    stages.emplace_back(part, stages.size(), number);
    number = stages.back().getEnd() + mostLevels * countSlices(module); // counters come later
  }
  // What one stage is handed twice, from one place in one way, it is handed once.
  std::map<std::tuple<unsigned, unsigned, void *, const void *, const void *>, unsigned> known;
  for (const Channel &channel : parts.channels) {
    dist::TransferOp transfer = getTransfer(channel.to, channel.argument);
    Value value = stages[channel.from].getResult(channel.result);
    auto [first, isNew] =
        known.try_emplace({channel.to, channel.from, value.getAsOpaquePointer(),
                           transfer ? transfer.getFrom().getAsOpaquePointer() : nullptr,
                           transfer ? transfer.getTo().getAsOpaquePointer() : nullptr},
                          channel.argument);
    if (isNew)
      incoming[{channel.to, channel.argument}] = channel;
    else
      stages[channel.to].replaceReceived(channel.argument, first->second);
  }
}

static bool isOnOneMesh(dist::TransferOp transfer) {
  dist::MeshOp from = dist::lookupMesh(transfer, transfer.getFrom().getMesh());
  return from.hasSameDevices(dist::lookupMesh(transfer, transfer.getTo().getMesh()));
}

dist::TransferOp StageOutliner::getTransfer(unsigned part, unsigned argument) const {
  func::CallOp call = parts.parts[part].call;
  auto transfer = call.getOperand(argument).getDefiningOp<dist::TransferOp>();
  // Where it would stay on its devices it is handed over as it lies.
  return transfer && isOnOneMesh(transfer) ? dist::TransferOp() : transfer;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// The least levels, which grow until nothing changes: as many rounds as values go to and fro.
void StageOutliner::findLevels() {
  for (bool changes = true; changes;) {
    changes = false;
    for (StagePhases &stage : stages)
      stage.findLevels();
    for (const auto &[at, channel] : incoming) {
      Place from = stages[channel.from].getResultPlace(channel.result);
      StagePhases &to = stages[channel.to];
      Place now = to.getReceived(channel.argument);
      if (from.group != now.group) // which is over before
        continue;
      unsigned level = stages[channel.from].findLevelTo(channel.to, from.level);
      if (level > now.level) {
        to.setReceived(channel.argument, {now.group, level});
        changes = true;
      }
    }
  }
  bool putsOff = schedule::putsOffWeights(getPipelineName(parts.main));
  for (StagePhases &stage : stages) {
    stage.delay();
    if (putsOff)
      stage.putOffWeights();
  }
  for (const auto &[at, channel] : incoming)
    if (getTransfer(at.first, at.second))
      stages[channel.from].noteSent(stages[channel.from].getResultPlace(channel.result),
                                    stages[channel.to].getReceived(channel.argument), channel.to);
}

//===----------------------------------------------------------------------===//
// @main
//===----------------------------------------------------------------------===//

/// What another stage hands to this one, on this one's mesh.
Value StageOutliner::getHanded(StagePhases &stage, BlockArgument argument, OpBuilder &builder) {
  const Channel &channel = incoming.at({stage.getNumber(), argument.getArgNumber()});
  Value value = outer[channel.from].lookup(stages[channel.from].getResult(channel.result));
  dist::TransferOp transfer = getTransfer(stage.getNumber(), argument.getArgNumber());
  if (!transfer)
    return value;
  auto handed = dist::TransferOp::create(builder, transfer.getLoc(), transfer.getType(), value,
                                         transfer.getFrom(), transfer.getTo());
  // What two stages of one mesh are handed is not the same: they receive it when they need it.
  handed->setAttr(kPipelineStageAttr, builder.getI64IntegerAttr(stage.getNumber()));
  return handed;
}

void StageOutliner::call(StagePhases &stage, PhaseFunction &phase, OpBuilder &builder) {
  auto &values = outer[stage.getNumber()];
  SmallVector<Value> operands;
  for (Value value : phase.arguments) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && stage.isReceivedIn(argument, phase))
      values[value] = getHanded(stage, argument, builder);
    operands.push_back(values.lookup(value));
  }
  phase.call = func::CallOp::create(builder, stage.getLoc(), phase.function, operands);
  stage.describeCall(phase);
  for (auto [value, result] : llvm::zip_equal(stage.getGiven(phase), phase.call.getResults()))
    values[value] = result;
}

void StageOutliner::rewriteMain() {
  func::FuncOp main = parts.main;
  auto *block = new Block();
  IRMapping arguments;
  for (BlockArgument argument : main.getArguments())
    arguments.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  for (auto [part, values] : llvm::zip_equal(parts.parts, outer))
    for (auto [inner, operand] : llvm::zip_equal(func::FuncOp(part.function).getArguments(),
                                                 func::CallOp(part.call).getOperands()))
      if (isa<BlockArgument>(operand))
        values[inner] = arguments.lookup(operand);
  // Down the stages, up again, and so on.
  std::map<std::pair<Place, int64_t>, std::pair<StagePhases *, PhaseFunction *>> order;
  for (StagePhases &stage : stages)
    for (auto &[place, phase] : stage.getPhases())
      order[{place, (stage.isUp(place.level) ? -1 : 1) * int64_t(stage.getNumber())}] = {&stage,
                                                                                         &phase};
  OpBuilder builder(main.getContext());
  builder.setInsertionPointToEnd(block);
  for (auto &[place, phase] : order)
    call(*phase.first, *phase.second, builder);
  SmallVector<Value> results;
  for (Value value : main.getBody().front().getTerminator()->getOperands()) {
    auto result = cast<OpResult>(value);
    auto part = llvm::find_if(parts.parts,
                              [&](const Part &part) { return part.call == result.getOwner(); });
    unsigned number = part - parts.parts.begin();
    results.push_back(outer[number].lookup(stages[number].getResult(result.getResultNumber())));
  }
  func::ReturnOp::create(builder, main.getLoc(), results);
  main.getBody().push_back(block);
  main.getBody().front().erase();
  for (const Part &part : parts.parts)
    func::FuncOp(part.function).erase();
}

void StageOutliner::run() {
  for (StagePhases &stage : stages)
    stage.findPlaces();
  findLevels();
  for (StagePhases &stage : stages)
    stage.build();
  rewriteMain();
  joinMeshes();
}

/// Stages that share devices are on one mesh from here on.
void StageOutliner::joinMeshes() {
  std::map<int64_t, dist::MeshOp> first; // by device
  llvm::DenseMap<StringAttr, FlatSymbolRefAttr> joined;
  SmallVector<dist::MeshOp> redundant;
  for (const Part &part : parts.parts) {
    auto [known, isNew] = first.try_emplace(dist::MeshOp(part.mesh).getFirstDevice(), part.mesh);
    if (isNew || known->second == part.mesh)
      continue;
    joined[dist::MeshOp(part.mesh).getSymNameAttr()] =
        FlatSymbolRefAttr::get(known->second.getSymNameAttr());
    redundant.push_back(part.mesh);
  }
  if (joined.empty())
    return;
  auto module = parts.main->getParentOfType<ModuleOp>();
  for (auto weight : module.getOps<WeightOp>())
    weight->removeAttr(dist::kShardingsAttr); // each load has its own by now
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr name) -> std::optional<Attribute> {
    FlatSymbolRefAttr other = joined.lookup(name.getAttr());
    return other ? std::optional<Attribute>(other) : std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module);
  for (dist::MeshOp mesh : redundant)
    mesh.erase();
}

std::string weft::getPipelineName(func::FuncOp main) {
  auto training = main->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>("weft.training");
  auto name = training ? training.getAs<StringAttr>("pipeline") : StringAttr();
  return name ? name.str() : "";
}

bool weft::areStages(const Parts &parts) {
  func::FuncOp main = parts.main;
  return parts.parts.size() > 1 && (main->hasAttr(dist::kMicrobatchesAttr) ||
                                    !main.getBody().front().getOps<dist::ResultOfOp>().empty());
}

void weft::outlineStages(const Parts &parts) { StageOutliner(parts).run(); }

#include "compiler/Sharding/StagePhases.h"

#include "compiler/Sharding/OutlineStages.h"
#include "compiler/Sharding/SliceTokens.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;
using namespace weft;

StagePhases::StagePhases(const Part &part, unsigned number, int64_t firstNumber)
    : PhaseBuilder(part, firstNumber), number(number) {
  func::CallOp call = part.call;
  slices = countSlices(func::FuncOp(main)->getParentOfType<ModuleOp>());
  for (BlockArgument argument : main.getArguments()) {
    if (isa<BlockArgument>(call.getOperand(argument.getArgNumber())))
      continue;
    bool varies = count == 1 || phases.varies(argument);
    received[argument] = {varies                    ? PhaseGroup::Each
                          : phases.isLate(argument) ? PhaseGroup::Update
                                                    : PhaseGroup::Prepare};
  }
}

void StagePhases::replaceReceived(unsigned argument, unsigned other) {
  body.getArgument(argument).replaceAllUsesWith(body.getArgument(other));
  received.erase(body.getArgument(argument));
}

//===----------------------------------------------------------------------===//
// What is done in which phase
//===----------------------------------------------------------------------===//

/// The group of an operation that is done once; none of what is done again in each phase that
/// reads it: what costs nothing, or should not be kept.
std::optional<PhaseGroup> StagePhases::findGroup(Operation *op) const {
  bool isEnd = op->hasTrait<OpTrait::IsTerminator>(), stores = op->getNumResults() == 0;
  if (isEnd)
    return std::nullopt;
  if (count == 1)
    return stores || fromArguments.contains(op) || isHoistable(op) ? std::optional(PhaseGroup::Each)
                                                                   : std::nullopt;
  if (auto sum = dyn_cast<dist::AccumulateOp>(op))
    return llvm::is_contained(phases.early, sum) ? std::nullopt : std::optional(PhaseGroup::Each);
  if (stores)
    return isCarriedStore(*op) ? PhaseGroup::Each : PhaseGroup::Update;
  if (isa<dist::MicrobatchOp>(op) || states.contains(phases.getCarried(*op)))
    return std::nullopt;
  if (phases.varies(op->getResult(0)))
    return PhaseGroup::Each;
  if (phases.isLate(op->getResult(0)))
    return PhaseGroup::Update;
  bool isHoisted = llvm::any_of(op->getResults(), [&](Value v) { return hoisted.contains(v); });
  return isHoisted ? std::optional(PhaseGroup::Prepare) : std::nullopt;
}

void StagePhases::findPlaces() {
  live = findNeeded([](Value) { return false; });
  for (Operation &op : body)
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          Operation *maker = operand.getDefiningOp();
          return !maker || fromArguments.contains(maker);
        }))
      fromArguments.insert(&op);
  if (count > 1)
    findHoisted(live);
  for (Operation &op : body)
    if (std::optional<PhaseGroup> group = live.contains(&op) ? findGroup(&op) : std::nullopt)
      places[&op] = {*group};
}

/// When a value is there. What an input gives is there all the time.
Place StagePhases::getPlace(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return received.contains(value) ? received.lookup(value) : Place{PhaseGroup::Begin};
  if (auto sum = dyn_cast<dist::AccumulateOp>(op))
    return {llvm::is_contained(phases.early, sum) ? PhaseGroup::Prepare : PhaseGroup::Update};
  if (auto found = places.find(op); found != places.end())
    return found->second;
  bool varies = count == 1 || phases.varies(value); // a state that every microbatch changes
  return {varies ? PhaseGroup::Each : PhaseGroup::Prepare, helperLevels.lookup(op)};
}

unsigned StagePhases::findLevelTo(unsigned stage, unsigned level) const {
  return isUp(level) == (number > stage) ? level : (level / slices + 1) * slices;
}

/// The level that an operation was given.
static unsigned getOwnLevel(Operation &op) {
  auto level = op.getAttrOfType<IntegerAttr>(kLevelAttr);
  return level ? level.getInt() : 0;
}

void StagePhases::findLevels() {
  for (Operation &op : body) {
    if (!live.contains(&op))
      continue;
    auto found = places.find(&op);
    bool isHelper = found == places.end();
    PhaseGroup group = !isHelper    ? found->second.group
                       : count == 1 ? PhaseGroup::Each
                                    : PhaseGroup::Prepare;
    unsigned level = group == PhaseGroup::Each ? getOwnLevel(op) : 0;
    for (Value operand : op.getOperands())
      if (Place place = getPlace(operand); place.group == group)
        level = std::max(level, place.level);
    (isHelper ? helperLevels[&op] : found->second.level) = level;
  }
}

/// The first level of a group in which a value is read, behind what is done again where it is
/// read; none where nothing of the group reads it.
std::optional<unsigned> StagePhases::findReading(Value value, PhaseGroup group) const {
  std::optional<unsigned> first;
  for (Operation *user : value.getUsers()) {
    if (!live.contains(user) || user->hasTrait<OpTrait::IsTerminator>())
      continue;
    std::optional<unsigned> level;
    if (auto found = places.find(user); found == places.end())
      for (Value result : user->getResults()) {
        std::optional<unsigned> behind = findReading(result, group);
        level = !level ? behind : behind ? std::min(level, behind) : level;
      }
    else if (found->second.group == group)
      level = found->second.level;
    if (level)
      first = first ? std::min(*first, *level) : *level;
  }
  return first;
}

/// What goes into sums, or to other stages, stays as early as it can be.
bool StagePhases::isRoot(Operation *op) const {
  return op->getNumResults() == 0 || isa<dist::AccumulateOp>(op) ||
         llvm::any_of(op->getUsers(),
                      [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

void StagePhases::delay() {
  for (Operation &op : llvm::reverse(body)) {
    auto found = places.find(&op);
    if (found == places.end() || found->second.group != PhaseGroup::Each || isRoot(&op))
      continue;
    std::optional<unsigned> first;
    for (Value result : op.getResults())
      if (std::optional<unsigned> level = findReading(result, PhaseGroup::Each))
        first = first ? std::min(*first, *level) : *level;
    // What a slice computes for later ones of its pass it computes in its turn.
    unsigned &level = found->second.level;
    if (first && !(op.hasAttr(kLevelAttr) && *first / slices == level / slices))
      level = *first;
  }
  for (auto &[argument, place] : received)
    if (place.group != PhaseGroup::Prepare)
      place.level = findReading(argument, place.group).value_or(place.level);
}

/// What other stages are handed, and states that change, need.
Ops StagePhases::findUrgent() const {
  Ops urgent;
  SmallVector<Operation *> stack;
  for (const auto &[op, place] : places)
    if (place.group == PhaseGroup::Each && !isa<dist::AccumulateOp>(op) && isRoot(op))
      stack.push_back(op);
  for (Value result : body.getTerminator()->getOperands())
    if (Operation *maker = result.getDefiningOp(); maker && !isa<dist::AccumulateOp>(maker))
      stack.push_back(maker);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val();
    if (!urgent.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !isa<dist::AccumulateOp>(maker))
        stack.push_back(maker);
  }
  return urgent;
}

/// Adds sums that no product comes to, with what they alone need.
void StagePhases::addCheapSums(Ops &urgent) const {
  for (const auto &[sum, place] : places) {
    if (place.group != PhaseGroup::Each || !isa<dist::AccumulateOp>(sum))
      continue;
    Ops own;
    SmallVector<Operation *> stack{sum};
    bool hasProduct = false;
    while (!stack.empty() && !hasProduct) {
      Operation *op = stack.pop_back_val();
      if (!own.insert(op).second)
        continue;
      auto interface = dyn_cast<FactorRuleOpInterface>(op);
      hasProduct = interface && interface.getFactorRule().contracts();
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && !urgent.contains(maker) && !isa<dist::AccumulateOp>(maker))
          stack.push_back(maker);
    }
    if (!hasProduct)
      urgent.insert(own.begin(), own.end());
  }
}

void StagePhases::putOffWeights() {
  Ops urgent = findUrgent();
  addCheapSums(urgent);
  for (auto &[op, place] : places)
    if (place.group == PhaseGroup::Each && !urgent.contains(op))
      place.level = weightLevel;
}

void StagePhases::noteSent(Place from, Place to, unsigned stage) {
  if (from.group == PhaseGroup::Each && to.group == PhaseGroup::Each && count > 1)
    receivers.push_back({to.level, stage});
}

/// Whether something that is sent of a microbatch may be received behind the last pass. Before it
/// come the passes of lower levels, and those of its own that are called earlier.
bool StagePhases::waitsForSent() const {
  if (receivers.empty())
    return false;
  unsigned last = std::prev(made.lower_bound({PhaseGroup::Each, weightLevel}))->first.level;
  return llvm::any_of(receivers, [&](auto receiver) {
    auto [level, stage] = receiver;
    return level > last || (level == last && (isUp(level) ? stage < number : stage > number));
  });
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::string StagePhases::getName(Place place) const {
  std::string name = func::FuncOp(main).getSymName().str() + ".";
  unsigned pass = place.level / slices;
  std::string suffix = pass == 0 ? "" : std::to_string(pass);
  switch (place.group) {
  case PhaseGroup::Begin:
    return name + "begin";
  case PhaseGroup::Count:
    return name + "count";
  case PhaseGroup::Prepare:
    return name + "prepare" + suffix;
  case PhaseGroup::Update:
    return name + "update" + suffix;
  case PhaseGroup::Each:
    break;
  }
  if (place.level == weightLevel)
    return name + "weights";
  if (place.level == sentLevel)
    return name + "sent";
  std::string slice = slices == 1 ? "" : ".slice" + std::to_string(getSlice(place.level));
  if (pass > 1)
    return name + "pass" + suffix + slice;
  if (pass == 1)
    return name + "backward" + slice;
  return name + (slices > 1 || made.contains({PhaseGroup::Each, 1}) ? "forward" : "microbatch") +
         slice;
}

/// Gradients come of the last slice first.
unsigned StagePhases::getSlice(unsigned level) const {
  unsigned slice = level % slices;
  return isUp(level) ? slices - 1 - slice : slice;
}

bool StagePhases::isReceivedIn(BlockArgument argument, const PhaseFunction &phase) const {
  auto found = received.find(argument);
  return found != received.end() && &made.at(found->second) == &phase;
}

/// Without microbatches phases follow one another as they are called.
void StagePhases::describePass(PhaseFunction &phase, unsigned level) const {
  OpBuilder attributes(phase.call);
  bool isPass = level < weightLevel, isSlice = isPass && slices > 1 && level < 2 * slices;
  if (!isPass)
    phase.call->setAttr(level == sentLevel ? kSentAttr : kWeightGradientsAttr,
                        attributes.getUnitAttr());
  if (count > 1 || isSlice)
    phase.call->setAttr(kPipelineLevelAttr,
                        attributes.getI64IntegerAttr(isPass ? level / slices : 1));
  if (count > 1)
    phase.call->setAttr(kPipelineStageAttr, attributes.getI64IntegerAttr(number));
  if (isSlice)
    phase.call->setAttr(kPipelineSliceAttr, attributes.getI64IntegerAttr(getSlice(level)));
}

void StagePhases::describeCall(PhaseFunction &phase) const {
  if (phase.times > 0 && count > 1)
    phase.call->setAttr(kMicrobatchesOfCallAttr,
                        OpBuilder(phase.call).getDenseI64ArrayAttr({phase.first, phase.times}));
  for (const auto &[place, other] : made)
    if (&other == &phase && place.group == PhaseGroup::Each)
      describePass(phase, place.level);
}

/// What is done again in a phase, since its own operations or what it returns read it.
Ops StagePhases::findHelpers(Place place) const {
  Ops helpers;
  SmallVector<Value> stack;
  for (const auto &[op, at] : places)
    if (at == place && isa<dist::AccumulateOp>(op))
      stack.push_back(cast<dist::AccumulateOp>(op).getInput());
    else if (at == place)
      llvm::append_range(stack, op->getOperands());
  if (auto found = wanted.find(place); found != wanted.end())
    llvm::append_range(stack, found->second);
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    bool isKept = op && (isa<dist::AccumulateOp>(op) || states.contains(phases.getCarried(*op)));
    if (!op || (!isKept && places.contains(op)) || !helpers.insert(op).second || isKept)
      continue;
    llvm::append_range(stack, op->getOperands());
  }
  return helpers;
}

/// The states that every microbatch changed are stored as the last one left them.
void StagePhases::storeCarried(PhaseFunction &phase) {
  for (Operation &op : body)
    if (isCarriedStore(op)) {
      IRMapping last;
      last.map(op.getOperand(0), load(phase, states.at(phases.getCarried(op))));
      builder.clone(op, last);
    }
}

void StagePhases::buildPhase(Place place, PhaseFunction &phase) {
  phase.times = place.group == PhaseGroup::Each ? count : 0;
  begin(phase);
  for (BlockArgument argument : main.getArguments())
    if (received.contains(argument) && received.lookup(argument) == place)
      addArguments(phase, argument);
  Ops members = findHelpers(place);
  for (const auto &[op, at] : places)
    if (at == place) {
      members.insert(op);
      if (isa<dist::AccumulateOp>(op))
        phase.added.insert(op);
    }
  if (place.group == PhaseGroup::Each && count > 1)
    phase.counter = keepCounter(members);
  cloneInto(phase, [&](Operation *op) { return members.contains(op); });
  if (place == Place{PhaseGroup::Update})
    storeCarried(phase);
  if (phase.counter)
    countOn(phase);
  for (Value value : phase.arguments) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (Place from = getPlace(value); !argument || (received.contains(value) && from != place))
      wanted[from].insert(value);
  }
}

void StagePhases::buildCount(PhaseFunction &phase) {
  SmallVector<Operation *> sums(phases.early.begin(), phases.early.end());
  Ops slice = sliceOf(sums);
  phase.times = count;
  phase.counter = keepCounter(slice);
  phase.added.insert_range(sums);
  begin(phase);
  cloneInto(phase, [&](Operation *op) { return phase.added.contains(op) || slice.contains(op); });
  if (phase.counter)
    countOn(phase);
}

/// The symbol that an operation loads or stores; null if it does neither.
static StringAttr findSymbol(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringAttr>(op)
      .Case<LoadOp, StoreOp, dist::LoadShardOp, dist::StoreShardOp>(
          [](auto access) { return access.getWeightAttr().getAttr(); })
      .Default(StringAttr());
}

/// A state is stored in no phase before the last that loads it: a load gives the value that was
/// there when the step began.
void StagePhases::placeStores() {
  std::set<Place> all;
  for (const auto &[op, place] : places)
    all.insert(place);
  for (const auto &[place, values] : wanted)
    all.insert(place);
  llvm::DenseMap<StringAttr, Place> lastLoads;
  for (Place place : all) // ascending
    for (Operation *helper : findHelpers(place))
      if (StringAttr symbol = findSymbol(helper))
        lastLoads[symbol] = place;
  for (auto &[op, place] : places)
    if (op->getNumResults() == 0 && !isCarriedStore(*op))
      if (auto last = lastLoads.find(findSymbol(op)); last != lastLoads.end())
        place = std::max(place, last->second);
}

/// Every phase in which something is done, or received, or from which something is handed on.
void StagePhases::listPhases() {
  for (Value value : body.getTerminator()->getOperands())
    if (value.getDefiningOp() || received.contains(value))
      wanted[getPlace(value)].insert(value);
  placeStores();
  for (const auto &[op, place] : places)
    made[place];
  for (const auto &[argument, place] : received)
    made[place];
  for (const auto &[place, values] : wanted)
    made[place];
  if (!states.empty())
    made[{PhaseGroup::Update}];
  if (count > 1) // a stage takes its turn even if it has nothing to do
    made[{PhaseGroup::Each}];
  if (waitsForSent())
    made[{PhaseGroup::Each, sentLevel}];
  if (!phases.early.empty() && count > 1)
    made[{PhaseGroup::Count}];
  if (count > 1)
    made[{PhaseGroup::Begin}];
}

/// From the last phase to the first, so that what later ones want of a phase is known.
void StagePhases::build() {
  listPhases();
  for (auto &[place, phase] : llvm::reverse(made)) {
    phase.name = getName(place);
    if (place.group == PhaseGroup::Begin) {
      phase.times = 0;
      begin(phase);
      fillBegin(phase);
    } else if (place.group == PhaseGroup::Count) {
      buildCount(phase);
    } else {
      buildPhase(place, phase);
    }
    llvm::SetVector<Value> &results = given[&phase] = wanted[place];
    finish(phase, llvm::map_to_vector(results, [&](Value v) { return phase.values.lookup(v); }));
  }
}

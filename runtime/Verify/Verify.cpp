#include "runtime/Verify/Verify.h"

#include "runtime/Program/Position.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Support/Error.h"
#include "runtime/Verify/Checks.h"

#include <algorithm>
#include <set>

namespace weft::runtime {

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

namespace {

/// Lifetimes are followed on every rank of meshes up to this size.
constexpr int64_t maxFollowedRanks = 16;

/// What is padded is looked at on so many ranks of a class.
constexpr int64_t maxPaddedRanks = 4096;

/// Number of ranks; 0 where sizes are no sizes.
int64_t countRanks(const plan::Mesh &mesh) {
  int64_t ranks = 1;
  for (const plan::Axis &axis : mesh.axes())
    if (axis.size() < 1 || __builtin_mul_overflow(ranks, axis.size(), &ranks))
      return 0;
  return ranks;
}

} // namespace

const plan::Mesh *findMeshOf(const program::Executable &executable, int64_t rank) {
  for (const plan::Mesh &mesh : executable.meshes())
    if (rank >= mesh.first_device() && rank - mesh.first_device() < countRanks(mesh))
      return &mesh;
  return nullptr;
}

int64_t countCoordinates(const ProgramContext &context, const std::string &mesh,
                         const google::protobuf::RepeatedPtrField<plan::AxisRef> &axes) {
  if (axes.empty())
    return 1;
  const plan::Mesh *found = context.mesh;
  if (!found || (!mesh.empty() && found->name() != mesh))
    return 0;
  int64_t number = 1;
  for (const plan::AxisRef &ref : axes) {
    auto axis = std::find_if(found->axes().begin(), found->axes().end(),
                             [&](const plan::Axis &axis) { return axis.name() == ref.name(); });
    if (axis == found->axes().end() || axis->size() < 1)
      return 0;
    bool divides =
        ref.size() == 0 || (ref.size() > 0 && ref.pre() > 0 && axis->size() % ref.pre() == 0 &&
                            axis->size() / ref.pre() % ref.size() == 0);
    int64_t size = ref.size() == 0 ? axis->size() : ref.size();
    if (!divides || __builtin_mul_overflow(number, size, &number))
      return 0;
  }
  return number;
}

bool getExtremes(const ProgramContext &context, const program::Affine &affine, int64_t &least,
                 int64_t &greatest) {
  least = greatest = affine.constant();
  for (const program::Affine::Term &term : affine.terms()) {
    int64_t number = countCoordinates(context, "", term.axes()), most = 0;
    if (number == 0 || __builtin_mul_overflow(term.coefficient(), number - 1, &most))
      return false;
    int64_t &bound = most < 0 ? least : greatest;
    if (__builtin_add_overflow(bound, most, &bound))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tables of one program
//===----------------------------------------------------------------------===//

namespace {

/// Meshes stand side by side, and each rank of them runs one program.
void checkRanks(const program::Executable &executable, Reasons &reasons) {
  int64_t ranks = 0;
  std::vector<const plan::Mesh *> meshes;
  for (const plan::Mesh &mesh : executable.meshes())
    meshes.push_back(&mesh);
  std::sort(meshes.begin(), meshes.end(), [](const plan::Mesh *a, const plan::Mesh *b) {
    return a->first_device() < b->first_device();
  });
  for (const plan::Mesh *mesh : meshes) {
    if (mesh->first_device() != ranks)
      reasons.add("mesh '{}' begins at rank {}, not at {}", mesh->name(), mesh->first_device(),
                  ranks);
    ranks = mesh->first_device() + countRanks(*mesh);
  }
  int64_t next = 0;
  for (const program::RankRange &range : executable.ranks()) {
    if (range.begin() != next || range.end() <= range.begin())
      reasons.add("ranks {} to {} do not follow rank {}", range.begin(), range.end(), next);
    if (range.rank_class() >= static_cast<uint32_t>(executable.classes_size()))
      reasons.add("rank class {} is none of {}", range.rank_class(), executable.classes_size());
    next = range.end();
  }
  if (next != ranks)
    reasons.add("programs for {} ranks, but meshes of {}", next, ranks);
}

void checkArenas(ProgramContext &context) {
  std::set<int> kinds;
  for (const program::Arena &arena : context.program.arenas()) {
    if (arena.bytes() < 0 || arena.alignment() < 1 ||
        (arena.alignment() & (arena.alignment() - 1)) != 0)
      context.reasons.add("an arena of {} bytes aligned to {}", arena.bytes(), arena.alignment());
    bool isRepeated = !kinds.insert(arena.kind()).second;
    if (isRepeated && arena.kind() != program::ACTIVATIONS) // stages may have their own
      context.reasons.add("two arenas of kind {}", program::ArenaKind_Name(arena.kind()));
  }
}

/// Calls `check` for ranks of the program's classes, one after another, until it finds something:
/// for all, where they are not too many. What is padded is so by steps, not at the corners alone.
template <typename Check> void checkPadded(ProgramContext &context, Check check) {
  for (const program::RankRange &range : context.executable.ranks()) {
    if (&context.executable.classes(static_cast<int>(range.rank_class())) != &context.program)
      continue;
    int64_t end = std::min(range.end(), range.begin() + maxPaddedRanks);
    for (int64_t rank = range.begin(); rank < end; ++rank)
      try {
        if (!check(Position(context.executable, rank)))
          return;
      } catch (const Error &error) {
        return context.reasons.add("{}", error.what());
      }
  }
}

/// How many frames a port is cut into along its frame dimension.
int64_t countFrames(const ProgramContext &context, const program::Port &port) {
  const program::Arena &arena = context.program.arenas(static_cast<int>(port.local().arena()));
  return arena.kind() == program::PORTS ? std::max<int64_t>(arena.frames(), 1) : 1;
}

/// The extent, in one frame, of a dimension of the tensor.
int64_t getFrameExtent(const ProgramContext &context, const program::Port &port, int dim) {
  return dim == port.frame_dim() ? port.shape(dim) / countFrames(context, port) : port.shape(dim);
}

/// What a rank holds of a padded port is of the tensor.
void checkPaddedPort(ProgramContext &context, const program::Port &port, const char *direction) {
  std::vector<int64_t> extents(port.local().shape().begin(), port.local().shape().end());
  checkPadded(context, [&](const Position &position) {
    std::vector<int64_t> valid = position.getValidExtents(port.valid(), extents);
    for (int i = 0; i < port.shape_size(); ++i) {
      int64_t start =
          position.getCoordinate(port.sharding().dims(i).axes(), port.sharding().mesh()) *
          extents[i];
      int64_t whole = getFrameExtent(context, port, i);
      if (valid[i] == std::clamp<int64_t>(whole - start, 0, extents[i]))
        continue;
      context.reasons.add("{} '{}': rank {} holds {} elements from {} on of dimension {} of {}",
                          direction, port.name(), position.getRank(), valid[i], start, i, whole);
      return false;
    }
    return true;
  });
}

void checkPort(ProgramContext &context, const program::Port &port, const char *direction) {
  Reasons &reasons = context.reasons;
  size_t before = reasons.size();
  checkOperand(context, port.local(), direction);
  const program::Operand &local = port.local();
  if (reasons.size() != before)
    return;
  if (port.dtype() != local.dtype() || port.shape_size() != local.shape_size() ||
      port.sharding().dims_size() != port.shape_size())
    return reasons.add("{} '{}' of rank {} and type {} is held as rank {} and type {}", direction,
                       port.name(), port.shape_size(), getName(port.dtype()), local.shape_size(),
                       getName(local.dtype()));
  int64_t frames = countFrames(context, port);
  if (frames > 1 && (port.frame_dim() < 0 || port.frame_dim() >= port.shape_size()))
    return reasons.add("{} '{}' has frames along dimension {} of {}", direction, port.name(),
                       port.frame_dim(), port.shape_size());
  if (frames > 1 && port.shape(static_cast<int>(port.frame_dim())) % frames != 0)
    reasons.add("{} '{}' has {} frames along dimension {} of {}", direction, port.name(), frames,
                port.frame_dim(), port.shape(static_cast<int>(port.frame_dim())));
  for (int i = 0; i < port.shape_size(); ++i) {
    const auto &axes = port.sharding().dims(i).axes();
    int64_t blocks = countCoordinates(context, port.sharding().mesh(), axes);
    int64_t held = local.shape(i) * blocks, whole = getFrameExtent(context, port, i);
    if (blocks == 0 || (port.valid().empty() ? held != whole : held < whole))
      reasons.add("{} '{}': {} blocks of {} do not cover dimension {} of {}", direction,
                  port.name(), blocks, local.shape(i), i, whole);
  }
  if (!port.valid().empty() && reasons.size() == before)
    checkPaddedPort(context, port, direction);
}

void checkPorts(ProgramContext &context) {
  std::set<std::string> inputs, outputs, gradients;
  for (const program::Port &port : context.program.inputs()) {
    checkPort(context, port, "input");
    if (!inputs.insert(port.name()).second)
      context.reasons.add("two inputs named '{}'", port.name());
  }
  for (const program::Port &port : context.program.outputs()) {
    checkPort(context, port, "output");
    if (!outputs.insert(port.name()).second)
      context.reasons.add("two outputs named '{}'", port.name());
  }
  for (const program::Port &port : context.program.gradients()) {
    checkPort(context, port, "gradient");
    if (!gradients.insert(port.name()).second)
      context.reasons.add("two gradients named '{}'", port.name());
  }
}

/// What a rank holds of a padded block is of the weight.
void checkPaddedBlock(ProgramContext &context, const program::WeightBlock &block,
                      const program::Weight &weight, int64_t elements) {
  std::vector<int64_t> extents(block.local().shape().begin(), block.local().shape().end());
  checkPadded(context, [&](const Position &position) {
    std::vector<int64_t> valid = position.getValidExtents(block.valid(), extents);
    int64_t last = position.evaluate(block.start());
    bool inside = last >= 0;
    for (int i = 0; i < block.strides_size(); ++i) {
      if (valid[i] == 0)
        return true;
      last += block.strides(i) * (valid[i] - 1);
    }
    if (inside && last < elements)
      return true;
    context.reasons.add("a block of weight '{}' of rank {} reads element {} of {}", weight.name(),
                        position.getRank(), last, elements);
    return false;
  });
}

void checkWeightBlock(ProgramContext &context, const program::WeightBlock &block) {
  Reasons &reasons = context.reasons;
  size_t before = reasons.size();
  checkOperand(context, block.local(), "a weight block");
  if (block.weight() >= static_cast<uint32_t>(context.executable.weights_size()))
    return reasons.add("a block of weight {} of {}", block.weight(),
                       context.executable.weights_size());
  if (reasons.size() != before)
    return;
  const program::Weight &weight = context.executable.weights(static_cast<int>(block.weight()));
  if (weight.dtype() != block.local().dtype() || block.strides_size() != block.local().shape_size())
    return reasons.add("weight '{}' of type {} is held as type {}, {} strides for {} extents",
                       weight.name(), getName(weight.dtype()), getName(block.local().dtype()),
                       block.strides_size(), block.local().shape_size());
  int64_t elements = 1, last = 0, least = 0, greatest = 0;
  bool overflows = false;
  for (int64_t extent : weight.shape())
    overflows |= extent < 0 || __builtin_mul_overflow(elements, extent, &elements);
  for (int i = 0; i < block.strides_size(); ++i) {
    int64_t step = 0;
    overflows |= block.strides(i) < 0 ||
                 __builtin_mul_overflow(block.strides(i), block.local().shape(i) - 1, &step) ||
                 __builtin_add_overflow(last, step, &last);
  }
  if (!getExtremes(context, block.start(), least, greatest))
    return reasons.add("a block of weight '{}' depends on an axis that no mesh has", weight.name());
  if (!overflows && !block.valid().empty())
    return checkPaddedBlock(context, block, weight, elements);
  if (overflows || least < 0 || greatest > elements || last >= elements - greatest)
    reasons.add("a block of weight '{}' reads element {} of {}", weight.name(), greatest + last,
                elements);
}

void checkSchedule(ProgramContext &context) {
  if (std::string flaw = findFlaw(context.program); !flaw.empty())
    return context.reasons.add("{}", flaw);
  for (const program::ScheduleEntry *entry : listEntries(context.program))
    for (const program::FrameBinding &binding : entry->frames()) {
      const program::Arena &arena = context.program.arenas(static_cast<int>(binding.arena()));
      if (isKept(arena.kind()))
        context.reasons.add("an entry of the schedule names a frame of an arena of kind {}",
                            program::ArenaKind_Name(arena.kind()));
    }
  std::set<uint32_t> used;
  for (const program::ScheduleEntry *entry : listEntries(context.program))
    used.insert(entry->segment());
  for (int i = 0; i < context.program.segments_size(); ++i)
    if (!used.count(static_cast<uint32_t>(i)))
      context.reasons.add("segment '{}' is never executed", context.program.segments(i).name());
}

/// Every token is of one instruction, and every wait of a token that there is.
void checkTokens(ProgramContext &context) {
  std::set<uint32_t> begun;
  for (const program::Segment &segment : context.program.segments())
    for (const program::Instruction &instruction : segment.instructions())
      if (instruction.has_async() && !begun.insert(instruction.async().token()).second)
        context.reasons.add("two instructions begin token {}", instruction.async().token());
  for (const program::Segment &segment : context.program.segments())
    for (int i = 0; i < segment.instructions_size(); ++i)
      if (const program::Instruction &instruction = segment.instructions(i);
          instruction.has_wait() && !begun.count(instruction.wait().token()))
        context.reasons.add("{}: it waits for token {}, which nothing has begun",
                            describePlace(segment, i), instruction.wait().token());
}

/// Every gradient is observed somewhere.
void checkGradients(ProgramContext &context) {
  std::set<uint32_t> observed;
  for (const program::Segment &segment : context.program.segments())
    for (const program::Instruction &instruction : segment.instructions())
      if (instruction.has_observe())
        observed.insert(instruction.observe().port());
  for (int i = 0; i < context.program.gradients_size(); ++i)
    if (!observed.count(static_cast<uint32_t>(i)))
      context.reasons.add("gradient '{}' is never observed", context.program.gradients(i).name());
}

void checkWeights(const program::Executable &executable, Reasons &reasons) {
  for (const program::Weight &weight : executable.weights()) {
    int64_t bytes = getElementSize(weight.dtype());
    bool overflows = bytes == 0;
    for (int64_t extent : weight.shape())
      overflows |= extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes);
    if (overflows)
      reasons.add("weight '{}' has no size", weight.name());
    else if (!weight.splat().empty())
      continue;
    else if (weight.length() < static_cast<uint64_t>(bytes))
      reasons.add("weight '{}' of {} bytes lies in {}", weight.name(), bytes, weight.length());
    else if (weight.file() >= static_cast<uint32_t>(executable.files_size()))
      reasons.add("weight '{}' lies in file {} of {}", weight.name(), weight.file(),
                  executable.files_size());
    else if (const program::File &file = executable.files(static_cast<int>(weight.file()));
             weight.offset() > file.size() || weight.length() > file.size() - weight.offset())
      reasons.add("weight '{}' ends beyond '{}' of {} bytes", weight.name(), file.path(),
                  file.size());
  }
}

/// Ranks of a class on which lifetimes are followed: all, or those at the corners of its mesh.
std::vector<int64_t> chooseRanks(const program::Executable &executable,
                                 const program::RankRange &range) {
  std::vector<int64_t> ranks;
  if (range.end() - range.begin() <= maxFollowedRanks) {
    for (int64_t rank = range.begin(); rank < range.end(); ++rank)
      ranks.push_back(rank);
    return ranks;
  }
  const plan::Mesh *mesh = findMeshOf(executable, range.begin());
  if (!mesh)
    return {};
  ranks = {0};
  for (const plan::Axis &axis : mesh->axes()) {
    std::vector<int64_t> next;
    for (int64_t rank : ranks)
      for (int64_t coordinate : {int64_t{0}, axis.size() - 1})
        next.push_back(rank * axis.size() + coordinate);
    ranks = std::move(next);
  }
  for (int64_t &rank : ranks)
    rank += mesh->first_device();
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  ranks.erase(
      std::remove_if(ranks.begin(), ranks.end(),
                     [&](int64_t rank) { return rank < range.begin() || rank >= range.end(); }),
      ranks.end());
  return ranks;
}

void checkProgram(const program::Executable &executable, int number, Reasons &reasons) {
  ProgramContext context{executable, executable.classes(number), nullptr, reasons};
  for (const program::RankRange &range : executable.ranks())
    if (range.rank_class() == static_cast<uint32_t>(number) && !context.mesh)
      context.mesh = findMeshOf(executable, range.begin());
  std::string place = fmt::format("class {}: ", number);
  reasons.place = place;
  checkArenas(context);
  checkPorts(context);
  for (const program::WeightBlock &block : context.program.weights())
    checkWeightBlock(context, block);
  checkSchedule(context);
  checkTokens(context);
  checkGradients(context);
  for (const program::Segment &segment : context.program.segments())
    for (int i = 0; i < segment.instructions_size() && !reasons.isFull(); ++i) {
      reasons.place = place + describePlace(segment, i) + ": ";
      checkInstruction(context, segment.instructions(i));
    }
  reasons.place.clear();
}

} // namespace

std::vector<std::string> verifyPrograms(const program::Executable &executable, size_t limit) {
  Reasons reasons(limit);
  checkRanks(executable, reasons);
  checkWeights(executable, reasons);
  if (!std::is_sorted(executable.kernels().begin(), executable.kernels().end()))
    reasons.add("its list of kernels is not sorted");
  for (int i = 0; i < executable.classes_size(); ++i)
    checkProgram(executable, i, reasons);
  if (reasons.size() != 0)
    return reasons.list; // what follows needs sane programs
  checkRendezvous(executable, reasons);
  checkMessages(executable, reasons);
  for (const program::RankRange &range : executable.ranks()) {
    ProgramContext context{executable, executable.classes(static_cast<int>(range.rank_class())),
                           findMeshOf(executable, range.begin()), reasons};
    for (int64_t rank : chooseRanks(executable, range))
      if (reasons.size() == 0)
        checkLifetimes(context, rank);
  }
  return reasons.list;
}

} // namespace weft::runtime

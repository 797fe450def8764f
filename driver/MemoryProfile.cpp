#include "driver/MemoryProfile.h"

#include "compiler/Lowering/Lifetimes.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Executor/Arenas.h"
#include "runtime/Program/Schedule.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace weft;
using KindBytes = MemoryProfile::KindBytes;

/// So many instructions before and behind one tell it from others that do the same.
static constexpr size_t contextSize = 8;

/// Equal of instructions that do the same, wherever it lies.
static llvm::hash_code getSignature(exec::InstructionOpInterface op) {
  llvm::hash_code hash = llvm::hash_value(op->getName().getAsOpaquePointer());
  for (const auto &operands : {op.getReads(), op.getWrites()})
    for (exec::OperandAttr operand : operands)
      hash = llvm::hash_combine(hash, operand.getArena(), operand.getDtype(),
                                llvm::hash_combine_range(operand.getShape()));
  return hash;
}

/// By instruction, what is live.
static std::vector<KindBytes> findLive(const Lifetimes &lifetimes) {
  std::vector<KindBytes> live(lifetimes.instructions.size() + 1);
  for (BufferUse use : lifetimes.buffers) {
    auto kind = static_cast<size_t>(use.buffer.getKind());
    if (use.first < 0 || use.buffer.getKind() == exec::ArenaKind::Host)
      continue;
    live[use.first][kind] += static_cast<double>(use.buffer.getBytes());
    live[use.last + 1][kind] -= static_cast<double>(use.buffer.getBytes());
  }
  for (size_t time = 1; time < live.size(); ++time)
    for (size_t kind = 0; kind < live[time].size(); ++kind)
      live[time][kind] += live[time - 1][kind];
  return live;
}

static double sum(const KindBytes &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

/// Takes a program's numbers where it is the one that holds most so far.
static void look(exec::ProgramOp program, MemoryProfile &profile) {
  Lifetimes lifetimes(program);
  std::vector<KindBytes> live = findLive(lifetimes);
  KindBytes peak{};
  for (const KindBytes &bytes : live)
    for (size_t kind = 0; kind < peak.size(); ++kind)
      peak[kind] = std::max(peak[kind], bytes[kind]);
  if (sum(peak) <= sum(profile.peak))
    return;
  profile.peak = peak;
  profile.places.clear();
  std::vector<llvm::hash_code> signatures;
  llvm::transform(lifetimes.instructions, std::back_inserter(signatures), getSignature);
  for (size_t time = 0; time < signatures.size(); ++time) {
    size_t begin = std::max(time, contextSize) - contextSize;
    ArrayRef<llvm::hash_code> before = ArrayRef(signatures).slice(begin, time - begin);
    ArrayRef<llvm::hash_code> behind = ArrayRef(signatures).slice(time);
    uint64_t context =
        llvm::hash_combine(llvm::hash_combine_range(before),
                           llvm::hash_combine_range(behind.take_front(contextSize + 1)));
    profile.places.try_emplace(context, live[time], live[time]).first->second.second = live[time];
  }
}

void MemoryProfile::end(llvm::StringRef phase, ModuleOp module) {
  if (phase == selectPhase && module)
    for (auto program : module.getOps<exec::ProgramOp>())
      look(program, *this);
}

void MemoryProfile::note(const program::Executable &executable) {
  const program::Program *largest = nullptr;
  for (const program::Program &program : executable.classes())
    if (!largest || runtime::getArenaBytes(program) > runtime::getArenaBytes(*largest))
      largest = &program;
  for (const program::Arena &arena : largest->arenas())
    if (arena.kind() != program::HOST)
      allocated[arena.kind()] +=
          static_cast<double>(arena.frames() * runtime::getFrameStride(arena));
}

/// What is live at most, by kind, at any place that all programs have.
static KindBytes extendPeak(ArrayRef<MemoryProfile> profiles, ArrayRef<double> shares) {
  KindBytes most{};
  for (const auto &[context, own] : profiles.front().places) {
    std::array<KindBytes, 2> bytes{};
    bool isEverywhere = true;
    for (auto [profile, share] : llvm::zip_equal(profiles, shares)) {
      auto found = profile.places.find(context);
      isEverywhere = found != profile.places.end();
      if (!isEverywhere)
        break;
      for (size_t kind = 0; kind < most.size(); ++kind) {
        bytes[0][kind] += share * found->second.first[kind];
        bytes[1][kind] += share * found->second.second[kind];
      }
    }
    for (size_t kind = 0; isEverywhere && kind < most.size(); ++kind)
      most[kind] = std::max({most[kind], bytes[0][kind], bytes[1][kind]});
  }
  return most;
}

double weft::extendAllocated(ArrayRef<MemoryProfile> profiles, ArrayRef<double> shares) {
  KindBytes peak = extendPeak(profiles, shares);
  const MemoryProfile &placed = profiles.front();
  double bytes = 0;
  for (size_t kind = 0; kind < peak.size(); ++kind) {
    double more = placed.allocated[kind] - placed.peak[kind];
    bool grows = more > 0 && placed.peak[kind] > 0;
    bytes += peak[kind] + (grows ? more / placed.peak[kind] * peak[kind] : more);
  }
  return bytes;
}

//===- Rendezvous.cpp - where programs of different ranks meet ------------===//
//
// All ranks of a group must begin the same collectives in the same order. Programs are walked side
// by side, entry by entry and iteration by iteration.
//
//===----------------------------------------------------------------------===//

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/DType.h"
#include "runtime/Verify/Checks.h"

#include <algorithm>
#include <map>

namespace weft::runtime {

namespace {

/// The collectives of a program in the order in which a step begins them.
class CollectiveSequence {
public:
  explicit CollectiveSequence(const program::Program &program) {
    for (const program::Segment &segment : program.segments()) {
      std::vector<const program::Instruction *> &list = collectives.emplace_back();
      for (const program::Instruction &instruction : segment.instructions())
        if (instruction.has_collective())
          list.push_back(&instruction);
    }
    levels.push_back({&program.schedule(), 0, 1});
  }

  /// The next one; null behind the last.
  const program::Instruction *next() {
    while (!levels.empty()) {
      Level &level = levels.back();
      if (level.item == level.items->size()) {
        level.item = 0;
        if (--level.iterations <= 0)
          levels.pop_back();
        continue;
      }
      const program::ScheduleItem &item = (*level.items)[level.item];
      if (item.has_repeat()) {
        ++level.item;
        if (hasCollectives(item.repeat()))
          levels.push_back({&item.repeat().body(), 0, item.repeat().times()});
        continue;
      }
      const auto &list = collectives[item.entry().segment()];
      if (at < list.size())
        return list[at++];
      at = 0;
      ++level.item;
    }
    return nullptr;
  }

private:
  struct Level {
    const ScheduleItems *items;
    int item;
    int64_t iterations; ///< left, with this one
  };

  bool hasCollectives(const program::Repeat &repeat) const {
    return std::any_of(repeat.body().begin(), repeat.body().end(), [&](const auto &item) {
      return item.has_repeat() ? hasCollectives(item.repeat())
                               : !collectives[item.entry().segment()].empty();
    });
  }

  std::vector<std::vector<const program::Instruction *>> collectives; ///< by segment
  std::vector<Level> levels;
  size_t at = 0; ///< in the present entry
};

/// What all ranks of a group must agree on.
std::string describe(const program::Collective &collective) {
  int64_t elements = 1;
  for (int64_t extent : collective.input().shape())
    elements *= extent;
  return fmt::format("{} over [{}] of {} {}", getName(collective.kind()), getAxesName(collective),
                     elements, getName(collective.input().dtype()));
}

class OrderCheck {
public:
  explicit OrderCheck(const program::Executable &executable) : executable(executable) {}

  /// Holds the collectives of two classes against each other.
  void compare(int a, int b, Reasons &reasons) {
    CollectiveSequence ofA(executable.classes(a)), ofB(executable.classes(b));
    for (int64_t number = 0;; ++number) {
      const program::Instruction *inA = ofA.next(), *inB = ofB.next();
      if (!inA && !inB)
        return;
      if (getText(inA) == getText(inB))
        continue;
      return reasons.add("collective {} of class {} is {}, of class {} {}", number, a, getText(inA),
                         b, getText(inB));
    }
  }

private:
  const std::string &getText(const program::Instruction *instruction) {
    auto [it, isNew] = texts.try_emplace(instruction);
    if (isNew)
      it->second = instruction ? describe(instruction->collective()) : "none";
    return it->second;
  }

  const program::Executable &executable;
  std::map<const program::Instruction *, std::string> texts;
};

} // namespace

void checkRendezvous(const program::Executable &executable, Reasons &reasons) {
  OrderCheck check(executable);
  std::map<const plan::Mesh *, int> first; // class of a mesh: collectives stay within meshes
  for (const program::RankRange &range : executable.ranks()) {
    int number = static_cast<int>(range.rank_class());
    auto [it, isNew] = first.try_emplace(findMeshOf(executable, range.begin()), number);
    if (!isNew && it->second != number)
      check.compare(it->second, number, reasons);
  }
}

} // namespace weft::runtime

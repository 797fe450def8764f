//===- Schedule.h - a pipeline's step as a list for each rank ---*- C++ -*-===//
//
// What each rank of a pipeline does in a step, in order. One form for the simulator, which prices
// it, and for the emitter, which makes the executable's schedule of it.
//
// Stages are the pieces that a model is cut into, in the order in which a microbatch passes them. A
// rank may hold several (its chunks): with P ranks and V chunks, stage s of a loop lies on rank
// s mod P; of a V on rank s going down and on 2P-1-s coming back. A pipeline that is entered from
// both ends has two paths, each with stages of its own: the second path's are numbered behind the
// first's, hold the same weights again, and take the second half of the microbatches.
//
// Worked example, 1F1B on two ranks with three microbatches, without messages (W inside B):
//
//   rank 0   F0 F1 B0 F2 B1 B2
//   rank 1   F0 B0 F1 B1 F2 B2
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_SCHEDULE_H
#define WEFT_COMPILER_SCHEDULE_SCHEDULE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::schedule {

enum class ActionKind : uint8_t {
  Forward,
  Backward,       ///< by input and by weight in one
  BackwardInput,  ///< gradient of the stage's input alone
  BackwardWeight, ///< gradient of its weights, after BackwardInput
  Recompute,      ///< of what the forward did not keep
  SendForward,    ///< activations to the next stage
  ReceiveForward, ///< activations from the stage before
  SendBackward,   ///< gradients to the stage before
  ReceiveBackward,
  Gather,  ///< weights that are stored in parts
  Release, ///< gathered weights
  Reduce,  ///< gradients over the copies of the stage
  Update,  ///< the optimizer's step
};
inline constexpr int numActionKinds = 13;

/// What an action is about. `microbatch` and `slice` are 0 of Gather, Release, Reduce and Update.
struct Action {
  ActionKind kind = ActionKind::Forward;
  bool joined = false; ///< runs at the same time as the next action of the list
  int32_t stage = 0;
  int32_t microbatch = 0;
  int32_t slice = 0; ///< of the microbatch's sequence

  bool operator==(const Action &) const = default;
};

/// "F", "B" (full), "I", "W", "R" (recompute), "SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD",
/// "RESHARD", "REDUCE_GRAD", "UPDATE": the words of torch.distributed.pipelining, and two more.
const char *getKindName(ActionKind kind);

/// "stage 3, microbatch 5: F", with the slice if there are several.
std::string describe(const Action &action);

inline bool isForward(ActionKind kind) { return kind == ActionKind::Forward; }
/// Whether the action ends what the stage before waits for: its input's gradient.
inline bool makesGradient(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::BackwardInput;
}
/// Whether the action is one of a microbatch's computations.
inline bool computes(ActionKind kind) { return kind <= ActionKind::Recompute; }
inline bool sends(ActionKind kind) {
  return kind == ActionKind::SendForward || kind == ActionKind::SendBackward;
}
inline bool receives(ActionKind kind) {
  return kind == ActionKind::ReceiveForward || kind == ActionKind::ReceiveBackward;
}

/// Which rank holds which stage.
struct Placement {
  int32_t numRanks = 1;
  int32_t numPaths = 1;       ///< 2: microbatches enter from both ends
  std::vector<int32_t> ranks; ///< by stage

  int32_t getNumStages() const { return static_cast<int32_t>(ranks.size()); }
  int32_t getPathLength() const { return getNumStages() / numPaths; }
  bool isFirst(int32_t stage) const { return stage % getPathLength() == 0; }
  bool isLast(int32_t stage) const { return (stage + 1) % getPathLength() == 0; }
  /// Whether a message carries activations from the stage to the next.
  bool crosses(int32_t stage) const { return !isLast(stage) && ranks[stage] != ranks[stage + 1]; }
  /// Stages of each rank, in their order: its chunks.
  std::vector<std::vector<int32_t>> getChunks() const;
  /// Place of the stage among those of its rank.
  int32_t getChunk(int32_t stage) const;
  /// The path of a microbatch.
  int32_t getPath(int32_t microbatch, int32_t numMicrobatches) const {
    return numPaths == 1 || microbatch < numMicrobatches / 2 ? 0 : 1;
  }
};

/// Stage s on rank s mod P.
Placement placeLoop(int32_t numRanks, int32_t chunks);
/// Down the ranks and back up, in turn.
Placement placeV(int32_t numRanks, int32_t chunks);
/// Two paths, the second from the last rank to the first.
Placement placeBothWays(int32_t numRanks);

struct Schedule {
  std::string name;
  Placement placement;
  int32_t numMicrobatches = 1;
  int32_t numSlices = 1;
  std::vector<double> recompute;          ///< by stage, the part of the forward run again; or empty
  std::vector<std::vector<Action>> ranks; ///< what each does, in order

  double getRecompute(int32_t stage) const { return recompute.empty() ? 0 : recompute[stage]; }
};

/// A schedule that cannot be: what, where and what to do.
struct ScheduleError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds the messages that computations need: a send right after the one that makes it, a receive
/// where the receiver stands when the message is sent if every computation takes one unit of time
/// (a whole backward two), so that one buffer an edge suffices. The schedule must have none.
void addMessages(Schedule &schedule);

/// When each action of each rank begins if every computation takes one unit of time, a whole
/// backward two, and messages none. Of a schedule without messages.
std::vector<std::vector<int32_t>> findUnitBegins(Schedule schedule);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_SCHEDULE_H

//===- Checkpoints.h - a run's checkpoints ----------------------*- C++ -*-===//
//
// begin() copies the blocks that this rank is to write, and returns; a thread writes them while
// steps go on. Ranks tell each other with what they exchange after each step anyway (getStatus,
// handle) that their shards are on the disk; once all are, rank 0 writes the manifest, in a thread
// as well. One checkpoint is written at a time: the next begin() waits for it.
//
//   step 9   begin(10): copy            rank 1's thread writes its shard …
//   step 10  status of rank 0: its shard
//   step 11  status of rank 1: its shard → rank 0's thread writes step-00000010/manifest.json
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_CHECKPOINTS_H
#define WEFT_RUNTIME_EXECUTOR_CHECKPOINTS_H

#include "runtime/Checkpoint/CheckpointFolder.h"
#include "runtime/Checkpoint/ShardWriter.h"
#include "runtime/Executor/States.h"
#include "runtime/Support/Error.h"

#include <future>
#include <optional>

namespace weft::runtime {

class Checkpoints {
public:
  /// Keeps the latest `keep` checkpoints.
  Checkpoints(Transport &transport, const States &states, const std::string &folder, int64_t keep);
  ~Checkpoints();

  // What follows is called by every rank.

  /// Takes the folder, and finds the latest checkpoint if the run is to go on from it; none where
  /// there is none. Kind BadInput where there are checkpoints and the run is to begin anew, and
  /// where the latest is damaged or of another model.
  std::optional<Manifest> open(bool resume);
  /// Gives this rank's blocks of states the values of what open() found.
  void restore(const Manifest &manifest, const PortAccess &access);

  /// Begins to write a checkpoint. `before` is done first by the thread of rank 0.
  void begin(int64_t step, const DataPosition &data, const PortAccess &access,
             std::function<void()> before);
  /// What this rank has to tell; "" for nothing.
  std::string getStatus();
  /// Takes every rank's status. A failure is agreed on.
  void handle(const std::vector<std::string> &statuses);
  /// Waits until what was begun is complete.
  void finish();

  const CheckpointFolder &getFolder() const { return folder; }
  /// The step of the latest complete checkpoint; -1: none.
  int64_t getLatest() const { return latest; }

private:
  struct Pending {
    Manifest manifest;
    std::vector<std::optional<CheckpointShard>> shards; ///< by rank
    bool told = false;                                  ///< whether others know of this rank's
  };

  void readLatest(const std::function<void()> &work) const;
  void readStates(const Manifest &manifest, const PortAccess &access) const;
  std::vector<CheckpointState> describeStates() const;
  CheckpointBlock locate(const States::Block &block) const;
  void complete();
  void takeManifest();
  std::string describeFailure(const Error &error) const;

  Transport &transport;
  const States &states;
  CheckpointFolder folder;
  int64_t keep;
  std::string run; ///< tells this run's shards from those of one that is being killed
  std::optional<std::vector<char>> writes; ///< by block of this rank
  std::optional<Pending> pending;
  std::future<CheckpointShard> shard; ///< of `pending`, of this rank
  std::future<void> manifest;         ///< of rank 0, of the one before
  int64_t latest = -1, completing = -1;
  int64_t before = -1; ///< the checkpoint before the one that the run goes on from
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_CHECKPOINTS_H

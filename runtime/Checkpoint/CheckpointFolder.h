//===- CheckpointFolder.h - where checkpoints lie ---------------*- C++ -*-===//
//
// One folder a checkpoint, step-NUMBER, complete once it has its manifest. Files are written beside
// their place, forced onto the disk and renamed; the manifest goes last and is removed first, so
// that whenever all processes are killed, what is complete is whole.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "runtime/Checkpoint/Manifest.h"
#include "runtime/Support/File.h"

namespace weft::runtime {

class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}

  const std::string &getPath() const { return path; }
  /// Of the checkpoint of a step.
  std::string getPath(int64_t step) const;
  std::string getManifestPath(int64_t step) const;

  /// Steps of the complete checkpoints, in order; none where there is no folder.
  std::vector<int64_t> list() const;
  /// Makes the folder, keeps other runs from writing there for as long as this object lives, and
  /// removes what killed runs left incomplete. Called by one process; kind BadInput where the
  /// folder cannot be written, or another run does.
  void take();
  /// Makes the folder of a step.
  void begin(int64_t step) const;
  /// Completes a checkpoint whose shards are in their places.
  void complete(const Manifest &manifest) const;
  /// Removes all complete checkpoints but the latest.
  void prune(int64_t keep) const;

private:
  std::vector<int64_t> listSteps(bool complete) const;
  void remove(int64_t step) const;

  std::string path;
  File lock;
};

/// Forces the names in a folder onto the disk.
void syncFolder(const std::string &path);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

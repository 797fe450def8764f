//===- StepTable.h - tables of training steps -------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_VALIDATE_STEPTABLE_H
#define WEFT_COMPILER_VALIDATE_STEPTABLE_H

#include "compiler/Cost/Memory.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::validate {

/// One training step of a transformer, and what it took.
struct StepRow {
  std::string model = "gpt"; ///< gpt, bert (whole attention), llama (gated MLP, RMS norms)
  int64_t hidden = 0, layers = 0, heads = 0, sequence = 0, vocabulary = 51200;
  int64_t feedForward = 0; ///< 0: as usual for the model (getFeedForward)
  int64_t kvHeads = 0;     ///< 0: likewise
  std::string cluster;
  int64_t gpus = 1, tensor = 1, pipeline = 1, data = 1;
  std::optional<int64_t> chunks; ///< of a rank; left open: what the schedule usually has
  int64_t microBatch = 1, globalBatch = 1;
  Recompute recompute = Recompute::None;
  bool sequenceParallel = false;
  std::string dtype = "f16";
  std::string schedule; ///< by name; empty: 1f1b, or interleaved where there are chunks
  /// Of the framework; what is left open is as usual for the cluster's generation (getSoftware).
  std::optional<bool> fusedAttention, overlapTensor, overlapMessages, overlapData, shardedOptimizer;
  bool profiled = false; ///< layers timed one at a time, with gaps between kernels
  double measured = 0;   ///< s
  int line = 0;          ///< of the file

  /// 4 hidden; of llama 8/3 hidden, rounded up to 256, but 7/2 hidden of those with grouped
  /// queries.
  int64_t getFeedForward() const;
  /// As many as heads; 8 of Llama 2's largest and of Llama 3, which are known by their width and
  /// their vocabulary.
  int64_t getKvHeads() const;
  /// The type that activations, messages and attention have: of f8, which is for products alone,
  /// bf16.
  std::string getHeldType() const { return dtype == "f8" ? "bf16" : dtype; }
  /// Bytes in which a gradient is kept, added to and summed over data-parallel copies: Megatron's
  /// default of f16 is f16 and of bf16 f32; NVIDIA's recipes for f8 have bf16 (NeMo's
  /// grad_sync_dtype).
  double getGradientBytes() const { return dtype == "f16" || dtype == "f8" ? 2 : 4; }
  int64_t getMicrobatches() const { return globalBatch / (microBatch * data); }
};

/// Reads a table in the columns of measured_a100.csv (by their names, in any order; feed_forward,
/// kv_heads, schedule and what a row leaves open of the framework may be there too) or of vTrain
/// (milliseconds, one A100 node, profiled layers). Other columns are passed over and, if wanted,
/// named in `others`. Throws std::runtime_error naming file, line and column.
std::vector<StepRow> readStepTable(const std::string &path,
                                   std::vector<std::string> *others = nullptr);

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_STEPTABLE_H

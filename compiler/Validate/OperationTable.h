//===- OperationTable.h - tables of single operations -----------*- C++ -*-===//
//
// Operations of transformer layers timed one at a time, as Aceso's profiler (EuroSys 2024) times
// Megatron-LM's: each with the collective that its tensor-parallel form holds, and with what the
// host needs between two synchronisations.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_VALIDATE_OPERATIONTABLE_H
#define WEFT_COMPILER_VALIDATE_OPERATIONTABLE_H

#include "compiler/Cluster/Topology.h"
#include "compiler/Cost/Constants.h"
#include <cstdint>
#include <string>
#include <vector>

namespace weft::validate {

/// What this profiler adds: constants of its own, fitted to v100_ops.csv.
struct OperationProfiler {
  double call = 2e-5;    ///< s of the host for each call of the framework
  double first = 1.5e-3; ///< s of the host for the first backward of a model
};

/// One operation of a layer, and what it took.
struct OperationRow {
  std::string model, operation; ///< e.g. enc-attention-qkv
  int64_t hidden = 0, feedForward = 0, heads = 0, headSize = 0;
  int64_t sequence = 0, decoderSequence = 0, vocabulary = 0;
  int64_t microBatch = 1, tensor = 1;
  int64_t algorithm = 0; ///< of the attention's input product: 0 splits its columns, 1 its rows
  double forward = 0, backward = 0; ///< s, measured
  int line = 0;
};

/// Reads a table in the columns of v100_ops.csv. Throws std::runtime_error naming file, line and
/// column.
std::vector<OperationRow> readOperationTable(const std::string &path);

struct OperationTimes {
  double forward = 0, backward = 0; ///< s
};

/// Throws std::runtime_error for an operation that is not known.
OperationTimes predictOperation(const OperationRow &row, const ClusterModel &cluster,
                                const CostConstants &constants, const OperationProfiler &profiler);

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_OPERATIONTABLE_H

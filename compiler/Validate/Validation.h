//===- Validation.h - how good predictions of a table are -------*- C++ -*-===//

#ifndef WEFT_COMPILER_VALIDATE_VALIDATION_H
#define WEFT_COMPILER_VALIDATE_VALIDATION_H

#include "compiler/Validate/StepTable.h"
#include "compiler/Validate/TransformerStep.h"
#include <map>

namespace weft::validate {

/// Clusters by what a table calls them, each made once.
class Clusters {
public:
  /// Throws std::runtime_error if there is none of that name, or if it has fewer devices than the
  /// row.
  const ClusterModel &get(const StepRow &row);
  const ClusterModel &get(const std::string &name);

private:
  std::map<std::string, ClusterModel> known;
};

struct RowResult {
  StepRow row;
  StepPrediction prediction;

  /// Predicted over measured time, less 1; nothing where no time was measured.
  std::optional<double> getError() const;
};

/// Errors are fractions of the measured time.
struct Validation {
  std::vector<RowResult> rows;
  std::optional<double> mean, median, bias; ///< of |error|, |error| and error
  /// Rows of one workload (model, batch, type and cluster with as many devices) differ in how they
  /// are split: Kendall's tau of predicted and measured times of each workload of at least two, and
  /// what the plan predicted to be best takes beyond the best; means over workloads.
  std::optional<double> tau, regret;
};

/// Predicts every row of a table. Throws std::runtime_error naming file and line.
Validation validateTable(const std::string &path, const StepOptions &options,
                         std::vector<std::string> *others = nullptr);

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_VALIDATION_H

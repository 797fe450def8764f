//===- PlanText.h - plans as files ------------------------------*- C++ -*-===//
//
// The text form of plan.proto, with a comment on top that says what it is.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_PLANTEXT_H
#define WEFT_COMPILER_PLAN_PLANTEXT_H

#include "compiler/Plan/plan.pb.h"
#include <filesystem>
#include <optional>
#include <string>

namespace weft {

/// The version that this compiler writes and reads.
inline constexpr int planVersion = 1;

/// Parses and validates a plan; `name` stands for its file in messages. None with a message (file,
/// line and column of a syntax error) in `problem` if it is malformed, of another version, or
/// inconsistent.
std::optional<plan::Plan> parsePlan(const std::string &text, const std::string &name,
                                    std::string &problem);

/// Reads a plan from a file; `-` is the standard input.
std::optional<plan::Plan> readPlan(const std::filesystem::path &path, std::string &problem);

/// The text that readPlan reads.
std::string printPlan(const plan::Plan &plan);

/// Writes the plan's only mesh into decisions that name none; with several meshes they mean each
/// part that holds the value.
void nameMeshes(plan::Plan &plan);

/// Checks what can be checked without the model: one mesh a part, side by side and with distinct
/// axes, decisions on their axes, each value decided once on a mesh. Returns the problem, or "".
std::string validatePlan(const plan::Plan &plan);

/// Of these the last two: each value is decided once on a mesh, and on one that there is.
std::string validateDecisions(const plan::Plan &plan);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_PLANTEXT_H

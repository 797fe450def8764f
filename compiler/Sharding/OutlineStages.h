//===- OutlineStages.h - the phases of a pipeline's stages ------*- C++ -*-===//
//
// The stages of a training step (PartAssignment.h) read one another's values in both directions:
// none can be computed whole before another one. So each becomes phases, parts of @main on the
// stage's mesh that are called behind what they read:
//
//   @part0.begin     sums over microbatches are set to zero
//   @part0.count     N times: sums of inputs alone are added to
//   @part0.prepare   what is computed of weights, alike for every microbatch, or handed on
//   @part0.forward   N times: what the stages behind need
//   @part0.backward  N times: what reads their gradients; sums are added to
//   @part0.update    what needs the sums, with all that is stored
//
// Each of the last four is as many phases as values go to and fro: an operation is in the first one
// whose calls, down the stages in one phase and up again in the next, bring what it reads; what
// nothing needs so early, in that of what reads it. A last stage has its backward pass in its
// forward phase; the norm of all gradients takes three phases of updates.
//
//   stage 0   forward 0 ──────────────────→ backward 0: reads what stage 1 made in forward 1
//   stage 1              forward 1 ───────┘
//
// What a phase of a stage makes and a later one reads is handed over where it lies. What costs
// nothing or should not be kept, views and gathers of weights, is done again in each phase.
//
// A schedule that fills the pipeline's gaps with gradients of weights (zb-h1, say) has these in a
// phase of their own, @part0.weights, behind the backward phase of their microbatch. What a
// stage sends of a microbatch may be received behind the stage's last pass: an empty phase,
// @part0.sent, is when that is waited for. Meanwhile its ranks go on.
//
// Where sequences go through stages in slices (SliceTokens.h), a pass is a phase for each slice:
// @part0.forward.slice0, …, @part0.backward.slice0; those of the backward pass come in turn from
// the last. A last stage, too, has its backward pass apart.
//
// Without microbatches there is nothing but forward and backward phases, which store besides.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_OUTLINESTAGES_H
#define WEFT_COMPILER_SHARDING_OUTLINESTAGES_H

#include "compiler/Sharding/Parts.h"

namespace weft {

/// On a call of a phase that is executed with every microbatch, or of a slice: its pass, 0 for the
/// forward phase.
inline constexpr llvm::StringLiteral kPipelineLevelAttr = "weft.pipeline_level";
/// Beside it: the slice of the sequence, where there are several.
inline constexpr llvm::StringLiteral kPipelineSliceAttr = "weft.pipeline_slice";
/// With every microbatch, and on what a stage is handed: the stage's number.
inline constexpr llvm::StringLiteral kPipelineStageAttr = "weft.pipeline_stage";
/// Beside them, on a call of what is put off: the gradients of weights.
inline constexpr llvm::StringLiteral kWeightGradientsAttr = "weft.weight_gradients";
/// Or on one behind which all that the stage sent of the microbatch has gone.
inline constexpr llvm::StringLiteral kSentAttr = "weft.sent";

/// The name of the schedule of a training step's stages (compiler/Schedule/Pipelines.h); "": the
/// default.
std::string getPipelineName(mlir::func::FuncOp main);

/// Whether the parts are stages: some read what later ones make, or all go through microbatches.
bool areStages(const Parts &parts);

/// Makes phases of the stages, each the program of one device, and lets @main call them.
void outlineStages(const Parts &parts);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_OUTLINESTAGES_H

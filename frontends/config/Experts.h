//===- Experts.h - mixtures of experts --------------------------*- C++ -*-===//
//
// Each token goes to a few of many experts. Products have one size for each expert, so that an
// expert has a number of slots for the tokens of one sequence (its capacity):
//
//   tokens [b, s, m] → slots [e, b, c, m] → one product for each expert → [b, s, m]
//
// Slots are taken in the order of tokens; those beyond the capacity pass the expert by. With a
// capacity of the whole sequence none do. Tokens are fetched to slots, and what experts make of
// them is added up where the tokens lie, by index: neither is a product, so that arithmetic is that
// of the experts alone. Both split over sequences and over experts.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_CONFIG_EXPERTS_H
#define WEFT_FRONTENDS_CONFIG_EXPERTS_H

#include "frontends/config/Layers.h"

namespace weft::frontend {

/// The experts of a layer.
struct Experts {
  int64_t count, perToken, inner;
  std::string activation;

  /// Fields by their names: how many there are (`num_local_experts` in newer configurations), and
  /// the width of each. Throws ImportError where a token cannot have so many.
  Experts(const Config &config, llvm::StringRef countField, llvm::StringRef innerField);

  /// Where tokens [b, s, m] go.
  struct Routing {
    mlir::Value experts; ///< [b, s, k], i64
    mlir::Value gates;   ///< what each counts, [b, s, k]
  };

  /// The k greatest of `choices`, whose gates are the numbers of `scores`, both [b, s, e].
  Routing chooseBest(Layers &layers, mlir::Value choices, mlir::Value scores) const;
  /// The sum of gates times gated MLPs, whose weights lie side by side: `name`.gate_up_proj
  /// [e, 2·inner, m] and `name`.down_proj [e, m, inner].
  mlir::Value build(Layers &layers, const std::string &name, mlir::Value x,
                    const Routing &routing) const;

private:
  struct Slots {
    mlir::Value tokens; ///< which token is in a slot, [b, e·c], i64; 0 in empty ones
    mlir::Value gates;  ///< 0 in empty ones
  };
  Slots assignSlots(Layers &layers, const Routing &routing, int64_t capacity) const;
  mlir::Value numberSlots(Layers &layers, mlir::Value experts, int64_t capacity) const;
  mlir::Value apply(Layers &layers, const std::string &name, mlir::Value x) const;
};

/// True where the position along a new last dimension of size `count` is the index. Computed where
/// it is used, as all that is as large as the choices of a batch.
mlir::Value markChosen(Layers &layers, mlir::Value indices, int64_t count);

/// Gates that sum to 1.
mlir::Value normalizeGates(Layers &layers, mlir::Value gates, double epsilon = 0);

} // namespace weft::frontend

#endif // WEFT_FRONTENDS_CONFIG_EXPERTS_H

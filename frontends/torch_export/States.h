//===- States.h - what a program keeps between steps ------------*- C++ -*-===//
//
// Buffers, parameters and inputs that the program changes (Changes.h) become weights of kind state:
// the graph's name stands for a load, and what the name stands for at the end is stored. An input
// that is changed is no input any more: it has its own name as a state, and is zero at first.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_STATES_H
#define WEFT_FRONTENDS_TORCH_EXPORT_STATES_H

#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Payloads.h"

namespace weft::frontend::aten {

class States {
public:
  States(const Program &program, Payloads &payloads, Weights &weights);

  /// Whether the input of this name in the graph may be changed.
  bool has(llvm::StringRef value) const { return changed.contains(value); }
  /// The loaded value of a buffer or parameter, and of an input of this name and type.
  mlir::Value load(const InputSpec &spec);
  mlir::Value load(llvm::StringRef value, mlir::RankedTensorType type, llvm::StringRef name);

  /// Stores what the program leaves in each, and makes those that it leaves alone what they would
  /// be otherwise. Whether any is stored.
  bool store(GraphImporter &importer, Scope &scope, Problems &problems);

private:
  struct State {
    std::string value; ///< the input in the graph
    WeightOp weight;
    WeightKind kind; ///< if it is not changed
  };
  void remember(const std::string &value, mlir::Value load, WeightKind kind);
  std::string newValue(const State &state, const Scope &scope) const;

  Payloads &payloads;
  Weights &weights;
  llvm::StringSet<> changed;
  llvm::StringMap<std::string> results; ///< by input: what the signature says it becomes
  std::vector<State> states;
};

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_STATES_H

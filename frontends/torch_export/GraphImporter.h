//===- GraphImporter.h - walks the graph of a program -----------*- C++ -*-===//
//
// One walk over the nodes, which torch has put in order. A node that fails is reported and its
// results are marked as failed, so that the walk goes on and finds everything else that is wrong;
// nodes that use failed values are passed over in silence. Graphs inside operators of higher order
// are walked in place of the node.
//
// Every result is compared with the element type and shape that the archive records for it, so that
// a rule of ATen that was not followed (promotion, rounding of sizes) is an error here and no wrong
// number later.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_GRAPHIMPORTER_H
#define WEFT_FRONTENDS_TORCH_EXPORT_GRAPHIMPORTER_H

#include "frontends/common/Problems.h"
#include "frontends/torch_export/Aliases.h"
#include "frontends/torch_export/Node.h"
#include "frontends/torch_export/Symbols.h"
#include "llvm/ADT/StringSet.h"

namespace weft::frontend::aten {

/// Which part of complex numbers is meant (ops/Complex.h).
enum class ComplexPart { None, Real, Imaginary };

/// The names visible to the nodes of a graph.
struct Scope {
  explicit Scope(const Graph &graph) : graph(graph) {}

  const Graph &graph;
  llvm::StringMap<mlir::Value> values;
  llvm::StringMap<mlir::Value> imaginary; ///< of complex numbers; their real part is in `values`
  ComplexPart part = ComplexPart::None;   ///< None: complex numbers are refused
  llvm::StringMap<Number> numbers;
  llvm::StringMap<mlir::Value> computed; ///< numbers that only running tells (ops/Computed.h)
  llvm::StringSet<> failed;              ///< values and numbers
  llvm::StringSet<> omitted;             ///< results that no importer gives
  llvm::StringSet<> changedInputs;       ///< of the graph, in place
  Aliases aliases;
  std::string prefix; ///< tells the values of an inlined graph from those around it
  int depth = 0;
};

/// The type of a part of complex numbers of some type, where parts are meant; other types stay.
ScalarType partType(const Scope &scope, ScalarType type);

class GraphImporter {
public:
  GraphImporter(const Symbols &symbols, Emitter &emit, Problems &problems);
  GraphImporter(const GraphImporter &) = delete;

  Emitter &emitter() { return emit; }
  const Symbols &sizes() const { return symbols; }

  void walk(Scope &scope);
  /// The outputs of a graph in place of the node, null for None; `operands` are the arguments for
  /// its inputs, which it may change in place if it is sure to be executed. The node has as many
  /// results.
  llvm::SmallVector<mlir::Value> inlineGraph(Node &node, const Graph &graph,
                                             llvm::ArrayRef<Argument> operands, bool isSure = true);

  /// The value of a name. Throws FailedValue where what makes it has failed, ImportError where
  /// nothing makes it.
  mlir::Value lookup(Scope &scope, llvm::StringRef name);
  Number lookupNumber(Scope &scope, llvm::StringRef name);
  void bind(Scope &scope, llvm::StringRef name, mlir::Value value);
  void bindNumber(Scope &scope, llvm::StringRef name, Number number);
  /// Changes the elements of a tensor and of everything that shares them.
  void assign(Scope &scope, llvm::StringRef name, mlir::Value value);
  /// `transformer.h.0.attn/linear_3`: the module's path and the value's name in the graph.
  std::string sourceName(const Scope &scope, const GraphNode &node, llvm::StringRef value) const;

private:
  void importNode(Scope &scope, const GraphNode &node);
  void dispatch(Scope &scope, const GraphNode &node);
  void importInPlace(Node &node, OpImporter importer);
  /// Remembers which results of a node share elements with its `self`.
  void noteViews(const Node &node);
  /// The value of a view once more, after its storage was changed.
  mlir::Value refreshed(Scope &scope, llvm::StringRef name);
  void refreshOne(Scope &scope, llvm::StringRef name);
  void fail(Scope &scope, const GraphNode &node);
  /// Compares a value with what the archive says of it.
  void checkValue(const Scope &scope, llvm::StringRef name, mlir::Value value) const;

  OpTable operators;
  const Symbols &symbols;
  Emitter &emit;
  Problems &problems;
  int64_t walked = 0;
};

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_GRAPHIMPORTER_H

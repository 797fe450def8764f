//===- Node.h - one ATen call while it is imported --------------*- C++ -*-===//
//
// What an operator's importer sees: arguments by the names that ATen's schema gives them, as values
// of the module or numbers, and the Emitter. torch leaves out arguments that have their default
// value, so whoever asks for one says what its default is. Numbers that the graph computes (sizes)
// are known by the time a node is imported, because all symbols are bound.
//
// Everything here throws ImportError where the node is not what ATen says it must be; the walk
// catches it and adds the node's name. An argument that no importer asked about is an error, too:
// it changes what the operator computes in a way that is not known here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_NODE_H
#define WEFT_FRONTENDS_TORCH_EXPORT_NODE_H

#include "frontends/common/Emitter.h"
#include "frontends/torch_export/Program.h"
#include "llvm/ADT/StringMap.h"

namespace weft::frontend::aten {

class GraphImporter;
struct Scope;

/// A Python number. Its kind decides the element type of results (Promotion.h).
using Number = std::variant<int64_t, double, bool>;

inline double asDouble(const Number &number) {
  return std::visit([](auto value) { return double(value); }, number);
}

/// The element type of a ScalarType. Throws ImportError for types that Weft does not have.
mlir::Type elementType(mlir::MLIRContext *context, ScalarType type);
/// The type of the parts of complex numbers; none for other types.
std::optional<ScalarType> partOfComplex(ScalarType type);
/// `torch.float32` and the like, for messages.
std::string nameOf(ScalarType type);

/// The names of a node's results, those of lists one by one; empty for None.
std::vector<std::string> resultNames(const GraphNode &node);
/// The key of its operator in the table.
std::string operatorName(const GraphNode &node);

class Node {
public:
  Node(const GraphNode &call, GraphImporter &graph, Scope &scope);

  const GraphNode &call;
  GraphImporter &graph;
  Scope &scope;
  Emitter &emit;

  /// An argument that is given and not None, or null.
  const Argument *find(llvm::StringRef name) const { return argument(name); }
  /// Whether an argument is given and not None.
  bool has(llvm::StringRef name) const { return argument(name) != nullptr; }

  // Tensors.
  bool isTensor(llvm::StringRef name) const;
  mlir::Value tensor(llvm::StringRef name) const;
  /// Null where it is absent or None.
  mlir::Value optionalTensor(llvm::StringRef name) const;
  mlir::SmallVector<mlir::Value> tensors(llvm::StringRef name) const;
  /// A list with null for None.
  mlir::SmallVector<mlir::Value> optionalTensors(llvm::StringRef name) const;

  // Numbers. Without `otherwise` the argument must be there.
  bool isNumber(llvm::StringRef name) const;
  Number number(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  double real(llvm::StringRef name) const;
  double real(llvm::StringRef name, double otherwise) const;
  bool flag(llvm::StringRef name, bool otherwise) const;
  /// A list of integers; one integer is a list of one.
  Shape integers(llvm::StringRef name) const;
  Shape integers(llvm::StringRef name, Shape otherwise) const;
  std::vector<double> reals(llvm::StringRef name) const;

  // Others.
  bool isText(llvm::StringRef name) const;
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const;
  /// A `dtype`; `otherwise` where it is absent or None.
  mlir::Type dtype(llvm::StringRef name, mlir::Type otherwise) const;

  // Arguments by position, for operators of Python and of higher order, which name none.
  size_t arguments() const { return call.inputs.size(); }
  const Argument &argumentAt(size_t index) const;
  Number numberAt(size_t index) const;
  /// The number that an argument is, called `name` in messages.
  Number numberOf(const Argument &argument, llvm::StringRef name) const;

  /// Of arguments that do not change the result. Device, layout, memory format, `pin_memory` and
  /// `non_blocking` never do.
  void ignore(std::initializer_list<llvm::StringRef> names) const {
    known.append(names.begin(), names.end());
  }
  /// Throws ImportError if an argument was not looked at.
  void checkArguments() const;

  /// A dimension given from the front or, below 0, from the end; in [0, rank). Rank 0 counts as 1,
  /// as ATen has it, so that dimensions 0 and -1 of a scalar are allowed.
  int64_t dim(int64_t given, int64_t rank) const;
  /// Several, sorted; each at most once.
  Shape dims(llvm::ArrayRef<int64_t> given, int64_t rank) const;

  /// Whether a result holds elements of its own because the caller asked for it.
  bool copies() const { return has("copy") && flag("copy", false); }
  /// Whether a tensor lies row-major, without gaps, from the start of its storage.
  bool isRowMajor(llvm::StringRef name) const;

  // Results, tensors of lists counted one by one.
  size_t results() const { return names.size(); }
  llvm::StringRef resultName(size_t index) const { return names[index]; }
  /// Whether the graph has a name for a result.
  bool wants(size_t index) const { return index < names.size() && !names[index].empty(); }
  /// What is built from here on belongs to result `index`; at first, it belongs to result 0.
  void beginResult(size_t index);
  void result(size_t index, mlir::Value value);
  void result(mlir::Value value) { result(0, value); }
  /// Gives results this element type, whatever type they are computed in.
  void castResults(mlir::Type element) { resultType = element; }
  /// A result that is not computed: an error only if something uses it.
  void omitResult(size_t index);
  /// A result that is a number.
  void result(Number number);
  /// A result that is a number which only running tells: an i64 scalar, or null for one of which
  /// nothing is known.
  void compute(mlir::Value value);
  /// Throws ImportError if a result that the graph names was not given.
  void checkResults() const;

private:
  const Argument *argument(llvm::StringRef name) const;
  const Argument &required(llvm::StringRef name) const;
  /// The value of a known or computed number.
  Number resolve(const Scalar &scalar) const;
  int64_t toInteger(const Scalar &scalar, llvm::StringRef name) const;

  std::vector<std::string> names; ///< of results; empty for None
  llvm::SmallVector<bool> given;
  mlir::Type resultType;                               ///< null: as computed
  mutable llvm::SmallVector<llvm::StringRef, 8> known; ///< arguments asked for
};

using OpImporter = void (*)(Node &node);

/// By target as serialised, less the prefix `torch.ops.`: `aten.add.Tensor`, `_operator.add`.
using OpTable = llvm::StringMap<OpImporter>;

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_NODE_H

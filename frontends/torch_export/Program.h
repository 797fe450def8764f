//===- Program.h - the schema of an exported program ------------*- C++ -*-===//
//
// torch/_export/serde/schema.py as structures, as far as Weft has a use for it. Unions are
// variants. What later minor versions add is passed over where it is a field, and kept by name
// where it is a member of a union (`Other`), so that it is an error only for whoever needs it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_PROGRAM_H
#define WEFT_FRONTENDS_TORCH_EXPORT_PROGRAM_H

#include "frontends/torch_export/Json.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>
#include <variant>

namespace weft::frontend::aten {

/// torch's ScalarType as serialised.
enum class ScalarType : int64_t {
  Byte = 1,
  Char = 2,
  Short = 3,
  Int = 4,
  Long = 5,
  Half = 6,
  Float = 7,
  Double = 8,
  ComplexHalf = 9,
  ComplexFloat = 10,
  ComplexDouble = 11,
  Bool = 12,
  BFloat16 = 13,
  UInt16 = 28,
  Float8E4M3FN = 29,
  Float8E5M2 = 30,
  Float8E4M3FNUZ = 31,
  Float8E5M2FNUZ = 32,
  Float8E8M0FNU = 33,
  UInt32 = 34,
  UInt64 = 35
};

/// A number, or the text of an expression of symbols.
using SymInt = std::variant<int64_t, std::string>;

constexpr int64_t stridedLayout = 7;

struct TensorMeta {
  ScalarType dtype;
  std::vector<SymInt> sizes, strides;
  SymInt storageOffset;
  int64_t layout;
  bool requiresGrad;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

struct Graph;

struct None {};
/// The name of a tensor.
struct TensorName {
  std::string name;
};
/// The name of a number that a node computes.
struct SymbolName {
  std::string name;
};
/// A Python number, known or computed.
using Scalar = std::variant<int64_t, double, bool, SymbolName>;
struct LayoutCode {
  int64_t code;
};
struct MemoryFormatCode {
  int64_t code;
};
struct GraphArgument {
  std::string name;
  std::shared_ptr<const Graph> graph;
};
/// A member of the union that nothing here reads (`as_device`, `as_custom_obj`, later ones).
struct Other {
  std::string member;
};

struct Argument {
  std::string member = "as_none"; ///< of the union, for messages
  std::variant<None, TensorName, std::vector<std::optional<TensorName>>, Scalar,
               std::vector<Scalar>, std::string, std::vector<std::string>, ScalarType, LayoutCode,
               MemoryFormatCode, GraphArgument, Other>
      value;

  template <typename Kind> const Kind *as() const { return std::get_if<Kind>(&value); }
};

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

struct NamedArgument {
  std::string name; ///< of the operator's schema; empty for higher-order operators
  Argument argument;
};

struct GraphNode {
  std::string target, name;
  std::string modulePath; ///< of the innermost module, e.g. `transformer.h.0.attn`
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<GraphNode> nodes;
  llvm::StringMap<TensorMeta> tensors;
  llvm::StringMap<SymInt> symInts;
};

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

struct InputSpec {
  enum Kind { User, Parameter, Buffer, TensorConstant, CustomObject, Token, Constant };
  Kind kind;
  Argument argument;  ///< none for Token and Constant
  std::string target; ///< fully qualified name, or the constant's name
};

struct OutputSpec {
  enum Kind { User, Loss, BufferMutation, ParameterMutation, UserInputMutation, Gradient, Token };
  Kind kind;
  Argument argument;
  std::string target; ///< what is mutated, or differentiated by
};

struct Range {
  std::optional<int64_t> least, most;
};

struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::map<std::string, Range> ranges; ///< by symbol
  std::vector<std::string> inputNames; ///< as the caller knows them, one a user input or constant;
                                       ///< empty where unknown
};

/// Where the values of a parameter, buffer or constant lie.
struct PayloadMeta {
  std::string file; ///< the entry's name within its folder
  bool isPickled;
  TensorMeta tensor;
};

/// Throw ImportError where the document does not follow the schema, or is of an unknown version.
Program readProgram(const Json &document);
llvm::StringMap<PayloadMeta> readPayloads(const Json &document);

/// Parts of readProgram.
Graph readGraph(const Json &json, int depth = 0);
Argument readArgument(const Json &json, int depth = 0);
TensorMeta readTensorMeta(const Json &json);

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_PROGRAM_H

// dist.cross_mesh_all_reduce: its form, what it checks, when it says nothing.

#include "dialects/Dist/IR/Sharding.h"
#include "dialects/Support/KeywordEnum.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

FlatSymbolRefAttr CrossMeshAllReduceOp::getMesh(unsigned number) {
  return cast<FlatSymbolRefAttr>(getMeshes()[number]);
}

RankedTensorType CrossMeshAllReduceOp::getType() {
  return cast<RankedTensorType>(getInputs().front().getType());
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

void CrossMeshAllReduceOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyEnum(getReduction()) << " ";
  llvm::interleaveComma(llvm::zip_equal(getInputs(), getMeshes()), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " on ";
    printer.printAttributeWithoutType(std::get<1>(pair));
  });
  printer.printOptionalAttrDict((*this)->getAttrs(), {"reduction", "meshes"});
  printer << " : " << getType();
}

ParseResult CrossMeshAllReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  FailureOr<ReduceKind> kind = parseKeywordEnum<ReduceKind>(parser);
  if (failed(kind))
    return failure();
  state.getOrAddProperties<Properties>().reduction =
      ReduceKindAttr::get(parser.getContext(), *kind);
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Attribute> meshes;
  auto parseInput = [&]() -> ParseResult {
    FlatSymbolRefAttr mesh;
    if (parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("on") ||
        parser.parseAttribute(mesh))
      return failure();
    meshes.push_back(mesh);
    return success();
  };
  Type type;
  if (parser.parseCommaSeparatedList(parseInput) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type, state.operands))
    return failure();
  state.getOrAddProperties<Properties>().meshes = parser.getBuilder().getArrayAttr(meshes);
  state.addTypes(SmallVector<Type>(inputs.size(), type));
  return success();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult CrossMeshAllReduceOp::verify() {
  size_t count = getMeshes().size();
  if (count == 0 || getInputs().size() != count || getOutputs().size() != count)
    return emitOpError() << "expected one operand and one result for each mesh, got: "
                         << getInputs().size() << " and " << getOutputs().size() << " for "
                         << count;
  for (Type type : llvm::concat<Type>(llvm::to_vector(getInputs().getTypes()),
                                      llvm::to_vector(getOutputs().getTypes())))
    if (type != getType())
      return emitOpError() << "expected one type, got: " << getType() << " != " << type;
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute mesh : getMeshes())
    if (!seen.insert(mesh).second)
      return emitOpError() << "expected unlike meshes, got twice: " << mesh;
  return success();
}

/// The mesh that the function of a call names; null where it names none.
static FlatSymbolRefAttr getMeshOfCall(Operation *op, SymbolTableCollection &tables) {
  auto call = dyn_cast_or_null<CallOpInterface>(op);
  auto name = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee()) : SymbolRefAttr();
  Operation *callee = name ? tables.lookupNearestSymbolFrom(op, name) : nullptr;
  return callee ? callee->getAttrOfType<FlatSymbolRefAttr>(kMeshAttr) : FlatSymbolRefAttr();
}

/// The mesh on which a value is made; null where that is not said.
static FlatSymbolRefAttr getMeshOf(Value value, SymbolTableCollection &tables) {
  if (auto reduction = value.getDefiningOp<CrossMeshAllReduceOp>())
    return reduction.getMesh(cast<OpResult>(value).getResultNumber());
  return getMeshOfCall(value.getDefiningOp(), tables);
}

LogicalResult CrossMeshAllReduceOp::verifySymbolUses(SymbolTableCollection &tables) {
  for (auto [number, input] : llvm::enumerate(getInputs())) {
    FlatSymbolRefAttr mesh = getMesh(number);
    if (!tables.lookupNearestSymbolFrom<MeshOp>(*this, mesh))
      return emitOpError() << "expected the name of a dist.mesh, got: " << mesh;
    FlatSymbolRefAttr made = getMeshOf(input, tables);
    if (made != mesh) {
      InFlightDiagnostic error = emitOpError() << "expected operand " << number
                                               << " to be made by a part on " << mesh << ", got ";
      return made ? error << "one on " << made : error << "what no part makes";
    }
    for (Operation *user : getOutputs()[number].getUsers())
      if (FlatSymbolRefAttr read = getMeshOfCall(user, tables); read && read != mesh)
        return emitOpError() << "expected result " << number << " to be read on " << mesh
                             << ", got a part on " << read;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// The values are reduced over these meshes already, by a kind that joins equal values to the same.
static bool isReducedAlready(CrossMeshAllReduceOp op) {
  auto before = op.getInputs().front().getDefiningOp<CrossMeshAllReduceOp>();
  bool isIdempotent = op.getReduction() == ReduceKind::Max || op.getReduction() == ReduceKind::Min;
  return before && isIdempotent && before.getReduction() == op.getReduction() &&
         llvm::all_of(op.getInputs(), [&](Value input) { return input.getDefiningOp() == before; });
}

/// One mesh has nothing to join; the largest of equal values is each of them.
LogicalResult CrossMeshAllReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &results) {
  if (getMeshes().size() != 1 && !isReducedAlready(*this))
    return failure();
  results.append(getInputs().begin(), getInputs().end());
  return success();
}

//===- ExecInstructions.cpp - syntax and verifiers of instructions --------===//

#include "dialects/Exec/IR/ExecVerify.h"
#include "dialects/Support/KeywordEnum.h"

using namespace mlir;
using namespace weft::exec;
using weft::ReduceKind;

LogicalResult weft::exec::verifySameDtype(Operation *op, ArrayRef<OperandAttr> operands) {
  for (OperandAttr operand : operands.drop_front())
    if (operand.getDtype() != operands.front().getDtype())
      return op->emitOpError() << "expected one element type, got: " << operands.front().getDtype()
                               << " and " << operand.getDtype();
  return success();
}

//===----------------------------------------------------------------------===//
// CollectiveOp
//===----------------------------------------------------------------------===//

ParseResult weft::exec::parseAxes(OpAsmParser &parser, ArrayAttr &list) {
  SmallVector<Attribute> axes;
  auto parseOne = [&]() -> ParseResult {
    axes.push_back(AxisAttr::parse(parser, {}));
    return success(axes.back() != nullptr);
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  list = parser.getBuilder().getArrayAttr(axes);
  return success();
}

void weft::exec::printAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << "[";
  llvm::interleaveComma(axes.getAsRange<AxisAttr>(), printer,
                        [&](AxisAttr axis) { axis.print(printer); });
  printer << "]";
}

template <typename Attr> static ParseResult parseInto(OpAsmParser &parser, Attr &attribute) {
  attribute = dyn_cast_or_null<Attr>(Attr::parse(parser, {}));
  return success(attribute != nullptr);
}

ParseResult CollectiveOp::parse(OpAsmParser &parser, OperationState &result) {
  Properties &properties = result.getOrAddProperties<Properties>();
  MLIRContext *context = parser.getContext();
  FailureOr<CollectiveKind> kind = weft::parseKeywordEnum<CollectiveKind>(parser);
  if (failed(kind))
    return failure();
  FailureOr<ReduceKind> reduction = weft::parseKeywordEnum<ReduceKind>(parser);
  if (failed(reduction) || parser.parseKeyword("axes") || parseAxes(parser, properties.axes))
    return failure();
  properties.kind = CollectiveKindAttr::get(context, *kind);
  properties.reduction = ReduceKindAttr::get(context, *reduction);
  if (succeeded(parser.parseOptionalKeyword("to_axes")) && parseAxes(parser, properties.to_axes))
    return failure();
  if (parser.parseKeyword("on") || parser.parseAttribute(properties.mesh) ||
      parseInto(parser, properties.input) || parser.parseKeyword("to") ||
      parseInto(parser, properties.output) || parser.parseKeyword("priced") ||
      parseInto(parser, properties.price))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("async")) && parseInto(parser, properties.async))
    return failure();
  return parser.parseOptionalAttrDict(result.attributes);
}

void CollectiveOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyCollectiveKind(getKind()) << ' ' << stringifyReduceKind(getReduction())
          << " axes ";
  printAxes(printer, *this, getAxes());
  if (ArrayAttr axes = getToAxesAttr()) {
    printer << " to_axes ";
    printAxes(printer, *this, axes);
  }
  printer << " on " << getMeshAttr() << ' ';
  getInput().print(printer);
  printer << " to ";
  getOutput().print(printer);
  printer << " priced ";
  getPrice().print(printer);
  if (AsyncAttr async = getAsyncAttr()) {
    printer << " async ";
    async.print(printer);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {"kind", "reduction", "axes", "to_axes",
                                                      "mesh", "input", "output", "price", "async"});
}

/// C3: how many elements a collective gives from how many, in groups of `ranks`.
static LogicalResult verifyCollectiveSizes(CollectiveOp op, int64_t ranks) {
  int64_t input = op.getInput().getNumElements(), output = op.getOutput().getNumElements();
  CollectiveKind kind = op.getKind();
  int64_t expected = kind == CollectiveKind::AllGather       ? input * ranks
                     : kind == CollectiveKind::ReduceScatter ? input / ranks
                                                             : input;
  bool blocks = kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
  if (blocks && input % ranks != 0)
    return op.emitOpError() << "expected input elements to be a multiple of the group, got: "
                            << input << " over " << ranks;
  if (output != expected)
    return op.emitOpError() << "expected " << stringifyCollectiveKind(kind) << " to give "
                            << expected << " elements, got: " << output;
  return success();
}

/// Whether the lists hold the same axes, each as often.
static bool isPermutation(ArrayAttr axes, ArrayAttr others) {
  return axes.size() == others.size() &&
         std::is_permutation(axes.begin(), axes.end(), others.begin());
}

LogicalResult CollectiveOp::verify() {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(
      (*this)->getParentOfType<ProgramOp>()->getParentOp(), getMeshAttr());
  if (!mesh)
    return emitOpError() << "expected a mesh, got: " << getMeshAttr();
  int64_t ranks = mesh.getExtent(llvm::to_vector(getAxes().getAsRange<AxisAttr>()));
  if (ranks == 0)
    return emitOpError() << "expected axes of mesh " << getMeshAttr() << ", got: " << getAxes();
  if ((getKind() == CollectiveKind::Permute) != (getToAxesAttr() != nullptr))
    return emitOpError() << "expected to_axes for permute alone";
  if (getToAxesAttr() && !isPermutation(getAxes(), getToAxesAttr()))
    return emitOpError() << "expected to_axes to be a permutation of axes, got: " << getAxes()
                         << " and " << getToAxesAttr();
  for (OperandAttr operand : {getInput(), getOutput()})
    if (!operand.isContiguous())
      return emitOpError() << "expected contiguous operands, got: " << operand;
  if (failed(verifySameDtype(*this, {getInput(), getOutput()})))
    return failure();
  return verifyCollectiveSizes(*this, ranks);
}

bool CollectiveOp::isCommunication() { return true; }

/// Each rank reads a slice of its input for the last time before it writes that slice's sum.
bool CollectiveOp::mayWriteInPlace() { return getKind() == CollectiveKind::AllReduce; }

//===----------------------------------------------------------------------===//
// ObserveOp
//===----------------------------------------------------------------------===//

LogicalResult ObserveOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  for (PortOp port : program.getBody().getOps<PortOp>()) {
    if (port.getDirection() != Direction::Gradient || port.getNameAttr() != getPortAttr())
      continue;
    if (port.getLocal() != getInput())
      return emitOpError() << "expected the operand of its port, got: " << getInput()
                           << " != " << port.getLocal();
    return success();
  }
  return emitOpError() << "expected a gradient port, got: " << getPortAttr();
}

//===----------------------------------------------------------------------===//
// SendOp, ReceiveOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyMessage(Operation *op, FlatSymbolRefAttr name, ArrayRef<int64_t> steps,
                                   OperandAttr operand) {
  auto program = op->getParentOfType<ProgramOp>();
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>(program->getParentOp(), name);
  if (!mesh)
    return op->emitOpError() << "expected a mesh, got: " << name;
  auto first = static_cast<int64_t>(mesh.getFirstRank());
  if (first < static_cast<int64_t>(program.getEnd()) &&
      static_cast<int64_t>(program.getBegin()) < first + mesh.getNumRanks())
    return op->emitOpError() << "expected another mesh than the program's, got: " << name;
  if (steps.size() > operand.getShape().size())
    return op->emitOpError() << "expected a dimension of the operand for each step, got: "
                             << operand.getShape().size() << " < " << steps.size();
  auto piece = OperandAttr::get(op->getContext(), operand.getArena(), operand.getOffset(),
                                operand.getDtype(), operand.getShape().drop_front(steps.size()),
                                operand.getStrides().drop_front(steps.size()), operand.getValue());
  if (!piece.isContiguous())
    return op->emitOpError() << "expected contiguous messages, got: " << operand;
  return success();
}

bool ReceiveOp::isCommunication() { return true; }
bool ReceiveOp::isMessage() { return true; }
LogicalResult ReceiveOp::verify() {
  return verifyMessage(*this, getMeshAttr(), getSteps(), getOutput());
}

bool SendOp::isCommunication() { return true; }
bool SendOp::isMessage() { return true; }
LogicalResult SendOp::verify() {
  if (FlatSymbolRefAttr name = getUntilAttr())
    if (!(*this)->getParentOfType<ProgramOp>().lookupSymbol<SegmentOp>(name.getAttr()))
      return emitOpError() << "expected a segment of the program, got: " << name;
  return verifyMessage(*this, getMeshAttr(), getSteps(), getInput());
}

//===----------------------------------------------------------------------===//
// ConvOp
//===----------------------------------------------------------------------===//

/// C2: channels and spatial extents.
static LogicalResult verifyConvExtents(ConvOp op) {
  ArrayRef<int64_t> input = op.getInput().getShape(), kernel = op.getKernel().getShape(),
                    output = op.getOutput().getShape();
  if (op.getKernelGradient())
    std::swap(kernel, output);
  int64_t groups = op.getGroups();
  if (groups < 1 || kernel[0] % groups != 0 || input[1] != kernel[1] * groups)
    return op.emitOpError() << "expected channels to be multiples of groups, got: " << input[1]
                            << " and " << kernel[0] << " in " << groups;
  if (output[0] != input[0] || output[1] != kernel[0])
    return op.emitOpError() << "expected output [" << input[0] << ", " << kernel[0] << "], got: ["
                            << output[0] << ", " << output[1] << "]";
  for (size_t i = 0; i + 2 < input.size(); ++i) {
    int64_t window = op.getDilations()[i] * (kernel[i + 2] - 1) + 1;
    int64_t room = input[i + 2] + op.getLow()[i] + op.getHigh()[i] - window;
    int64_t expected = room < 0 || op.getStrides()[i] < 1 ? 0 : room / op.getStrides()[i] + 1;
    if (output[i + 2] != expected)
      return op.emitOpError() << "expected output extent " << expected << " in spatial dimension "
                              << i << ", got: " << output[i + 2];
  }
  return success();
}

/// Whether the elements fill a range of memory, each once.
static bool isDense(OperandAttr operand) {
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [extent, stride] : llvm::zip_equal(operand.getShape(), operand.getStrides()))
    if (extent != 1)
      dims.push_back({stride, extent});
  llvm::sort(dims);
  int64_t expected = 1;
  for (auto [stride, extent] : dims) {
    if (stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

/// C3: what follows a convolution.
static LogicalResult verifyEpilogue(ConvOp op, EpilogueAttr epilogue) {
  if (op.getKernelGradient())
    return op.emitOpError() << "expected no epilogue of a kernel's gradient";
  for (Attribute input : epilogue.getInputs())
    if (!isa<OperandAttr>(input))
      return op.emitOpError() << "expected operands as inputs of the epilogue, got: " << input;
  for (Attribute param : epilogue.getParams())
    if (!isa<AffineAttr>(param))
      return op.emitOpError() << "expected affine numbers as params of the epilogue, got: "
                              << param;
  int64_t places = llvm::count(epilogue.getInputs(), Attribute(op.getOutput()));
  if (places != 1)
    return op.emitOpError() << "expected the output once among the epilogue's inputs, got: "
                            << places << " times";
  if (!isDense(op.getOutput()))
    return op.emitOpError() << "expected an epilogue's output to fill its memory, got: "
                            << op.getOutput();
  int64_t elements = op.getOutput().getNumElements(), tile = epilogue.getTile(),
          row = epilogue.getRow();
  if (tile < 1 || row < tile || elements % row != 0)
    return op.emitOpError() << "expected tiles in rows that divide the output, got: " << tile
                            << " in " << row << " of " << elements;
  int64_t expected = elements / row * llvm::divideCeil(row, tile);
  if (epilogue.getTiles() != expected)
    return op.emitOpError() << "expected " << expected
                            << " tiles in the epilogue, got: " << epilogue.getTiles();
  return success();
}

LogicalResult ConvOp::verify() {
  size_t rank = getInput().getShape().size();
  if (rank < 3 || getKernel().getShape().size() != rank || getOutput().getShape().size() != rank)
    return emitOpError() << "expected operands of one rank of at least 3, got: " << rank << ", "
                         << getKernel().getShape().size() << ", " << getOutput().getShape().size();
  for (ArrayRef<int64_t> list : {getStrides(), getLow(), getHigh(), getDilations()})
    if (list.size() != rank - 2)
      return emitOpError() << "expected one entry per spatial dimension, got: " << list.size()
                           << " != " << rank - 2;
  if (failed(verifySameDtype(*this, {getInput(), getKernel(), getOutput()})) ||
      failed(verifyConvExtents(*this)))
    return failure();
  return getEpilogueAttr() ? verifyEpilogue(*this, getEpilogueAttr()) : success();
}

//===----------------------------------------------------------------------===//
// CopyOp, FillOp
//===----------------------------------------------------------------------===//

bool CopyOp::isHostCopy() {
  return (getInput().getArena() == ArenaKind::Host) != (getOutput().getArena() == ArenaKind::Host);
}

LogicalResult CopyOp::verify() {
  OperandAttr input = getInput(), output = getOutput();
  if (AsyncAttr async = getAsyncAttr(); async && async.getStream() != Stream::Copy)
    return emitOpError() << "expected an asynchronous copy on the stream of copies, got: "
                         << stringifyStream(async.getStream());
  if (getAsyncAttr() && !isHostCopy())
    return emitOpError() << "expected an asynchronous copy to be from or to the host, got: "
                         << input << " and " << output;
  if (input.getShape() != output.getShape())
    return emitOpError() << "expected extents to agree, got: " << input << " and " << output;
  for (auto [extent, stride] : llvm::zip_equal(output.getShape(), output.getStrides()))
    if (extent > 1 && stride == 0)
      return emitOpError() << "expected to write each element once, got stride 0 in: " << output;
  return verifySameDtype(*this, {input, output});
}

LogicalResult FillOp::verify() {
  auto value = dyn_cast<TypedAttr>(getValue());
  if (!value || !isa<FloatAttr, IntegerAttr>(getValue()) ||
      value.getType() != getOutput().getDtype())
    return emitOpError() << "expected a value of the element type, got: " << getValue() << " for "
                         << getOutput().getDtype();
  return success();
}

//===----------------------------------------------------------------------===//
// GemmOp
//===----------------------------------------------------------------------===//

LogicalResult GemmOp::verify() {
  ArrayRef<int64_t> a = getA().getShape(), b = getB().getShape(), c = getC().getShape();
  if (a.size() < 2 || b.size() != a.size() || c.size() != a.size())
    return emitOpError() << "expected operands of one rank of at least 2, got: " << a.size() << ", "
                         << b.size() << ", " << c.size();
  if (a.drop_back(2) != b.drop_back(2) || a.drop_back(2) != c.drop_back(2))
    return emitOpError() << "expected batch extents to agree, got: [" << a.drop_back(2) << "], ["
                         << b.drop_back(2) << "], [" << c.drop_back(2) << "]";
  size_t m = a.size() - 2, n = a.size() - 1;
  if (a[m] != c[m] || b[n] != c[n] || a[n] != b[m])
    return emitOpError() << "expected [m, k] x [k, n] -> [m, n], got: [" << a.take_back(2)
                         << "] x [" << b.take_back(2) << "] -> [" << c.take_back(2) << "]";
  return verifySameDtype(*this, {getA(), getB(), getC()});
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  if (static_cast<int64_t>(getTiles()) < 1 || static_cast<int64_t>(getGrain()) < 1)
    return emitOpError() << "expected tiles and grain of at least 1, got: " << getTiles() << " and "
                         << getGrain();
  return success();
}

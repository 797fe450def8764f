//===- ExecOps.cpp - meshes, programs and their members -------------------===//

#include "dialects/Exec/IR/ExecSchedule.h"
#include "dialects/Support/KeywordEnum.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft::exec;

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes))
    return failure();
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    Attribute axis = MeshAxisAttr::parse(parser, {});
    if (!axis)
      return failure();
    axes.push_back(axis);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  result.addAttribute(getAxesAttrName(result.name), parser.getBuilder().getArrayAttr(axes));
  if (succeeded(parser.parseOptionalKeyword("order"))) {
    auto order = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, {}));
    if (!order)
      return failure();
    result.addAttribute(getDeviceOrderAttrName(result.name), order);
  }
  if (succeeded(parser.parseOptionalKeyword("from"))) {
    int64_t first;
    if (parser.parseInteger(first))
      return failure();
    result.addAttribute(getFirstRankAttrName(result.name),
                        parser.getBuilder().getI64IntegerAttr(first));
  }
  return parser.parseOptionalAttrDict(result.attributes);
}

void MeshOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " [";
  llvm::interleaveComma(getAxes().getAsRange<MeshAxisAttr>(), printer,
                        [&](MeshAxisAttr axis) { axis.print(printer); });
  printer << "]";
  if (DenseI64ArrayAttr order = getDeviceOrderAttr()) {
    printer << " order ";
    order.print(printer);
  }
  if (getFirstRank() != 0)
    printer << " from " << getFirstRank();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"sym_name", "axes", "device_order", "first_rank"});
}

int64_t MeshOp::getNumRanks() {
  int64_t ranks = 1;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>())
    ranks *= axis.getSize();
  return ranks;
}

int64_t MeshOp::getExtent(ArrayRef<AxisAttr> axes) {
  int64_t extent = 1;
  for (AxisAttr axis : axes) {
    auto all = getAxes().getAsRange<MeshAxisAttr>();
    auto found = llvm::find_if(all, [&](MeshAxisAttr a) { return a.getName() == axis.getName(); });
    if (found == all.end())
      return 0;
    int64_t whole = (*found).getSize();
    if (axis.getSize() < 0 || axis.getPre() < 1)
      return 0;
    if (axis.getSize() != 0 && whole % (axis.getPre() * axis.getSize()) != 0)
      return 0;
    extent *= axis.getSize() == 0 ? whole : axis.getSize();
  }
  return extent;
}

LogicalResult MeshOp::verify() {
  llvm::StringSet<> names;
  for (auto axis : getAxes().getAsRange<MeshAxisAttr>()) {
    if (!names.insert(axis.getName()).second)
      return emitOpError() << "expected axes of unique names, got twice: \"" << axis.getName()
                           << "\"";
    if (axis.getSize() < 1)
      return emitOpError() << "expected axis sizes of at least 1, got: " << axis.getSize();
  }
  if (!getDeviceOrder())
    return success();
  SmallVector<int64_t> order(*getDeviceOrder());
  llvm::sort(order);
  if (static_cast<int64_t>(order.size()) != getNumRanks() ||
      llvm::any_of(llvm::enumerate(order),
                   [](auto it) { return it.value() != static_cast<int64_t>(it.index()); }))
    return emitOpError() << "expected device_order to be a permutation of 0 to "
                         << getNumRanks() - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

/// The operands of a member of a program: an instruction's, a port's or a weight block's.
static SmallVector<OperandAttr> getOperandAttrs(Operation *op) {
  if (auto port = dyn_cast<PortOp>(op))
    return {port.getLocal()};
  if (auto block = dyn_cast<WeightBlockOp>(op))
    return {block.getLocal()};
  SmallVector<OperandAttr> operands;
  if (auto instruction = dyn_cast<InstructionOpInterface>(op)) {
    operands = instruction.getReads();
    llvm::append_range(operands, instruction.getWrites());
  }
  return operands;
}

/// Calls `verify` for every operand of the program, until one fails.
template <typename Verify> static LogicalResult verifyOperands(ProgramOp program, Verify verify) {
  WalkResult walk = program.getBody().walk([&](Operation *op) {
    for (OperandAttr operand : getOperandAttrs(op))
      if (failed(verify(op, operand)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

/// C2, C7: arenas of a placed program.
static LogicalResult verifyArenas(ProgramOp program) {
  bool declared[getMaxEnumValForArenaKind() + 1] = {};
  int64_t frames = 0; // of activations
  for (ArenaOp arena : program.getBody().getOps<ArenaOp>()) {
    bool &seen = declared[static_cast<unsigned>(arena.getKind())];
    bool maySeveral = arena.getKind() == ArenaKind::Activations;
    if (seen && !maySeveral)
      return arena.emitOpError() << "expected one arena of a kind, got twice: "
                                 << stringifyArenaKind(arena.getKind());
    if (static_cast<int64_t>(arena.getBegin()) != (maySeveral ? frames : 0))
      return arena.emitOpError() << "expected frames behind " << (maySeveral ? frames : 0)
                                 << " others, got: " << static_cast<int64_t>(arena.getBegin());
    frames += maySeveral ? arena.getFrames() : 0;
    seen = true;
  }
  return verifyOperands(program, [&](Operation *op, OperandAttr operand) -> LogicalResult {
    if (!declared[static_cast<unsigned>(operand.getArena())])
      return op->emitOpError() << "expected operands in declared arenas, got: "
                               << stringifyArenaKind(operand.getArena());
    if (operand.getArena() == ArenaKind::Host && isa<InstructionOpInterface>(op) &&
        !isa<CopyOp>(op))
      return op->emitOpError() << "expected copies alone to name the host's memory, got: "
                               << operand;
    return success();
  });
}

/// C4: one operand of a program over buffers.
static LogicalResult verifyInBuffer(Operation *op, OperandAttr operand, BufferOp buffer) {
  if (!buffer)
    return op->emitOpError() << "expected values that are numbers of buffers, got: " << operand;
  if (buffer.getKind() != operand.getArena())
    return op->emitOpError() << "expected the kind of arena of buffer " << operand.getValue()
                             << ", got: " << stringifyArenaKind(operand.getArena())
                             << " != " << stringifyArenaKind(buffer.getKind());
  if (!operand.getOffset().isConstant() || operand.getNumElements() == 0)
    return success();
  int64_t end = getElementBytes(operand.getDtype());
  for (auto [extent, stride] : llvm::zip_equal(operand.getShape(), operand.getStrides()))
    end += (extent - 1) * stride * getElementBytes(operand.getDtype());
  int64_t start = operand.getOffset().getConstant(), bytes = buffer.getBytes();
  if (start < 0 || start + end > bytes)
    return op->emitOpError() << "expected operands within the " << bytes << " bytes of buffer "
                             << operand.getValue() << ", got bytes " << start << " to "
                             << start + end;
  return success();
}

/// C4: buffers of a program that is not placed yet.
static LogicalResult verifyBuffers(ProgramOp program) {
  for (ArenaOp arena : program.getBody().getOps<ArenaOp>())
    return arena.emitOpError() << "expected buffers or arenas, got both";
  llvm::DenseMap<int64_t, BufferOp> buffers;
  for (BufferOp buffer : program.getBody().getOps<BufferOp>())
    if (!buffers.try_emplace(buffer.getNumber(), buffer).second)
      return buffer.emitOpError() << "expected unique numbers, got twice: " << buffer.getNumber();
  return verifyOperands(program, [&](Operation *op, OperandAttr operand) {
    return verifyInBuffer(op, operand, buffers.lookup(operand.getValue()));
  });
}

/// C3 of ports: somebody may look at every gradient.
static LogicalResult verifyGradients(ProgramOp program) {
  llvm::DenseSet<Attribute> observed;
  program.getBody().walk([&](ObserveOp op) { observed.insert(op.getPortAttr()); });
  for (PortOp port : program.getBody().getOps<PortOp>())
    if (port.getDirection() == Direction::Gradient && !observed.contains(port.getNameAttr()))
      return port.emitOpError() << "expected an observation of the gradient, got none: "
                                << port.getNameAttr();
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  if (getBegin() < 0 || getBegin() >= getEnd())
    return emitOpError() << "expected ranks begin < end, got: " << getBegin() << " to " << getEnd();
  bool overBuffers = !getBody().getOps<BufferOp>().empty();
  if (failed(overBuffers ? verifyBuffers(*this) : verifyArenas(*this)) ||
      failed(verifyTokens(*this)) || failed(verifyGradients(*this)))
    return failure();
  return verifySchedule(*this);
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// Bytes and alignment of an arena or a buffer.
static LogicalResult verifyMemory(Operation *op, int64_t bytes, int64_t alignment) {
  if (bytes < 0)
    return op->emitOpError() << "expected bytes of at least 0, got: " << bytes;
  if (!llvm::isPowerOf2_64(alignment))
    return op->emitOpError() << "expected alignment to be a power of two, got: " << alignment;
  return success();
}

LogicalResult ArenaOp::verify() {
  if (static_cast<int64_t>(getFrames()) < 1)
    return emitOpError() << "expected at least 1 frame, got: " << getFrames();
  if (isKept(getKind()) && getFrames() != 1)
    return emitOpError() << "expected one frame of " << stringifyArenaKind(getKind())
                         << ", got: " << getFrames();
  return verifyMemory(*this, getBytes(), getAlignment());
}

LogicalResult BufferOp::verify() {
  if (static_cast<int64_t>(getNumber()) < 1)
    return emitOpError() << "expected a number of at least 1, got: " << getNumber();
  return verifyMemory(*this, getBytes(), getAlignment());
}

ParseResult PortOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<Attribute> sharding;
  FlatSymbolRefAttr mesh;
  FailureOr<Direction> direction = weft::parseKeywordEnum<Direction>(parser);
  if (failed(direction) || parser.parseAttribute(name))
    return failure();
  auto shape = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, {}));
  auto parseDim = [&]() -> ParseResult {
    SmallVector<Attribute> axes;
    auto parseOne = [&]() -> ParseResult {
      axes.push_back(AxisAttr::parse(parser, {}));
      return success(axes.back() != nullptr);
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
    sharding.push_back(builder.getArrayAttr(axes));
    return success();
  };
  if (!shape || parser.parseKeyword("split") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseKeyword("on") || parser.parseAttribute(mesh) || parser.parseKeyword("at"))
    return failure();
  Attribute local = OperandAttr::parse(parser, {});
  if (!local)
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  properties.direction = DirectionAttr::get(parser.getContext(), *direction);
  properties.name = name;
  properties.shape = shape;
  properties.sharding = builder.getArrayAttr(sharding);
  properties.mesh = mesh;
  properties.local = cast<OperandAttr>(local);
  if (ArrayAttr valid; succeeded(parser.parseOptionalKeyword("valid"))) {
    if (parser.parseAttribute(valid))
      return failure();
    properties.valid = valid;
  }
  int64_t along = 0;
  if (succeeded(parser.parseOptionalKeyword("along")) && parser.parseInteger(along))
    return failure();
  properties.along = builder.getI64IntegerAttr(along);
  return parser.parseOptionalAttrDict(result.attributes);
}

void PortOp::print(OpAsmPrinter &printer) {
  printer << ' ' << stringifyDirection(getDirection()) << ' ' << getNameAttr() << ' ';
  getShapeAttr().print(printer);
  printer << " split [";
  llvm::interleaveComma(getSharding().getAsRange<ArrayAttr>(), printer, [&](ArrayAttr axes) {
    printer << "[";
    llvm::interleaveComma(axes.getAsRange<AxisAttr>(), printer,
                          [&](AxisAttr axis) { axis.print(printer); });
    printer << "]";
  });
  printer << "] on " << getMeshAttr() << " at ";
  getLocal().print(printer);
  if (ArrayAttr valid = getValidAttr())
    printer << " valid " << valid;
  if (getAlong() != 0)
    printer << " along " << getAlong();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"direction", "name", "shape", "sharding",
                                                      "mesh", "local", "valid", "along"});
}

/// One number of valid elements per extent, where they are given.
static LogicalResult verifyValid(Operation *op, ArrayAttr valid, OperandAttr local) {
  if (!valid || valid.size() == local.getShape().size())
    return success();
  return op->emitOpError() << "expected one number of valid elements per extent, got: "
                           << valid.size() << " != " << local.getShape().size();
}

LogicalResult PortOp::verify() {
  auto mesh = SymbolTable::lookupNearestSymbolFrom<MeshOp>((*this)->getParentOp()->getParentOp(),
                                                           getMeshAttr());
  if (!mesh)
    return emitOpError() << "expected a mesh, got: " << getMeshAttr();
  ArrayRef<int64_t> shape = getShape(), local = getLocal().getShape();
  if (getSharding().size() != shape.size() || local.size() != shape.size())
    return emitOpError() << "expected one list of axes and one local extent per dimension, got: "
                         << getSharding().size() << " and " << local.size()
                         << " != " << shape.size();
  int64_t frames = 1;
  if (getLocal().getArena() == ArenaKind::Ports)
    frames = getNumFrames((*this)->getParentOfType<ProgramOp>().getSchedule(), ArenaKind::Ports);
  if (frames > 1 && getAlong() >= shape.size())
    return emitOpError() << "expected a dimension of the port to have frames along, got: "
                         << getAlong();
  SmallVector<int64_t> part(shape);
  if (frames > 1 && part[getAlong()] % frames != 0)
    return emitOpError() << "expected " << frames << " equal parts of dimension " << getAlong()
                         << ", got: " << part[getAlong()];
  if (frames > 1)
    part[getAlong()] /= frames;
  for (auto [i, axes] : llvm::enumerate(getSharding().getAsRange<ArrayAttr>())) {
    int64_t extent = mesh.getExtent(llvm::to_vector(axes.getAsRange<AxisAttr>()));
    if (extent == 0)
      return emitOpError() << "expected axes of mesh " << getMeshAttr() << " in dimension " << i;
    if (getValid() ? local[i] * extent < part[i] : local[i] * extent != part[i])
      return emitOpError() << "expected local extent times axes to be the global extent, got: "
                           << local[i] << " * " << extent << " != " << part[i];
  }
  return verifyValid(*this, getValidAttr(), getLocal());
}

LogicalResult WeightOp::verify() {
  int64_t bytes = getElementBytes(getDtype());
  if (bytes == 0)
    return emitOpError() << "expected an element type that arenas hold, got: " << getDtype();
  for (int64_t extent : getShape())
    bytes *= extent;
  auto external = dyn_cast<ExternalAttr>(getStorage());
  if (external && external.getLength() < bytes)
    return emitOpError() << "expected storage to hold the shape, got: " << external.getLength()
                         << " < " << bytes << " bytes";
  if (!external && !isa<ElementsAttr>(getStorage()))
    return emitOpError() << "expected storage in a file or elements, got: " << getStorage();
  return success();
}

LogicalResult WeightBlockOp::verify() {
  auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(
      (*this)->getParentOp()->getParentOp(), getWeightAttr());
  if (!weight)
    return emitOpError() << "expected a weight, got: " << getWeightAttr();
  if (weight.getDtype() != getLocal().getDtype())
    return emitOpError() << "expected the weight's element type, got: " << getLocal().getDtype()
                         << " != " << weight.getDtype();
  if (getStrides().size() != getLocal().getShape().size())
    return emitOpError() << "expected one stride per extent, got: " << getStrides().size()
                         << " != " << getLocal().getShape().size();
  return verifyValid(*this, getValidAttr(), getLocal());
}

#include "dialects/Dist/IR/Sharding.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::dist;

#define GET_OP_CLASSES
#include "dialects/Dist/IR/DistOps.cpp.inc"

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

void MeshOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " <[";
  llvm::interleaveComma(getAxes().getAsRange<MeshAxisAttr>(), printer, [&](MeshAxisAttr axis) {
    printer.printString(axis.getName());
    printer << "=" << axis.getSize();
  });
  printer << "]";
  if (std::optional<ArrayRef<int64_t>> order = getDeviceOrder()) {
    printer << ", device_order = [";
    llvm::interleaveComma(*order, printer);
    printer << "]";
  }
  if (getFirstDevice() != 0)
    printer << ", first_device = " << getFirstDevice();
  printer << ">";
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"sym_name", "axes", "device_order", "first_device"});
}

/// Reads `device_order = [1, 0]` or `first_device = 4`.
static ParseResult parseMeshDevices(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringRef key;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&key) || parser.parseEqual())
    return failure();
  if (key != "first_device" && key != "device_order")
    return parser.emitError(place) << "expected device_order or first_device, got: " << key;
  if (key == "first_device") {
    int64_t first;
    if (parser.parseInteger(first))
      return failure();
    state.addAttribute(key, builder.getI64IntegerAttr(first));
    return success();
  }
  SmallVector<int64_t> order;
  auto parseDevice = [&] { return parser.parseInteger(order.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDevice))
    return failure();
  state.addAttribute(key, builder.getDenseI64ArrayAttr(order));
  return success();
}

ParseResult MeshOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<Attribute> axes;
  auto parseAxis = [&]() -> ParseResult {
    std::string axis;
    int64_t size;
    if (parser.parseString(&axis) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    axes.push_back(MeshAxisAttr::get(parser.getContext(), axis, size));
    return success();
  };
  if (parser.parseSymbolName(name, "sym_name", state.attributes) || parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  state.addAttribute("axes", parser.getBuilder().getArrayAttr(axes));
  while (succeeded(parser.parseOptionalComma()))
    if (parseMeshDevices(parser, state))
      return failure();
  return failure(parser.parseGreater() || parser.parseOptionalAttrDict(state.attributes));
}

LogicalResult MeshOp::verify() {
  llvm::SmallDenseSet<StringRef> names;
  for (MeshAxisAttr axis : getAxes().getAsRange<MeshAxisAttr>()) {
    if (!names.insert(axis.getName()).second)
      return emitOpError() << "expected axis names to be unique, got twice: " << axis.getName();
    if (axis.getSize() < 1)
      return emitOpError() << "expected axis sizes >= 1, got: " << axis.getName() << "="
                           << axis.getSize();
  }
  std::optional<ArrayRef<int64_t>> order = getDeviceOrder();
  if (!order)
    return success();
  if (static_cast<int64_t>(order->size()) != getNumDevices())
    return emitOpError() << "expected device_order to list every device, got: " << order->size()
                         << " != " << getNumDevices();
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t device : *order)
    if (device < 0 || device >= getNumDevices() || !seen.insert(device).second)
      return emitOpError() << "expected device_order to be a permutation of 0 to "
                           << getNumDevices() - 1 << ", got: " << device;
  return success();
}

int64_t MeshOp::getNumDevices() {
  int64_t devices = 1;
  for (MeshAxisAttr axis : getAxes().getAsRange<MeshAxisAttr>())
    devices *= axis.getSize();
  return devices;
}

bool MeshOp::hasSameDevices(MeshOp other) {
  return other == *this ||
         (other && other.getFirstDevice() == getFirstDevice() && other.getAxes() == getAxes() &&
          other.getDeviceOrderAttr() == getDeviceOrderAttr());
}

int64_t MeshOp::getAxisSize(StringRef name) {
  for (MeshAxisAttr axis : getAxes().getAsRange<MeshAxisAttr>())
    if (axis.getName() == name)
      return axis.getSize();
  return 0;
}

int64_t MeshOp::getSize(AxisRefAttr axis) {
  return axis.isFullAxis() ? getAxisSize(axis.getName()) : axis.getSize();
}

int64_t MeshOp::getSize(ArrayRef<AxisRefAttr> axes) {
  int64_t size = 1;
  for (AxisRefAttr axis : axes)
    size *= getSize(axis);
  return size;
}

int64_t MeshOp::getSize(ArrayAttr axes) { return getSize(getAxisRefs(axes)); }

int64_t MeshOp::getCoordinate(int64_t device, AxisRefAttr ref) {
  int64_t position = device;
  if (std::optional<ArrayRef<int64_t>> order = getDeviceOrder())
    position = llvm::find(*order, device) - order->begin();
  int64_t minor = getNumDevices();
  for (MeshAxisAttr axis : getAxes().getAsRange<MeshAxisAttr>()) {
    minor /= axis.getSize();
    if (axis.getName() != ref.getName())
      continue;
    int64_t coordinate = position / minor % axis.getSize();
    if (ref.isFullAxis())
      return coordinate;
    return coordinate / (axis.getSize() / (ref.getPre() * ref.getSize())) % ref.getSize();
  }
  return 0;
}

int64_t MeshOp::getCoordinate(int64_t device, ArrayRef<AxisRefAttr> axes) {
  int64_t coordinate = 0;
  for (AxisRefAttr axis : axes)
    coordinate = coordinate * getSize(axis) + getCoordinate(device, axis);
  return coordinate;
}

/// A number that tells apart the devices that differ in anything but `ref` on its axis.
static int64_t coordinateBeside(MeshOp mesh, int64_t device, MeshAxisAttr axis,
                                ArrayRef<AxisRefAttr> axes) {
  int64_t coordinate =
      mesh.getCoordinate(device, AxisRefAttr::get(axis.getContext(), axis.getName(), 1, 0));
  for (AxisRefAttr ref : axes) {
    if (ref.getName() != axis.getName())
      continue;
    int64_t minor = ref.isFullAxis() ? 1 : axis.getSize() / (ref.getPre() * ref.getSize());
    coordinate -= mesh.getCoordinate(device, ref) * minor;
  }
  return coordinate;
}

SmallVector<SmallVector<int64_t>> MeshOp::getGroups(ArrayRef<AxisRefAttr> axes) {
  llvm::MapVector<int64_t, SmallVector<int64_t>> groups;
  int64_t size = getSize(axes);
  for (int64_t device = 0, end = getNumDevices(); device < end; ++device) {
    int64_t key = 0;
    for (MeshAxisAttr axis : getAxes().getAsRange<MeshAxisAttr>())
      key = key * axis.getSize() + coordinateBeside(*this, device, axis, axes);
    SmallVector<int64_t> &group = groups[key];
    group.resize(size);
    group[getCoordinate(device, axes)] = device;
  }
  return llvm::to_vector(llvm::make_second_range(groups));
}

//===----------------------------------------------------------------------===//
// Collectives: the mesh, the axes and the shapes
//===----------------------------------------------------------------------===//

/// The mesh of a collective whose axes are checked; null after an error.
static MeshOp verifyMesh(Operation *op, SymbolTableCollection &tables, FlatSymbolRefAttr name,
                         ArrayAttr axes) {
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(op, name);
  if (!mesh) {
    op->emitOpError() << "expected the name of a dist.mesh, got: " << name;
    return nullptr;
  }
  if (failed(verifyAxes([&] { return op->emitOpError(); }, mesh, getAxisRefs(axes))))
    return nullptr;
  return mesh;
}

/// Checks that `type` is `from` with dimension `grow` multiplied and dimension `shrink` divided by
/// the group's size
/// (-1: none).
static LogicalResult verifyShapes(Operation *op, RankedTensorType from, RankedTensorType type,
                                  int64_t size, int64_t grow, int64_t shrink) {
  if (from.getElementType() != type.getElementType() || from.getRank() != type.getRank())
    return op->emitOpError() << "expected operand and result of one element type and rank, got: "
                             << from << " and " << type;
  for (int64_t dim : {grow, shrink})
    if (dim < -1 || dim >= from.getRank())
      return op->emitOpError() << "expected a dimension below the rank, got: " << dim
                               << " >= " << from.getRank();
  SmallVector<int64_t> shape(from.getShape());
  if (grow >= 0)
    shape[grow] *= size;
  if (shrink >= 0) {
    if (isPadded(shape[shrink], size))
      return op->emitOpError() << "expected the group to divide dimension " << shrink
                               << ", got: " << shape[shrink] << " over " << size;
    shape[shrink] = localExtent(shape[shrink], size);
  }
  if (ArrayRef<int64_t>(shape) != type.getShape())
    return op->emitOpError() << "expected the result's type to be " << from.clone(shape)
                             << ", got: " << type;
  return success();
}

/// The rule that all collectives along one dimension share.
template <typename OpT>
static LogicalResult verifyAlong(OpT op, SymbolTableCollection &tables, bool grows) {
  int64_t dim = op.getDim();
  if (dim < 0)
    return op.emitOpError() << "expected a dimension >= 0, got: " << dim;
  MeshOp mesh = verifyMesh(op, tables, op.getMeshAttr(), op.getAxes());
  if (!mesh)
    return failure();
  return verifyShapes(op, op.getInput().getType(), op.getType(), mesh.getSize(op.getAxes()),
                      grows ? dim : -1, grows ? -1 : dim);
}

LogicalResult AllGatherOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyAlong(*this, tables, /*grows=*/true);
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &tables) {
  return success(verifyMesh(*this, tables, getMeshAttr(), getAxes()) != nullptr);
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &tables) {
  int64_t split = getSplitDim(), concat = getConcatDim();
  if (split == concat || split < 0 || concat < 0)
    return emitOpError() << "expected two unlike dimensions >= 0, got: " << split << " and "
                         << concat;
  MeshOp mesh = verifyMesh(*this, tables, getMeshAttr(), getAxes());
  if (!mesh)
    return failure();
  return verifyShapes(*this, getInput().getType(), getType(), mesh.getSize(getAxes()), concat,
                      split);
}

LogicalResult MaskPaddingOp::verifySymbolUses(SymbolTableCollection &tables) {
  RankedTensorType type = getType();
  auto dim = static_cast<int64_t>(getDim()), extent = static_cast<int64_t>(getExtent());
  if (dim < 0 || dim >= type.getRank())
    return emitOpError() << "expected a dimension below the rank, got: " << dim
                         << " >= " << type.getRank();
  MeshOp mesh = verifyMesh(*this, tables, getMeshAttr(), getAxes());
  if (!mesh)
    return failure();
  int64_t held = type.getDimSize(dim) * mesh.getSize(getAxes());
  if (extent < 0 || extent > held)
    return emitOpError() << "expected an extent that the blocks hold, got: " << extent << " > "
                         << held;
  return success();
}

LogicalResult OffsetOp::verifySymbolUses(SymbolTableCollection &tables) {
  return success(verifyMesh(*this, tables, getMeshAttr(), getAxes()) != nullptr);
}

LogicalResult PermuteOp::verifySymbolUses(SymbolTableCollection &tables) {
  MeshOp mesh = verifyMesh(*this, tables, getMeshAttr(), getFrom());
  if (!mesh || !verifyMesh(*this, tables, getMeshAttr(), getTo()))
    return failure();
  SmallVector<AxisRefAttr> from = getAxisRefs(getFrom());
  SmallVector<AxisRefAttr> to = getAxisRefs(getTo());
  bool same = from.size() == to.size() &&
              llvm::all_of(to, [&](AxisRefAttr axis) { return llvm::is_contained(from, axis); });
  if (!same)
    return emitOpError() << "expected the same axes in another order, got: " << getFrom() << " and "
                         << getTo();
  return success();
}

LogicalResult ReduceScatterOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyAlong(*this, tables, /*grows=*/false);
}

LogicalResult dist::SliceOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyAlong(*this, tables, /*grows=*/false);
}

//===----------------------------------------------------------------------===//
// LoadShardOp
//===----------------------------------------------------------------------===//

/// Checks C2: the elements that the view names lie in a weight of `elements` elements.
static LogicalResult verifyView(LoadShardOp op, int64_t elements) {
  int64_t rank = op.getType().getRank();
  for (ArrayRef<int64_t> list : {op.getShape(), op.getStrides()})
    if (static_cast<int64_t>(list.size()) != rank)
      return op.emitOpError() << "expected one size and stride per dimension, got: " << list.size()
                              << " != " << rank;
  int64_t last = op.getStart();
  for (auto [size, stride] : llvm::zip_equal(op.getShape(), op.getStrides())) {
    if (size < 1 || stride < 0)
      return op.emitOpError() << "expected sizes >= 1 and strides >= 0, got: " << size << " and "
                              << stride;
    int64_t span = 0;
    if (llvm::MulOverflow(size - 1, stride, span) || llvm::AddOverflow(last, span, last))
      return op.emitOpError() << "expected the view to lie within its weight";
  }
  if (op.getStart() < 0 || last >= elements)
    return op.emitOpError() << "expected the view to lie within its weight's " << elements
                            << " elements, got: " << op.getStart() << " to " << last;
  return success();
}

/// Whether the view is the whole of a tensor of this type, in its own order.
static bool readsWholeWeight(LoadShardOp op, RankedTensorType whole) {
  int64_t stride = 1;
  bool rowMajor = op.getStart() == 0 && op.getShape() == whole.getShape();
  for (int64_t dim = whole.getRank(); rowMajor && dim-- > 0; stride *= whole.getDimSize(dim))
    rowMajor = op.getStrides()[dim] == stride;
  return rowMajor;
}

/// Checks that a sharding splits a tensor of type `whole` into blocks of type `local`.
static LogicalResult verifyBlock(Operation *op, SymbolTableCollection &tables,
                                 ShardingAttr sharding, RankedTensorType whole,
                                 RankedTensorType local, StringRef what) {
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(op, sharding.getMesh());
  if (!mesh)
    return op->emitOpError() << "expected the name of a dist.mesh, got: " << sharding.getMesh();
  if (failed(dist::verifySharding([&] { return op->emitOpError(); }, mesh, sharding, whole)))
    return failure();
  if (sharding.isPartial())
    return op->emitOpError() << "expected a sharding that is not partial, got: " << sharding;
  if (getLocalType(mesh, sharding, whole) != local)
    return op->emitOpError() << "expected the " << what << "'s type to be "
                             << getLocalType(mesh, sharding, whole) << ", got: " << local;
  return success();
}

LogicalResult LoadShardOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto weight = tables.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError() << "expected the name of a weft.weight, got: " << getWeightAttr();
  auto whole = cast<RankedTensorType>(weight.getType());
  if (whole.getElementType() != getType().getElementType())
    return emitOpError() << "expected the weight's element type " << whole.getElementType()
                         << ", got: " << getType().getElementType();
  if (failed(verifyView(*this, whole.getNumElements())))
    return failure();
  if (isChanged(weight.getKind()) && !readsWholeWeight(*this, whole))
    return emitOpError() << "expected the whole of a state, got a view of " << getWeightAttr();
  return verifyBlock(*this, tables, getSharding(), getType().clone(getShape()), getType(),
                     "result");
}

//===----------------------------------------------------------------------===//
// StoreShardOp
//===----------------------------------------------------------------------===//

LogicalResult StoreShardOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto weight = tables.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight || !isChanged(weight.getKind()))
    return emitOpError() << "expected the name of a weft.weight of kind state or trained, got: "
                         << getWeightAttr();
  return verifyBlock(*this, tables, getSharding(), cast<RankedTensorType>(weight.getType()),
                     getValue().getType(), "value");
}

//===----------------------------------------------------------------------===//
// TransferOp
//===----------------------------------------------------------------------===//

/// The global type that a block of type `local` is of.
static FailureOr<RankedTensorType> getGlobalType(TransferOp op, SymbolTableCollection &tables,
                                                 ShardingAttr sharding, RankedTensorType local) {
  auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(op, sharding.getMesh());
  if (!mesh)
    return op.emitOpError() << "expected the name of a dist.mesh, got: " << sharding.getMesh();
  if (sharding.isPartial())
    return op.emitOpError() << "expected shardings that are not partial, got: " << sharding;
  SmallVector<int64_t> shape(local.getShape());
  for (auto [size, dim] : llvm::zip(shape, sharding.getDims()))
    size *= mesh.getSize(dim.getAxes());
  // Of padded dimensions the blocks of both sides are the same.
  SmallVector<DimShardingAttr> dims;
  for (DimShardingAttr dim : sharding.getDims())
    dims.push_back(DimShardingAttr::get(op.getContext(), dim.getAxes()));
  sharding = ShardingAttr::get(op.getContext(), sharding.getMesh(), dims, {}, ReduceKind::Sum);
  RankedTensorType global = local.clone(shape);
  if (failed(dist::verifySharding([&] { return op.emitOpError(); }, mesh, sharding, global)))
    return failure();
  return global;
}

LogicalResult ResultOfOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto part = tables.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getPartAttr());
  if (!part)
    return emitOpError() << "expected the name of a function, got: " << getPartAttr();
  if (getNumber() >= part.getNumResults())
    return emitOpError() << "expected one of the " << part.getNumResults() << " results of "
                         << getPartAttr() << ", got number " << getNumber();
  if (Type type = part.getResultTypes()[getNumber()]; type != getType())
    return emitOpError() << "expected the type of what it stands for, got: " << getType()
                         << " != " << type;
  return success();
}

LogicalResult TransferOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (getFrom().getMesh() == getTo().getMesh())
    return emitOpError() << "expected two unlike meshes, got twice: " << getFrom().getMesh();
  FailureOr<RankedTensorType> from = getGlobalType(*this, tables, getFrom(), getInput().getType());
  FailureOr<RankedTensorType> to = getGlobalType(*this, tables, getTo(), getType());
  if (failed(from) || failed(to))
    return failure();
  if (*from != *to)
    return emitOpError() << "expected both sides to hold one global tensor, got: " << *from
                         << " != " << *to;
  return success();
}

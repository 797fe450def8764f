//===- KernelGraph.cpp - kernel functions as plain graphs -----------------===//

#include "compiler/Kernel/KernelGraph.h"

#include "compiler/Kernel/Arithmetic.h"
#include "compiler/Kernel/StateUpdates.h"
#include "compiler/Kernel/StridedView.h"
#include "dialects/Weft/IR/SourceName.h"
#include "dialects/Weft/IR/Verify.h"
#include "dialects/Weft/IR/Windows.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

namespace {

using Shape = ArrayRef<int64_t>;

/// Builds the nodes of one kernel function.
class GraphBuilder {
public:
  explicit GraphBuilder(func::FuncOp function) : function(function) {}

  FailureOr<Graph> run() {
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("expected a kernel of one block"), failure();
    for (BlockArgument argument : function.getArguments())
      if (failed(addArgument(argument)))
        return failure();
    for (Operation &op : function.getBody().front().without_terminator())
      if (failed(add(&op)))
        return failure();
    for (Value result : function.getBody().front().getTerminator()->getOperands())
      graph.outputs.push_back(numbers.lookup(result));
    addInPlace();
    return std::move(graph);
  }

private:
  /// Which results take the memory of arguments.
  void addInPlace() {
    unsigned number = 0; // of the arguments that are operands
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (function.getArgAttr(index, "exec.param"))
        continue;
      if (auto result = function.getArgAttrOfType<IntegerAttr>(index, inPlaceAttrName)) {
        InPlace each{number, static_cast<unsigned>(result.getInt()), {}, 0};
        const Node &node = graph[graph.outputs[each.result]];
        auto strides =
            function.getResultAttrOfType<DenseI64ArrayAttr>(each.result, stridesAttrName);
        ArrayRef<int64_t> list = strides ? strides.asArrayRef() : ArrayRef<int64_t>();
        each.strides.assign(list.begin(), list.end());
        if (!strides)
          each.strides = weft::getRowMajorStrides(node.shape);
        Value value = function.getBody().front().getTerminator()->getOperand(each.result);
        auto update = value.getDefiningOp<UpdateOpInterface>();
        const Node &written = update ? graph[numbers.lookup(update.getWritten())] : node;
        each.writtenBytes = written.size() * elementBytes(written.type);
        graph.inPlace.push_back(each);
      }
      ++number;
    }
  }

  //===--- Nodes -----------------------------------------------------------===//

  unsigned node(NodeKind kind, DType type, Shape shape, ArrayRef<unsigned> operands) {
    graph.nodes.push_back({std::move(kind), type, Dims(shape),
                           llvm::SmallVector<unsigned, 3>(operands.begin(), operands.end())});
    return graph.nodes.size() - 1;
  }
  unsigned reduce(ReduceKind kind, unsigned operand, ArrayRef<int64_t> dims) {
    Dims shape;
    for (auto [dim, extent] : llvm::enumerate(graph[operand].shape))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        shape.push_back(extent);
    DType type = graph[operand].type;
    if (graph[operand].size() == 0)
      return node(Identity{kind}, type, shape, {});
    return node(Reduce{kind, Dims(dims)}, type, shape, operand);
  }

  //===--- Functions -------------------------------------------------------===//

  LogicalResult addArgument(BlockArgument argument) {
    auto type = cast<RankedTensorType>(argument.getType());
    std::optional<DType> element = getDType(type.getElementType());
    if (!element)
      return function.emitOpError("expected kernel arguments of a weft element type, got: ")
             << type;
    unsigned index = argument.getArgNumber();
    if (function.getArgAttr(index, "exec.param")) {
      numbers[argument] = node(Param(), *element, type.getShape(), {});
      graph.params.push_back(numbers[argument]);
      return success();
    }
    Strides strides = getRowMajorStrides(type.getShape());
    if (auto given = function.getArgAttrOfType<DenseI64ArrayAttr>(index, stridesAttrName))
      strides.assign(given.asArrayRef().begin(), given.asArrayRef().end());
    numbers[argument] =
        node(Input{Dims(ArrayRef<int64_t>(strides))}, *element, type.getShape(), {});
    graph.inputs.push_back(numbers[argument]);
    return success();
  }

  LogicalResult add(Operation *op) {
    SmallVector<unsigned> in;
    for (Value operand : op->getOperands())
      in.push_back(numbers.lookup(operand));
    if (auto sort = dyn_cast<SortOp>(op))
      return addSort(sort, in);
    auto type =
        op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : nullptr;
    std::optional<DType> element = type ? getDType(type.getElementType()) : std::nullopt;
    if (!element)
      return op->emitOpError("cannot be part of a kernel");
    std::optional<NodeKind> kind = getKind(op, in);
    std::optional<unsigned> result =
        kind ? node(std::move(*kind), *element, type.getShape(), in) : addOther(op, *element, in);
    if (!result)
      return op->emitOpError("cannot be part of a kernel");
    numbers[op->getResult(0)] = *result;
    return success();
  }

  /// What the node of an operation does that is one node.
  std::optional<NodeKind> getKind(Operation *op, ArrayRef<unsigned> in) {
    if (auto elementwise = dyn_cast<ElementwiseOpInterface>(op))
      return Elementwise{getFunctionName(elementwise), getArithmeticCost(elementwise)};
    std::optional<NodeKind> kind = getMovement(op);
    return kind ? kind : getIndexing(op, in);
  }

  static std::optional<NodeKind> getMovement(Operation *op) {
    using Kind = std::optional<NodeKind>;
    return llvm::TypeSwitch<Operation *, Kind>(op)
        .Case([](BroadcastOp broadcast) { return Broadcast{Dims(broadcast.getDims())}; })
        .Case([](ConcatOp concat) { return Concat{static_cast<int64_t>(concat.getAxis())}; })
        .Case([](ConstantOp constant) { return Constant{getBytes(constant)}; })
        .Case([](CumsumOp sum) {
          return Cumsum{static_cast<int64_t>(sum.getAxis()), sum.getExclusive(), sum.getReverse()};
        })
        .Case([](IotaOp iota) { return Iota{static_cast<int64_t>(iota.getDim())}; })
        .Case([](PadOp pad) { return Pad{Dims(pad.getLow())}; })
        .Case([](ReshapeOp) { return Reshape(); })
        .Case([](ReverseOp reverse) { return Reverse{Dims(reverse.getDims())}; })
        .Case(
            [](SliceOp slice) { return Slice{Dims(slice.getStarts()), Dims(slice.getStrides())}; })
        .Case([](TransposeOp transpose) { return Transpose{Dims(transpose.getPermutation())}; })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// Operations that are other nodes, or several, as their shapes may be.
  std::optional<unsigned> addOther(Operation *op, DType type, ArrayRef<unsigned> in) {
    return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
        .Case([&](DotGeneralOp dot) { return addDot(dot, type, in); })
        .Case([&](ReduceOp sum) { return reduce(sum.getKind(), in[0], sum.getDims()); })
        .Case([&](ReduceWindowOp window) { return addReduceWindow(window, in[0]); })
        .Default([](Operation *) { return std::nullopt; });
  }

  unsigned addDot(DotGeneralOp dot, DType type, ArrayRef<unsigned> in) {
    Shape shape = dot.getResult().getType().getShape();
    if (graph[in[0]].size() == 0)
      return node(Identity{ReduceKind::Sum}, type, shape, {});
    return node(Dot{Dims(dot.getLhsBatch()), Dims(dot.getRhsBatch()), Dims(dot.getLhsContract()),
                    Dims(dot.getRhsContract())},
                type, shape, in);
  }

  /// Windows of the padded operand, joined over their elements. These dimensions come before the
  /// last one, so that neighbouring windows are lanes.
  std::optional<unsigned> addReduceWindow(ReduceWindowOp op, unsigned x) {
    SmallVector<WindowDim> windows = windowsOf(op);
    for (const WindowDim &dim : windows)
      if (dim.inputDilation != 1 || dim.low < 0 || dim.high < 0)
        return std::nullopt; // --weft-decompose-windows writes these out
    x = pad(x, windows, op.getKind());
    if (windows.empty())
      return x;
    Dims shape, joined;
    ArrayRef<int64_t> result = cast<RankedTensorType>(op.getType()).getShape();
    llvm::append_range(shape, result.drop_back());
    for (const WindowDim &dim : windows)
      if (dim.window != 1) {
        joined.push_back(shape.size());
        shape.push_back(dim.window);
      }
    shape.push_back(result.back());
    Windows kind;
    ArrayRef<int64_t> places = joined;
    for (auto [number, dim] : llvm::enumerate(windows)) {
      bool isLast = number == windows.size() - 1;
      Windows::Dim made{dim.stride, static_cast<int64_t>(isLast ? shape.size() - 1 : number),
                        dim.dilation, std::nullopt};
      if (dim.window != 1) {
        made.elementDim = places.front();
        places = places.drop_front();
      }
      kind.dims.push_back(made);
    }
    unsigned all = node(std::move(kind), graph[x].type, shape, x);
    return joined.empty() ? all : reduce(op.getKind(), all, joined);
  }

  /// The operand of windows with the reduction's identity around it.
  unsigned pad(unsigned x, ArrayRef<WindowDim> windows, ReduceKind kind) {
    Dims padded, low;
    for (const WindowDim &dim : windows) {
      padded.push_back(dim.low + dim.extent + dim.high);
      low.push_back(dim.low);
    }
    DType type = graph[x].type;
    if (padded == graph[x].shape)
      return x;
    unsigned fill = node(Identity{kind}, type, {}, {});
    return node(Pad{low}, type, padded, {x, fill});
  }

  static std::string getBytes(ConstantOp op) {
    auto elements = cast<DenseElementsAttr>(op.getValue());
    if (!elements.getElementType().isInteger(1))
      return std::string(elements.getRawData().begin(), elements.getRawData().end());
    if (elements.isSplat())
      return std::string(1, elements.getSplatValue<bool>() ? 1 : 0);
    std::string bytes;
    for (bool bit : elements.getValues<bool>())
      bytes.push_back(bit ? 1 : 0);
    return bytes;
  }

  /// Registers a check of an index of `op`, its second operand, against an extent; indices count
  /// from the end where negative. Unsigned ones beyond 63 bits are negative to the check.
  unsigned addCheck(Operation *op, int64_t extent) {
    int64_t low = elementOf(op->getOperand(1)).isUnsignedInteger() ? 0 : -extent;
    graph.checks.push_back({"index out of range", low, extent, getSourceName(op->getLoc()).str()});
    return graph.checks.size() - 1;
  }

  /// Indices that may lie anywhere count from the start alone.
  unsigned addScatterCheck(Operation *op, int64_t extent, bool drops) {
    unsigned check = addCheck(op, extent);
    if (drops)
      graph.checks[check].low = 0;
    return check;
  }

  std::optional<NodeKind> getIndexing(Operation *op, ArrayRef<unsigned> in) {
    using Kind = std::optional<NodeKind>;
    return llvm::TypeSwitch<Operation *, Kind>(op)
        .Case([&](GatherOp gather) {
          int64_t axis = gather.getAxis();
          int64_t extent = gather.getExtent() ? *gather.getExtent() : graph[in[0]].shape[axis];
          return Gather{axis, addCheck(op, extent)};
        })
        .Case([&](GatherElementsOp gather) {
          int64_t axis = gather.getAxis();
          return GatherElements{axis, addCheck(op, graph[in[0]].shape[axis])};
        })
        .Case([&](GatherNdOp gather) {
          int64_t batch = gather.getBatchDims();
          return GatherNd{batch, addTupleChecks(op, in, batch)};
        })
        .Case([&](ScatterElementsOp scatter) {
          int64_t axis = scatter.getAxis();
          int64_t extent = scatter.getExtent().value_or(graph[in[0]].shape[axis]);
          return ScatterElements{axis, addScatterCheck(op, extent, scatter.getDrop()),
                                 scatter.getDrop(), getJoin(scatter.getKind())};
        })
        .Case([&](ScatterNdOp scatter) {
          unsigned first = graph.checks.size();
          Shape shape = graph[in[0]].shape;
          for (int64_t dim = 0; dim < graph[in[1]].shape.back(); ++dim) {
            int64_t extent = dim == 0 ? scatter.getExtent().value_or(shape[0]) : shape[dim];
            addScatterCheck(op, extent, scatter.getDrop());
          }
          return ScatterNd{first, scatter.getDrop(), getJoin(scatter.getKind())};
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// How updates join with what is there; none where they take its place.
  static std::optional<ReduceKind> getJoin(ScatterKind kind) {
    switch (kind) {
    case ScatterKind::Set:
      return std::nullopt;
    case ScatterKind::Add:
      return ReduceKind::Sum;
    case ScatterKind::Mul:
      return ReduceKind::Prod;
    case ScatterKind::Max:
      return ReduceKind::Max;
    case ScatterKind::Min:
      return ReduceKind::Min;
    }
    llvm_unreachable("a scatter kind outside its enum");
  }

  /// One node a result.
  LogicalResult addSort(SortOp op, ArrayRef<unsigned> in) {
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      std::optional<DType> element = getDType(type.getElementType());
      if (!element)
        return op.emitOpError("cannot be part of a kernel");
      numbers[result] = node(Sort{static_cast<int64_t>(op.getAxis()), op.getDescending(),
                                  /*givesPlaces=*/result.getResultNumber() == 1},
                             *element, type.getShape(), in);
    }
    return success();
  }

  /// One check for each element of a tuple; returns the first one's number.
  unsigned addTupleChecks(Operation *op, ArrayRef<unsigned> in, int64_t batch) {
    unsigned first = graph.checks.size();
    for (int64_t dim = 0; dim < graph[in[1]].shape.back(); ++dim)
      addCheck(op, graph[in[0]].shape[batch + dim]);
    return first;
  }

  func::FuncOp function;
  Graph graph;
  DenseMap<Value, unsigned> numbers;
};

} // namespace

FailureOr<Graph> kernel::buildGraph(func::FuncOp kernel) { return GraphBuilder(kernel).run(); }

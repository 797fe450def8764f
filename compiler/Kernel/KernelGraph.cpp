//===- KernelGraph.cpp - kernel functions as plain graphs -----------------===//

#include "compiler/Kernel/KernelGraph.h"

#include "compiler/Kernel/Opcodes.h"
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

  unsigned node(Opcode op, DType type, Shape shape, ArrayRef<unsigned> operands,
                ArrayRef<int64_t> ints = {}) {
    Node made;
    made.op = op;
    made.type = type;
    made.shape.assign(shape.begin(), shape.end());
    made.operands.assign(operands.begin(), operands.end());
    made.ints.assign(ints.begin(), ints.end());
    graph.nodes.push_back(std::move(made));
    return graph.nodes.size() - 1;
  }
  /// A node like `of`, but for its operation and operands.
  unsigned like(unsigned of, Opcode op, ArrayRef<unsigned> operands) {
    Node &model = graph.nodes[of];
    SmallVector<int64_t, 4> shape = model.shape;
    return node(op, model.type, shape, operands);
  }
  unsigned splat(unsigned of, double value) {
    unsigned result = like(of, Opcode::Constant, {});
    setScalar(graph.nodes[result], value);
    return result;
  }
  static void setScalar(Node &constant, double value) {
    if (constant.type == DType::F64) {
      constant.data.assign(reinterpret_cast<const char *>(&value), sizeof(value));
      return;
    }
    // Written as f32; narrower floats are computed as f32, and hold their constants so.
    auto single = static_cast<float>(value);
    constant.type = DType::F32;
    constant.data.assign(reinterpret_cast<const char *>(&single), sizeof(single));
  }
  unsigned reduce(ReduceKind kind, unsigned operand, ArrayRef<int64_t> dims) {
    SmallVector<int64_t, 4> shape;
    for (auto [dim, extent] : llvm::enumerate(graph[operand].shape))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        shape.push_back(extent);
    bool isEmpty = graph[operand].size() == 0;
    unsigned result = isEmpty ? node(Opcode::Identity, graph[operand].type, shape, {})
                              : node(Opcode::Reduce, graph[operand].type, shape, operand, dims);
    graph.nodes[result].kind = static_cast<int>(kind);
    return result;
  }
  /// Repeats `rows`, a reduction of `of` along `dims`, over the whole of `of`.
  unsigned spread(unsigned rows, unsigned of, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < static_cast<int64_t>(graph[of].shape.size()); ++dim)
      if (!llvm::is_contained(dims, dim))
        kept.push_back(dim);
    unsigned result = like(of, Opcode::Broadcast, rows);
    graph.nodes[result].ints.assign(kept.begin(), kept.end());
    graph.nodes[result].type = graph[rows].type;
    return result;
  }
  unsigned slice(unsigned of, Shape starts, Shape shape, Shape strides) {
    SmallVector<int64_t> ints(starts);
    ints.append(strides.begin(), strides.end());
    return node(Opcode::Slice, graph[of].type, shape, of, ints);
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
      numbers[argument] = node(Opcode::Param, *element, type.getShape(), {});
      graph.params.push_back(numbers[argument]);
      return success();
    }
    Strides strides = getRowMajorStrides(type.getShape());
    if (auto given = function.getArgAttrOfType<DenseI64ArrayAttr>(index, stridesAttrName))
      strides.assign(given.asArrayRef().begin(), given.asArrayRef().end());
    numbers[argument] = node(Opcode::Input, *element, type.getShape(), {}, strides);
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
    std::optional<unsigned> result = addSimple(op, *element, type.getShape(), in);
    if (!result)
      result = addStructural(op, *element, type.getShape(), in);
    if (!result)
      result = addIndexing(op, *element, type.getShape(), in);
    if (!result)
      result = addSemantic(op, in);
    if (!result)
      return op->emitOpError("cannot be part of a kernel");
    numbers[op->getResult(0)] = *result;
    return success();
  }

  /// Operations that are one node without attributes.
  std::optional<unsigned> addSimple(Operation *op, DType type, Shape shape, ArrayRef<unsigned> in) {
    std::optional<Opcode> simple = getSimpleOpcode(op);
    return simple ? std::optional<unsigned>(node(*simple, type, shape, in)) : std::nullopt;
  }

  std::optional<unsigned> addStructural(Operation *op, DType type, Shape shape,
                                        ArrayRef<unsigned> in) {
    auto with = [&](Opcode kind, ArrayRef<int64_t> ints) {
      return node(kind, type, shape, in, ints);
    };
    return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
        .Case([&](BroadcastOp broadcast) { return with(Opcode::Broadcast, broadcast.getDims()); })
        .Case([&](CompareOp compare) {
          return with(Opcode::Compare, static_cast<int64_t>(compare.getDirection()));
        })
        .Case([&](ConcatOp concat) {
          return with(Opcode::Concat, static_cast<int64_t>(concat.getAxis()));
        })
        .Case([&](ConstantOp constant) { return addConstant(constant, type, shape); })
        .Case([&](CumsumOp sum) {
          return with(Opcode::Cumsum,
                      {static_cast<int64_t>(sum.getAxis()), sum.getExclusive(), sum.getReverse()});
        })
        .Case([&](IotaOp iota) { return with(Opcode::Iota, static_cast<int64_t>(iota.getDim())); })
        .Case([&](PadOp pad) { return with(Opcode::Pad, pad.getLow()); })
        .Case([&](ReduceOp sum) { return reduce(sum.getKind(), in[0], sum.getDims()); })
        .Case([&](ReduceWindowOp window) { return addReduceWindow(window, in[0]); })
        .Case([&](ReverseOp reverse) { return with(Opcode::Reverse, reverse.getDims()); })
        .Case([&](SliceOp op) { return slice(in[0], op.getStarts(), shape, op.getStrides()); })
        .Case([&](TransposeOp transpose) {
          return with(Opcode::Transpose, transpose.getPermutation());
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// Windows of the padded operand, joined over their elements. These dimensions come before the
  /// last one, so that neighbouring windows are lanes.
  std::optional<unsigned> addReduceWindow(ReduceWindowOp op, unsigned x) {
    SmallVector<WindowDim> windows = windowsOf(op);
    SmallVector<int64_t, 4> padded, low, shape, ints, joined;
    ArrayRef<int64_t> result = cast<RankedTensorType>(op.getType()).getShape();
    int64_t rank = windows.size();
    for (const WindowDim &dim : windows) {
      if (dim.inputDilation != 1 || dim.low < 0 || dim.high < 0)
        return std::nullopt; // --weft-decompose-windows writes these out
      padded.push_back(dim.low + dim.extent + dim.high);
      low.push_back(dim.low);
    }
    if (padded != graph[x].shape) {
      unsigned fill = node(Opcode::Identity, graph[x].type, {}, {});
      graph.nodes[fill].kind = static_cast<int>(op.getKind());
      x = node(Opcode::Pad, graph[x].type, padded, {x, fill}, low);
    }
    if (rank == 0)
      return x;
    llvm::append_range(shape, result.drop_back());
    for (const WindowDim &dim : windows)
      if (dim.window != 1) {
        joined.push_back(shape.size());
        shape.push_back(dim.window);
      }
    shape.push_back(result.back());
    ArrayRef<int64_t> places = joined;
    for (auto [number, dim] : llvm::enumerate(windows)) {
      bool isLast = static_cast<int64_t>(number) == rank - 1;
      bool hasElements = dim.window != 1;
      int64_t position = isLast ? shape.size() - 1 : number;
      ints.append({dim.stride, position, dim.dilation, hasElements ? places.front() : -1});
      places = places.drop_front(hasElements);
    }
    unsigned all = node(Opcode::Windows, graph[x].type, shape, x, ints);
    return joined.empty() ? all : reduce(op.getKind(), all, joined);
  }

  unsigned addConstant(ConstantOp op, DType type, Shape shape) {
    auto elements = cast<DenseElementsAttr>(op.getValue());
    unsigned result = node(Opcode::Constant, type, shape, {});
    std::string &data = graph.nodes[result].data;
    if (type != DType::I1) {
      data.assign(elements.getRawData().begin(), elements.getRawData().end());
    } else if (elements.isSplat()) {
      data.push_back(elements.getSplatValue<bool>() ? 1 : 0);
    } else {
      for (bool bit : elements.getValues<bool>())
        data.push_back(bit ? 1 : 0);
    }
    return result;
  }

  /// Registers a check of an index of `op`, its second operand, against an extent; indices count
  /// from the end where negative. Unsigned ones beyond 63 bits are negative to the check.
  int64_t addCheck(Operation *op, int64_t extent) {
    int64_t low = elementOf(op->getOperand(1)).isUnsignedInteger() ? 0 : -extent;
    graph.checks.push_back({"index out of range", low, extent, getSourceName(op->getLoc()).str()});
    return graph.checks.size() - 1;
  }

  /// Indices that may lie anywhere count from the start alone.
  int64_t addScatterCheck(Operation *op, int64_t extent, bool drops) {
    int64_t check = addCheck(op, extent);
    if (drops)
      graph.checks[check].low = 0;
    return check;
  }

  std::optional<unsigned> addIndexing(Operation *op, DType type, Shape shape,
                                      ArrayRef<unsigned> in) {
    auto make = [&](Opcode kind, ArrayRef<int64_t> ints, int joined = 0) {
      unsigned result = node(kind, type, shape, in, ints);
      graph.nodes[result].kind = joined;
      return result;
    };
    return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
        .Case([&](GatherOp gather) {
          int64_t axis = gather.getAxis();
          int64_t extent = gather.getExtent() ? *gather.getExtent() : graph[in[0]].shape[axis];
          return make(Opcode::Gather, {axis, addCheck(op, extent)});
        })
        .Case([&](GatherElementsOp gather) {
          int64_t axis = gather.getAxis();
          return make(Opcode::GatherElements, {axis, addCheck(op, graph[in[0]].shape[axis])});
        })
        .Case([&](GatherNdOp gather) {
          int64_t batch = gather.getBatchDims();
          return make(Opcode::GatherNd, {batch, addTupleChecks(op, in, batch)});
        })
        .Case([&](ScatterElementsOp scatter) {
          int64_t axis = scatter.getAxis();
          int64_t extent = scatter.getExtent().value_or(shape[axis]);
          return make(Opcode::ScatterElements,
                      {axis, addScatterCheck(op, extent, scatter.getDrop()), scatter.getDrop()},
                      static_cast<int>(scatter.getKind()));
        })
        .Case([&](ScatterNdOp scatter) {
          int64_t first = graph.checks.size();
          for (int64_t dim = 0; dim < graph[in[1]].shape.back(); ++dim) {
            int64_t extent = dim == 0 ? scatter.getExtent().value_or(shape[0]) : shape[dim];
            addScatterCheck(op, extent, scatter.getDrop());
          }
          return make(Opcode::ScatterNd, {first, scatter.getDrop()},
                      static_cast<int>(scatter.getKind()));
        })
        .Case([&](DotGeneralOp dot) {
          SmallVector<int64_t> ints{static_cast<int64_t>(dot.getLhsBatch().size()),
                                    static_cast<int64_t>(dot.getLhsContract().size())};
          for (ArrayRef<int64_t> dims :
               {dot.getLhsBatch(), dot.getRhsBatch(), dot.getLhsContract(), dot.getRhsContract()})
            llvm::append_range(ints, dims);
          bool isEmpty = graph[in[0]].size() == 0;
          return isEmpty ? node(Opcode::Identity, type, shape, {}) : make(Opcode::Dot, ints);
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  /// One node a result.
  LogicalResult addSort(SortOp op, ArrayRef<unsigned> in) {
    for (OpResult result : op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      std::optional<DType> element = getDType(type.getElementType());
      if (!element)
        return op.emitOpError("cannot be part of a kernel");
      unsigned made = node(Opcode::Sort, *element, type.getShape(), in,
                           {static_cast<int64_t>(op.getAxis()), op.getDescending()});
      graph.nodes[made].kind = result.getResultNumber();
      numbers[result] = made;
    }
    return success();
  }

  /// One check for each element of a tuple; returns the first one's number.
  int64_t addTupleChecks(Operation *op, ArrayRef<unsigned> in, int64_t batch) {
    int64_t first = graph.checks.size();
    for (int64_t dim = 0; dim < graph[in[1]].shape.back(); ++dim)
      addCheck(op, graph[in[0]].shape[batch + dim]);
    return first;
  }

  //===--- Semantic operations written out ---------------------------------===//

  std::optional<unsigned> addSemantic(Operation *op, ArrayRef<unsigned> in) {
    return llvm::TypeSwitch<Operation *, std::optional<unsigned>>(op)
        .Case([&](GeluOp gelu) { return addGelu(in[0], gelu.getForm()); })
        .Case([&](LayerNormOp norm) {
          return addNorm(in, norm.getAxis(), norm.getEpsilon().convertToDouble(),
                         bool(norm.getScale()), bool(norm.getBias()), /*center=*/true);
        })
        .Case([&](ReciprocalOp) { return like(in[0], Opcode::Div, {splat(in[0], 1), in[0]}); })
        .Case([&](RmsNormOp norm) {
          return addNorm(in, norm.getAxis(), norm.getEpsilon().convertToDouble(),
                         bool(norm.getScale()),
                         /*bias=*/false, /*center=*/false);
        })
        .Case([&](RotaryOp rotary) { return addRotary(in, rotary.getInterleaved()); })
        .Case([&](SigmoidOp) { return addSigmoid(in[0]); })
        .Case([&](SoftmaxOp softmax) { return addSoftmax(in[0], softmax.getAxis()); })
        .Default([](Operation *) { return std::nullopt; });
  }

  unsigned addSigmoid(unsigned x) {
    unsigned one = splat(x, 1);
    unsigned exponential = like(x, Opcode::Exp, like(x, Opcode::Neg, x));
    return like(x, Opcode::Div, {one, like(x, Opcode::Add, {one, exponential})});
  }

  unsigned addGelu(unsigned x, GeluForm form) {
    if (form == GeluForm::Erf) {
      unsigned erf =
          like(x, Opcode::Erf, like(x, Opcode::Mul, {x, splat(x, 0.70710678118654752440)}));
      unsigned sum = like(x, Opcode::Add, {splat(x, 1), erf});
      return like(x, Opcode::Mul, {like(x, Opcode::Mul, {x, splat(x, 0.5)}), sum});
    }
    // x/2 · (1 + tanh u) = x · sigmoid(2u), with u = √(2/π)·x·(1 + 0.044715·x²).
    unsigned square = like(x, Opcode::Mul, {x, x});
    unsigned factor =
        like(x, Opcode::Add, {splat(x, 1), like(x, Opcode::Mul, {square, splat(x, 0.044715)})});
    unsigned u2 =
        like(x, Opcode::Mul, {like(x, Opcode::Mul, {x, splat(x, 1.59576912160573071176)}), factor});
    return like(x, Opcode::Mul, {x, addSigmoid(u2)});
  }

  unsigned addSoftmax(unsigned x, int64_t axis) {
    unsigned top = reduce(ReduceKind::Max, x, axis);
    unsigned exponential = like(x, Opcode::Exp, like(x, Opcode::Sub, {x, spread(top, x, axis)}));
    unsigned sum = reduce(ReduceKind::Sum, exponential, axis);
    unsigned inverse = like(sum, Opcode::Div, {splat(sum, 1), sum});
    return like(x, Opcode::Mul, {exponential, spread(inverse, x, axis)});
  }

  unsigned addNorm(ArrayRef<unsigned> in, int64_t axis, double epsilon, bool scale, bool bias,
                   bool center) {
    unsigned x = in[0];
    int64_t rank = graph[x].shape.size();
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
    double count = 1;
    for (int64_t dim : dims)
      count *= graph[x].shape[dim];
    auto mean = [&](unsigned of) {
      unsigned sum = reduce(ReduceKind::Sum, of, dims);
      return like(sum, Opcode::Mul, {sum, splat(sum, 1 / count)});
    };
    unsigned centered = center ? like(x, Opcode::Sub, {x, spread(mean(x), x, dims)}) : x;
    unsigned variance = mean(like(x, Opcode::Mul, {centered, centered}));
    unsigned factor = like(variance, Opcode::Rsqrt,
                           like(variance, Opcode::Add, {variance, splat(variance, epsilon)}));
    unsigned result = like(x, Opcode::Mul, {centered, spread(factor, x, dims)});
    auto column = [&](unsigned of) {
      unsigned made = like(x, Opcode::Broadcast, of);
      graph.nodes[made].ints.assign(dims.begin(), dims.end());
      return made;
    };
    if (scale)
      result = like(x, Opcode::Mul, {result, column(in[1])});
    if (bias)
      result = like(x, Opcode::Add, {result, column(in[scale ? 2 : 1])});
    return result;
  }

  /// Slices the pairs apart, rotates them, and joins them again.
  unsigned addRotary(ArrayRef<unsigned> in, bool interleaved) {
    unsigned x = in[0];
    SmallVector<int64_t, 4> shape = graph[x].shape;
    int64_t half = graph[in[1]].shape.back(), rest = shape[3] - 2 * half;
    SmallVector<int64_t, 4> part = shape;
    part[3] = half;
    SmallVector<int64_t, 4> zero(4, 0), second(4, 0), steps(4, 1);
    second[3] = interleaved ? 1 : half;
    steps[3] = interleaved ? 2 : 1;
    unsigned first = slice(x, zero, part, steps), other = slice(x, second, part, steps);
    auto table = [&](unsigned of) {
      return node(Opcode::Broadcast, graph[of].type, part, of, {0, 2, 3});
    };
    unsigned cosine = table(in[1]), sine = table(in[2]);
    auto times = [&](unsigned a, unsigned b) { return like(first, Opcode::Mul, {a, b}); };
    unsigned low = like(first, Opcode::Sub, {times(first, cosine), times(other, sine)});
    unsigned high = like(first, Opcode::Add, {times(other, cosine), times(first, sine)});
    DType type = graph[x].type;
    SmallVector<unsigned> parts{low, high};
    if (interleaved) {
      SmallVector<int64_t> single{shape[0], shape[1], shape[2], half, 1},
          pairs{shape[0], shape[1], shape[2], half, 2};
      unsigned joined = node(
          Opcode::Concat, type, pairs,
          {node(Opcode::Reshape, type, single, low), node(Opcode::Reshape, type, single, high)}, 4);
      part[3] = 2 * half;
      parts = {node(Opcode::Reshape, type, part, joined)};
    }
    if (rest > 0) {
      part[3] = rest;
      zero[3] = 2 * half;
      parts.push_back(slice(x, zero, part, {1, 1, 1, 1}));
    }
    return parts.size() == 1 ? parts[0] : node(Opcode::Concat, type, shape, parts, 3);
  }

  func::FuncOp function;
  Graph graph;
  DenseMap<Value, unsigned> numbers;
};

} // namespace

FailureOr<Graph> kernel::buildGraph(func::FuncOp kernel) { return GraphBuilder(kernel).run(); }

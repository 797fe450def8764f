//===- Conv.cpp - convolutions by cuDNN -----------------------------------===//
//
// cuDNN has engines for many layouts, and not for all. A convolution is asked for
//
//   as its operands lie,
//   with row-major copies of those that lie otherwise,
//   with a copy of the input among its padding besides: what has other pads at its end than at its
//   beginning, or pads wider than its window, few engines know,
//
// and the first that has an engine is taken. Copies lie in the stream's workspace, behind that of
// the engine. Pads below 0 leave elements out: the input's view is made smaller. With less than two
// spatial dimensions, dimensions of extent 1 come before them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/Conv.h"

#include "runtime/Cuda/Commands.h"
#include "runtime/Cuda/ConvPlan.h"
#include "runtime/Cuda/StridedCopy.h"
#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr size_t leastSpatial = 2, mostSpatial = 3; // that cuDNN has
constexpr int64_t regionAlignment = 256;            // bytes, of what lies in a workspace
constexpr int64_t wantedAlignment = 16;             // bytes; no engine asks for more

/// A call with its operands named as in the convolution itself, whose kernel's gradient it may be.
struct Operands {
  View input, kernel, output;
  std::vector<int64_t> strides, low, high, dilations;
  int64_t groups;
  bool kernelGradient;

  View &getResult() { return kernelGradient ? kernel : output; }
};

Operands getOperands(const ConvCall &call) {
  const View &kernel = call.kernelGradient ? call.output : call.kernel;
  const View &output = call.kernelGradient ? call.kernel : call.output;
  return {call.input, kernel,         output,      call.strides,       call.low,
          call.high,  call.dilations, call.groups, call.kernelGradient};
}

/// "f32[2, 3, 8, 8] by [4, 3, 3, 3] to [2, 4, 8, 8], strides [1, 1], …".
std::string describe(const Operands &operands) {
  auto list = [](const std::vector<int64_t> &values) {
    return fmt::format("[{}]", fmt::join(values, ", "));
  };
  return fmt::format("{}{}{} by {} to {}, strides {}, pads {} and {}, dilations {}, groups {}",
                     operands.kernelGradient ? "gradient of the kernel, " : "",
                     getName(operands.input.dtype), list(operands.input.shape),
                     list(operands.kernel.shape), list(operands.output.shape),
                     list(operands.strides), list(operands.low), list(operands.high),
                     list(operands.dilations), operands.groups);
}

/// Positions of a window in one spatial dimension, with so much padding at its end; 0: it is wider.
int64_t countPositions(const Operands &operands, size_t dim, int64_t high) {
  int64_t window = (operands.kernel.shape[dim + 2] - 1) * operands.dilations[dim] + 1;
  int64_t room = operands.input.shape[dim + 2] + operands.low[dim] + high - window;
  return room < 0 ? 0 : room / operands.strides[dim] + 1;
}

/// Whether shapes and geometry describe a convolution.
bool isConsistent(const Operands &operands) {
  const std::vector<int64_t> &input = operands.input.shape, &kernel = operands.kernel.shape,
                             &output = operands.output.shape;
  size_t rank = output.size();
  if (rank < 2 || rank > mostSpatial + 2 || input.size() != rank || kernel.size() != rank)
    return false;
  for (const auto *values : {&operands.strides, &operands.low, &operands.high, &operands.dilations})
    if (values->size() != rank - 2)
      return false;
  bool good = operands.groups >= 1 && input[0] == output[0] && kernel[0] == output[1] &&
              output[1] % operands.groups == 0 && kernel[1] * operands.groups == input[1];
  for (size_t dim = 0; good && dim + 2 < rank; ++dim)
    good = operands.strides[dim] >= 1 && operands.dilations[dim] >= 1 && output[dim + 2] >= 1 &&
           countPositions(operands, dim, operands.high[dim]) == output[dim + 2];
  return good;
}

/// Leaves out of the input what pads below 0 take away. It may have no elements then.
void crop(Operands &operands) {
  View &input = operands.input;
  for (size_t dim = 0; dim < operands.low.size(); ++dim) {
    int64_t &extent = input.shape[dim + 2];
    int64_t before = std::max<int64_t>(-operands.low[dim], 0);
    int64_t after = std::max<int64_t>(-operands.high[dim], 0);
    input.offset += std::min(before, extent) * input.strides[dim + 2] * getElementSize(input.dtype);
    extent = std::max<int64_t>(extent - before - after, 0);
    operands.low[dim] += before;
    operands.high[dim] += after;
  }
}

void addSpatialDims(Operands &operands) {
  while (operands.strides.size() < leastSpatial) {
    for (View *view : {&operands.input, &operands.kernel, &operands.output}) {
      view->shape.insert(view->shape.begin() + 2, 1);
      view->strides.insert(view->strides.begin() + 2, 1);
    }
    operands.strides.insert(operands.strides.begin(), 1);
    operands.low.insert(operands.low.begin(), 0);
    operands.high.insert(operands.high.begin(), 0);
    operands.dilations.insert(operands.dilations.begin(), 1);
  }
}

/// Makes pads the same on both sides where windows do not reach what differs.
void evenPads(Operands &operands) {
  for (size_t dim = 0; dim < operands.low.size(); ++dim)
    if (countPositions(operands, dim, operands.low[dim]) == operands.output.shape[dim + 2])
      operands.high[dim] = operands.low[dim];
}

std::vector<int64_t> getChannelsLastStrides(std::vector<int64_t> shape) {
  std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  std::vector<int64_t> strides = getRowMajorStrides(shape);
  std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
  return strides;
}

/// Strides that say the same, and of dimensions of extent 1 what their neighbours lead one to
/// expect: engines are chosen by them.
std::vector<int64_t> getPlainStrides(const View &view) {
  auto fits = [&](const std::vector<int64_t> &strides) {
    for (size_t dim = 0; dim < strides.size(); ++dim)
      if (view.shape[dim] != 1 && view.strides[dim] != strides[dim])
        return false;
    return true;
  };
  for (const auto &strides : {getRowMajorStrides(view.shape), getChannelsLastStrides(view.shape)})
    if (fits(strides))
      return strides;
  std::vector<int64_t> strides = view.strides;
  int64_t all = 1;
  for (size_t dim = 0; dim < strides.size(); ++dim)
    if (view.shape[dim] != 1)
      all = std::max(all, view.shape[dim] * strides[dim]);
  for (size_t dim = 0; dim < strides.size(); ++dim)
    if (view.shape[dim] == 1)
      strides[dim] = all;
  return strides;
}

ConvTensor describeAsItLies(const View &view) {
  int64_t alignment = wantedAlignment;
  while (view.offset % alignment != 0) // where frames begin pages do
    alignment /= 2;
  return {view.shape, getPlainStrides(view), alignment};
}

/// cuDNN takes no broadcasts.
bool hasStrides(const View &view) {
  for (size_t dim = 0; dim < view.shape.size(); ++dim)
    if (view.shape[dim] != 1 && view.strides[dim] < 1)
      return false;
  return true;
}

/// A packed copy of an operand in the workspace.
struct Copied {
  StridedCopy copy; ///< from the operand, or of a result to it
  int64_t offset;   ///< of the copy, in bytes of the workspace
  int64_t bytes;
  int64_t first;  ///< bytes of the copy before the operand's first element
  bool hasMargin; ///< of zeros
};

/// A way to compute a convolution.
struct Way {
  std::optional<ConvPlan> plan;
  std::array<std::optional<Copied>, 3> copies; ///< of input, kernel, output; none: as it lies
  int64_t workspaceBytes = 0;
};

int64_t alignRegion(int64_t bytes) {
  return (bytes + regionAlignment - 1) / regionAlignment * regionAlignment;
}

View makeRowMajor(const View &view, std::vector<int64_t> shape) {
  View made = view;
  made.offset = 0;
  made.strides = getRowMajorStrides(shape);
  made.shape = std::move(shape);
  return made;
}

/// What row-major copies are like, the input's with `low` and `high` zeros around it.
Copied makeCopy(const View &view, bool isResult, const std::vector<int64_t> &low,
                const std::vector<int64_t> &high, ConvTensor &tensor) {
  std::vector<int64_t> shape = view.shape;
  for (size_t dim = 0; dim < low.size(); ++dim)
    shape[dim + 2] += low[dim] + high[dim];
  View whole = makeRowMajor(view, shape), inner = whole;
  inner.shape = view.shape;
  int64_t first = 0;
  for (size_t dim = 0; dim < low.size(); ++dim)
    first += low[dim] * whole.strides[dim + 2];
  tensor = ConvTensor::makePacked(std::move(shape));
  return {isResult ? StridedCopy(inner, view) : StridedCopy(view, inner), 0, whole.getNumBytes(),
          first * getElementSize(view.dtype), inner.shape != whole.shape};
}

enum class Packing {
  None,     ///< operands as they lie
  RowMajor, ///< copies of those that are not row-major
  Padded    ///< and one of the input with its padding
};

/// None where no engine can compute it that way; `reason` is why.
std::optional<Way> findWay(const CudaContext &context, const Operands &operands, Packing packing,
                           std::string &reason) {
  std::vector<int64_t> none(operands.low.size(), 0);
  bool isPadded = packing == Packing::Padded;
  ConvProblem problem{operands.input.dtype,
                      operands.kernelGradient,
                      {},
                      {},
                      {},
                      operands.strides,
                      isPadded ? none : operands.low,
                      isPadded ? none : operands.high,
                      operands.dilations};
  const std::array<const View *, 3> views = {&operands.input, &operands.kernel, &operands.output};
  const std::array<ConvTensor *, 3> tensors = {&problem.input, &problem.kernel, &problem.output};
  size_t result = operands.kernelGradient ? 1 : 2;
  Way way;
  for (size_t i = 0; i < views.size(); ++i) {
    *tensors[i] = describeAsItLies(*views[i]);
    bool padsThis = isPadded && i == 0;
    if (packing != Packing::None && (padsThis || !views[i]->isContiguous()))
      way.copies[i] = makeCopy(*views[i], i == result, padsThis ? operands.low : none,
                               padsThis ? operands.high : none, *tensors[i]);
    else if (!hasStrides(*views[i]))
      return std::nullopt;
  }
  way.plan = ConvPlan::make(context, problem, reason);
  if (!way.plan)
    return std::nullopt;
  way.workspaceBytes = alignRegion(way.plan->getWorkspaceBytes());
  for (std::optional<Copied> &copied : way.copies)
    if (copied) {
      copied->offset = way.workspaceBytes;
      way.workspaceBytes += alignRegion(copied->bytes);
    }
  return way;
}

Way chooseWay(const CudaContext &context, const Operands &operands) {
  std::string reason = "strides below 1";
  for (Packing packing : {Packing::None, Packing::RowMajor, Packing::Padded})
    if (std::optional<Way> way = findWay(context, operands, packing, reason))
      return std::move(*way);
  throwBadInput("no engine of cuDNN computes the convolution {}: {}", describe(operands), reason);
}

class ConvCommand : public Command {
public:
  ConvCommand(CudaContext &context, Operands given, const std::optional<EpilogueCall> &then)
      : context(context), operands(std::move(given)) {
    if (then)
      epilogue = makeLaunchCommand(context, then->launch);
    if (operands.getResult().getNumElements() == 0)
      return;
    if (operands.input.getNumElements() == 0 || operands.kernel.getNumElements() == 0 ||
        operands.output.getNumElements() == 0) {
      const View &result = operands.getResult();
      zeros.emplace(result, std::string(getElementSize(result.dtype), '\0'));
      return;
    }
    way = chooseWay(context, operands);
    context.reserveWorkspace(way->workspaceBytes);
  }

  void initialise() override {
    if (epilogue)
      epilogue->initialise();
  }

  void enqueue(const DeviceBases &bases, Stream &given) override {
    auto &stream = static_cast<CudaStream &>(given);
    if (zeros)
      zeros->enqueue(context, toPointer(operands.getResult().getAddress(bases)), stream);
    if (way)
      convolve(bases, stream);
    if (epilogue)
      epilogue->enqueue(bases, stream);
  }

private:
  void convolve(const DeviceBases &bases, CudaStream &stream) {
    CUdeviceptr workspace = way->workspaceBytes == 0 ? 0 : stream.getWorkspace(way->workspaceBytes);
    size_t result = operands.kernelGradient ? 1 : 2;
    ConvPlan::Addresses addresses = {toPointer(operands.input.getAddress(bases)),
                                     toPointer(operands.kernel.getAddress(bases)),
                                     toPointer(operands.output.getAddress(bases)),
                                     way->plan->getWorkspaceBytes() == 0 ? 0 : workspace};
    CUdeviceptr to = addresses[result];
    for (size_t i = 0; i < way->copies.size(); ++i)
      if (const std::optional<Copied> &copied = way->copies[i]) {
        CUdeviceptr copy = workspace + copied->offset;
        if (copied->hasMargin)
          check(cuMemsetD8Async(copy, 0, copied->bytes, stream.get()), "cuMemsetD8Async");
        if (i != result)
          copied->copy.enqueue(context, addresses[i], copy + copied->first, stream);
        addresses[i] = copy;
      }
    way->plan->enqueue(addresses, stream.get());
    if (const std::optional<Copied> &copied = way->copies[result])
      copied->copy.enqueue(context, addresses[result], to, stream);
  }

  CudaContext &context;
  Operands operands;
  std::optional<StridedFill> zeros; ///< where nothing is summed
  std::optional<Way> way;           ///< neither: there is no result
  std::unique_ptr<Command> epilogue;
};

} // namespace

std::unique_ptr<Command> makeConvCommand(CudaContext &context, ConvCall call) {
  Operands operands = getOperands(call);
  if (operands.input.dtype != operands.output.dtype ||
      operands.kernel.dtype != operands.output.dtype || !isConsistent(operands))
    throwBadInput("a convolution of operands that do not fit");
  crop(operands);
  addSpatialDims(operands);
  evenPads(operands);
  return std::make_unique<ConvCommand>(context, std::move(operands), call.epilogue);
}

} // namespace weft::runtime

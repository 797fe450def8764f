//===- Gemm.cpp - batched matrix products ---------------------------------===//
//
// Floats are multiplied by cuBLASLt, operands that it does not take as they lie by way of copies in
// the stream's workspace:
//
//   [what the library works in | a | b | c], each at a multiple of 256 bytes
//
// Integers, modulo 2^bits, by a kernel of DeviceFunctions.cpp that takes any strides.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/BlasProduct.h"
#include "runtime/Cuda/Commands.h"
#include "runtime/Cuda/GemmPlan.h"
#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t blockAlignment = 256; // of arenas, their frames, and the workspace

CUdeviceptr getAddress(const View &view, const DeviceBases &bases) {
  return toPointer(view.getAddress(bases));
}

/// A product without elements to multiply: c becomes 0, or stays as it is.
class EmptyProduct : public Command {
public:
  EmptyProduct(CudaContext &context, const GemmCall &call) {
    if (!call.accumulate)
      fill = makeFillCommand(
          context, {call.c, std::string(static_cast<size_t>(getElementSize(call.c.dtype)), '\0')});
  }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    if (fill)
      fill->enqueue(bases, stream);
  }

private:
  std::unique_ptr<Command> fill;
};

class FloatProduct : public Command {
public:
  FloatProduct(CudaContext &context, GemmCall given) : context(context), call(std::move(given)) {
    size = getElementSize(call.c.dtype);
    mergeBatchIntoRows(call);
    if (Layout layout = getMatrixLayout(call.c); layout.fits && layout.transpose == 'T') {
      transposeProduct(call);
      mergeBatchIntoRows(call);
    }
    views = {call.a, call.b, call.c};
    packOperands();
    GemmCall laidOut{views[0], views[1], views[2], call.accumulate};
    batches.emplace(laidOut);
    product.emplace(call.c.dtype, describe(0), describe(1), describe(2), batches->count,
                    call.accumulate);
    context.reserveWorkspace(workspaceBytes);
  }

  void initialise() override { product->chooseAlgorithm(context); }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    auto &own = static_cast<CudaStream &>(stream);
    CUdeviceptr workspace = own.getWorkspace(workspaceBytes);
    std::array<CUdeviceptr, 3> at;
    for (size_t i = 0; i < at.size(); ++i) {
      at[i] = packed[i] ? workspace + views[i].offset : getAddress(views[i], bases);
      if (packed[i] && (i != 2 || call.accumulate))
        packed[i]->in.enqueue(context, getAddress(getOperand(i), bases), at[i], own);
    }
    for (const OfOperands &start : batches->starts)
      product->enqueue(context, at[0] + start[0] * size, at[1] + start[1] * size,
                       at[2] + start[2] * size, workspace, own.get());
    if (packed[2])
      packed[2]->out.enqueue(context, at[2], getAddress(call.c, bases), own);
  }

private:
  const View &getOperand(size_t i) const { return i == 0 ? call.a : i == 1 ? call.b : call.c; }

  void packOperands() {
    for (size_t i = 0; i < views.size(); ++i) {
      // Of c, columns side by side would do no more: what has them was transposed before.
      if (getMatrixLayout(views[i]).fits)
        continue;
      packed[i] = packOperand(views[i], workspaceBytes);
      views[i] = packed[i]->view;
      int64_t bytes = getStoredBytes(getOperand(i));
      workspaceBytes += (bytes + blockAlignment - 1) / blockAlignment * blockAlignment;
    }
  }

  BlasMatrix describe(size_t i) const {
    const View &view = views[i];
    size_t rank = view.shape.size();
    auto places = static_cast<uint64_t>(view.offset | blockAlignment);
    for (const OfOperands &start : batches->starts)
      places |= static_cast<uint64_t>(start[i] * size);
    return {getMatrixLayout(view), view.shape[rank - 2], view.shape[rank - 1], batches->strides[i],
            static_cast<uint32_t>(places & -places)};
  }

  CudaContext &context;
  GemmCall call;
  int64_t size;
  std::array<View, 3> views; ///< the operands, or their copies in the workspace
  std::array<std::optional<PackedOperand>, 3> packed;
  int64_t workspaceBytes = blasWorkspaceBytes;
  std::optional<GemmBatches> batches;
  std::optional<BlasProduct> product;
};

class IntegerProduct : public Command {
public:
  IntegerProduct(CudaContext &context, GemmCall given)
      : context(context), call(std::move(given)), batches(call) {
    function = fmt::format("weft_multiply{}", getElementSize(call.c.dtype));
    const View &a = call.a, &b = call.b, &c = call.c;
    size_t m = c.shape.size() - 2, n = m + 1;
    product.batches = batches.count;
    product.rows = c.shape[m];
    product.columns = c.shape[n];
    product.depth = a.shape[n];
    product.batchA = batches.strides[0];
    product.batchB = batches.strides[1];
    product.batchC = batches.strides[2];
    product.rowA = a.strides[m];
    product.depthA = a.strides[n];
    product.depthB = b.strides[m];
    product.columnB = b.strides[n];
    product.rowC = c.strides[m];
    product.columnC = c.strides[n];
    product.accumulate = call.accumulate;
  }

  void enqueue(const DeviceBases &bases, Stream &stream) override {
    int64_t size = getElementSize(call.c.dtype);
    auto data = [&](const View &view, int64_t start) {
      return reinterpret_cast<void *>(getAddress(view, bases) + start * size);
    };
    for (const OfOperands &start : batches.starts) {
      product.a = data(call.a, start[0]);
      product.b = data(call.b, start[1]);
      product.c = data(call.c, start[2]);
      void *arguments[] = {&product};
      enqueueOwnFunction(context, function, product.batches * product.rows * product.columns,
                         arguments, static_cast<CudaStream &>(stream));
    }
  }

private:
  CudaContext &context;
  GemmCall call;
  GemmBatches batches;
  std::string function;
  KernelProduct product = {};
};

} // namespace

std::unique_ptr<Command> makeGemmCommand(CudaContext &context, GemmCall call) {
  checkGemm(call);
  DType dtype = call.c.dtype;
  if (!isOfBlas(dtype) && (dtype < program::I8 || dtype > program::U64))
    throwBadInput("cannot multiply matrices of {}", getName(dtype));
  if (call.c.getNumElements() == 0 || call.a.shape.back() == 0)
    return std::make_unique<EmptyProduct>(context, call);
  if (isOfBlas(dtype))
    return std::make_unique<FloatProduct>(context, std::move(call));
  return std::make_unique<IntegerProduct>(context, std::move(call));
}

} // namespace weft::runtime

//===- InstructionShapes.cpp - what instructions of a program do ----------===//

#include "compiler/Executable/InstructionShapes.h"

#include "compiler/Executable/ProtoEnums.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <vector>

using namespace weft;
using Kind = InstructionWork::Kind;

/// As devices' rates are named: "bf16".
static std::string getName(program::DType dtype) {
  return llvm::StringRef(program::DType_Name(dtype)).lower();
}

static int64_t getProduct(const google::protobuf::RepeatedField<int64_t> &extents, int from = 0) {
  int64_t product = 1;
  for (int i = from; i < extents.size(); ++i)
    product *= extents[i];
  return product;
}

/// Whether the operand is the same for every product of the batch.
static bool isShared(const program::Operand &operand) {
  for (int i = 0; i + 2 < operand.shape_size(); ++i)
    if (operand.shape(i) != 1 && operand.strides(i) != 0)
      return false;
  return true;
}

/// Many products of one right factor are one of all their rows, of one left factor one of all their
/// columns: so is a matrix multiplied that lies in blocks of columns.
static void describe(const program::Gemm &gemm, InstructionWork &work) {
  const program::Operand &a = gemm.a(), &b = gemm.b(), &c = gemm.c();
  int last = c.shape_size() - 1;
  work.kind = Kind::Product;
  work.m = c.shape(last - 1);
  work.n = c.shape(last);
  work.k = a.shape(last);
  work.batch = getProduct(c.shape()) / std::max<int64_t>(1, work.m * work.n);
  if (isShared(b))
    work.m *= std::exchange(work.batch, 1);
  else if (isShared(a))
    work.n *= std::exchange(work.batch, 1);
  work.depthMajor = a.strides(last) == 1 && b.strides(last - 1) == 1;
}

static void describe(const program::Attention &attention, InstructionWork &work) {
  const program::Operand &query = attention.query(), &key = attention.key();
  work.kind = Kind::Attention;
  work.batch = query.shape(0) * query.shape(1);
  work.m = query.shape(2);
  work.n = key.shape(2);
  work.k = query.shape(3);
  work.causal = attention.has_high() && attention.high() == 0 && work.m == work.n;
}

/// The gradient of a kernel sums over the positions of all images.
static void describe(const program::Conv &conv, InstructionWork &work) {
  const program::Operand &kernel = conv.kernel_gradient() ? conv.output() : conv.kernel();
  const program::Operand &output = conv.kernel_gradient() ? conv.kernel() : conv.output();
  work.kind = Kind::Convolution;
  work.batch = std::max<int64_t>(1, conv.groups());
  work.m = output.shape(1) / work.batch;
  work.n = output.shape(0) * getProduct(output.shape(), 2);
  work.k = getProduct(kernel.shape(), 1);
  if (conv.kernel_gradient())
    std::swap(work.n, work.k);
}

/// Bytes that lie side by side in all operands, in the order in which the last is written.
static double getRunBytes(std::initializer_list<const program::Operand *> operands) {
  const program::Operand &to = **std::prev(operands.end());
  std::vector<int> dims;
  for (int i = 0; i < to.shape_size(); ++i)
    if (to.shape(i) != 1 && to.strides(i) != 0)
      dims.push_back(i);
  std::sort(dims.begin(), dims.end(), [&](int a, int b) { return to.strides(a) < to.strides(b); });
  int64_t run = 1;
  for (int dim : dims) {
    if (std::any_of(operands.begin(), operands.end(),
                    [&](const program::Operand *each) { return each->strides(dim) != run; }))
      break;
    run *= to.shape(dim);
  }
  std::optional<DType> dtype = fromProto(to.dtype());
  return dtype ? static_cast<double>(run * elementBytes(*dtype)) : 0;
}

std::optional<InstructionWork> weft::describeWork(const program::Instruction &instruction) {
  InstructionWork work;
  work.bytesRead = static_cast<double>(instruction.bytes_read());
  work.bytesWritten = static_cast<double>(instruction.bytes_written());
  if (instruction.has_launch()) {
    const program::Launch &launch = instruction.launch();
    work.additions = static_cast<double>(instruction.flops());
    work.parts = static_cast<double>(launch.tiles()) / static_cast<double>(launch.grain());
  } else if (instruction.has_gemm()) {
    work.dtype = getName(instruction.gemm().c().dtype());
    describe(instruction.gemm(), work);
  } else if (instruction.has_attention()) {
    work.dtype = getName(instruction.attention().output().dtype());
    describe(instruction.attention(), work);
  } else if (instruction.has_attention_backward()) {
    const program::Attention &attention = instruction.attention_backward().attention();
    work.dtype = getName(attention.output().dtype());
    describe(attention, work);
    work.kind = Kind::AttentionBackward;
  } else if (instruction.has_conv()) {
    work.dtype = getName(instruction.conv().output().dtype());
    describe(instruction.conv(), work);
  } else if (instruction.has_copy()) {
    work.kind = Kind::Copy;
    const program::Operand &from = instruction.copy().input(), &to = instruction.copy().output();
    work.runBytes = getRunBytes({&from, &to});
    work.readRun = getRunBytes({&from});
    work.writtenRun = getRunBytes({&to});
  } else if (instruction.has_fill()) {
    work.kind = Kind::Copy;
  } else {
    return std::nullopt;
  }
  return work;
}

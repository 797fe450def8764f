// InterpretCases MODULE DIRECTORY: interprets every function of a module of weft operations. The
// inputs of function F are DIRECTORY/F.in0.npy …, its results become DIRECTORY/F.out0.npy … . bf16
// is f32 in files. Exit 1 with a message if a function has no value.
#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "runtime/Io/Npy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

/// The type that a value of `type` has in files.
static RankedTensorType typeInFile(RankedTensorType type) {
  return type.getElementType().isBF16() ? type.clone(Float32Type::get(type.getContext())) : type;
}

static Tensor convert(const Tensor &tensor, RankedTensorType type) {
  return tensor.type() == type ? tensor.dense() : tensorOf(type, numbersOf<double>(tensor));
}

static llvm::Expected<Tensor> readInput(const std::string &path, RankedTensorType type) {
  runtime::NpyArray array = runtime::readNpy(path);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(array.data.data()), array.data.size());
  auto tensor = Tensor::fromBytes(typeInFile(type), bytes);
  if (!tensor)
    return tensor.takeError();
  return convert(*tensor, type);
}

static runtime::DType fileType(DType kind) {
  switch (kind) {
  case DType::I1:
    return program::I1;
  case DType::I8:
    return program::I8;
  case DType::I16:
    return program::I16;
  case DType::I32:
    return program::I32;
  case DType::I64:
    return program::I64;
  case DType::U8:
    return program::U8;
  case DType::U16:
    return program::U16;
  case DType::U32:
    return program::U32;
  case DType::U64:
    return program::U64;
  case DType::F16:
    return program::F16;
  case DType::BF16:
    return program::F32;
  case DType::F32:
    return program::F32;
  case DType::F64:
    return program::F64;
  }
  return program::DTYPE_UNKNOWN;
}

static void writeOutput(const std::string &path, const Tensor &value) {
  Tensor tensor = convert(value, typeInFile(value.type()));
  runtime::NpyArray array;
  array.dtype = fileType(tensor.kind());
  array.shape.assign(tensor.shape().begin(), tensor.shape().end());
  auto bytes = reinterpret_cast<const std::byte *>(tensor.data());
  array.data.assign(bytes, bytes + tensor.raw().size());
  runtime::writeNpy(path, array);
}

static llvm::Error runCase(ModuleOp module, func::FuncOp function, const std::string &directory) {
  std::string stem = directory + "/" + function.getName().str();
  SmallVector<Tensor> inputs;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto input =
        readInput(stem + ".in" + std::to_string(index) + ".npy", cast<RankedTensorType>(type));
    if (!input)
      return input.takeError();
    inputs.push_back(*input);
  }
  auto results = interpret(module, inputs, readStoredWeight, function.getName());
  if (!results)
    return results.takeError();
  for (auto [index, result] : llvm::enumerate(*results))
    writeOutput(stem + ".out" + std::to_string(index) + ".npy", result);
  return llvm::Error::success();
}

int main(int argc, char **argv) try {
  if (argc != 3)
    throw std::runtime_error("usage: InterpretCases MODULE DIRECTORY");
  MLIRContext context;
  context.loadDialect<func::FuncDialect, WeftDialect, dist::DistDialect>();
  auto module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.isPrivate()) // what others name
      continue;
    if (llvm::Error error = runCase(*module, function, argv[2]))
      throw std::runtime_error("@" + function.getName().str() + ": " +
                               llvm::toString(std::move(error)));
  }
  return 0;
} catch (const std::exception &error) {
  llvm::errs() << error.what() << "\n";
  return 1;
}

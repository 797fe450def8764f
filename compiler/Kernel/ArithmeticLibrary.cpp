#include "compiler/Kernel/ArithmeticLibrary.h"

#include "compiler/Kernel/Arithmetic.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

namespace {

constexpr DType allTypes[] = {DType::I1,   DType::I8,  DType::I16, DType::I32, DType::I64,
                              DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                              DType::BF16, DType::F32, DType::F64};
constexpr ReduceKind allKinds[] = {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min,
                                   ReduceKind::Prod};

/// Builds the functions in a module of their own.
class LibraryBuilder {
public:
  using Build = llvm::function_ref<Value(ArithmeticBuilder &, ValueRange)>;

  LibraryBuilder(MLIRContext *context, llvm::function_ref<bool(StringRef)> isLibraryFunction)
      : module(ModuleOp::create(UnknownLoc::get(context))), b(module->getLoc(), context),
        isLibraryFunction(isLibraryFunction) {}

  void add(ElementwiseOpInterface op) {
    auto types = llvm::map_to_vector(op->getOperandTypes(),
                                     [](Type type) { return getElementTypeOrSelf(type); });
    addFunction(getFunctionName(op), types, /*anyOrder=*/false,
                [&](ArithmeticBuilder &b, ValueRange in) { return op.buildArithmetic(b, in); });
  }

  void addCast(DType from, DType to) {
    addFunction(getCastName(from, to), getType(from), /*anyOrder=*/false,
                [&](ArithmeticBuilder &b, ValueRange in) {
                  return b.cast(getType(from), getType(to), in[0]);
                });
  }

  void addJoin(ReduceKind kind, DType element, bool anyOrder) {
    Type type = getType(element);
    addFunction(
        getJoinName(kind, element, anyOrder), {type, type}, anyOrder,
        [&](ArithmeticBuilder &b, ValueRange in) { return b.join(kind, type, in[0], in[1]); });
  }

  OwningOpRef<ModuleOp> take() { return std::move(module); }

private:
  Type getType(DType type) {
    if (type == DType::BF16)
      return b.getBF16Type();
    if (isFloat(type))
      return type == DType::F16   ? Type(b.getF16Type())
             : type == DType::F32 ? Type(b.getF32Type())
                                  : Type(b.getF64Type());
    auto signs = isUnsigned(type) ? IntegerType::Unsigned : IntegerType::Signless;
    return IntegerType::get(b.getContext(), elementBits(type), signs);
  }

  void addFunction(const std::string &name, TypeRange operands, bool anyOrder, Build build) {
    if (!known.insert(name).second)
      return;
    b.setInsertionPointToEnd(module->getBody());
    auto types = llvm::map_to_vector(operands, getComputedType);
    auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    Value result = build(b, function.getArguments());
    func::ReturnOp::create(b, result);
    function.setFunctionType(b.getFunctionType(types, result.getType()));
    finish(function, StringRef(name).starts_with("weft_join_"), anyOrder);
  }

  /// Products and sums within an operation become fused multiply-adds, those of two operations do
  /// not: what shares a kernel must not change a bit, or what is computed again for the backward
  /// pass would be something else. Flags would not do: LLVM drops them where it merges a product
  /// with an equal one of another operation. What a product of tensors multiplies is contracted
  /// with its sum.
  void finish(func::FuncOp function, bool isJoin, bool anyOrder) {
    Block &body = function.getBody().front();
    auto flags = isJoin ? arith::FastMathFlags::contract : arith::FastMathFlags::none;
    if (anyOrder)
      flags = flags | arith::FastMathFlags::reassoc | arith::FastMathFlags::nsz;
    for (Operation &op : llvm::make_early_inc_range(body)) {
      // Roundings contracted from f64 to f16 would need a library: they have no flags.
      auto flagged = dyn_cast<arith::ArithFastMathInterface>(op);
      if (flagged && !isa<arith::ExtFOp, arith::TruncFOp>(op))
        op.setAttr(flagged.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(b.getContext(), flags));
      if (isa<arith::AddFOp, arith::SubFOp>(op) && !isJoin)
        fuseMultiplyAdd(&op);
      else
        callLibrary(&op);
    }
  }

  /// Replaces a sum with a product that nothing else reads.
  void fuseMultiplyAdd(Operation *sum) {
    auto product = [&](unsigned operand) {
      auto mul = sum->getOperand(operand).getDefiningOp<arith::MulFOp>();
      return mul && mul->hasOneUse() ? mul : nullptr;
    };
    unsigned side = product(0) ? 0 : 1;
    arith::MulFOp mul = product(side);
    if (!mul)
      return;
    b.setInsertionPoint(sum);
    Value factor = mul.getLhs(), term = sum->getOperand(1 - side);
    if (isa<arith::SubFOp>(sum)) {
      Value &negated = side == 0 ? term : factor;
      negated = arith::NegFOp::create(b, negated);
    }
    sum->replaceAllUsesWith(LLVM::FMulAddOp::create(b, factor, mul.getRhs(), term));
    sum->erase();
    mul->erase();
  }

  /// Replaces an elementary function by a call: math.exp on f32 by one of weft_exp_f32.
  void callLibrary(Operation *op) {
    if (op->getNumResults() != 1)
      return;
    std::string name;
    llvm::raw_string_ostream(name)
        << "weft_" << op->getName().stripDialect() << '_' << op->getResult(0).getType();
    if (!isLibraryFunction(name))
      return;
    if (known.insert(name).second) {
      b.setInsertionPointToEnd(module->getBody());
      auto type = b.getFunctionType(op->getOperandTypes(), op->getResultTypes());
      func::FuncOp::create(b, name, type).setPrivate();
    }
    b.setInsertionPoint(op);
    op->replaceAllUsesWith(func::CallOp::create(b, name, op->getResultTypes(), op->getOperands()));
    op->erase();
  }

  OwningOpRef<ModuleOp> module;
  ArithmeticBuilder b;
  llvm::function_ref<bool(StringRef)> isLibraryFunction;
  std::set<std::string> known;
};

} // namespace

static LogicalResult lower(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  return manager.run(module);
}

llvm::Expected<std::string>
kernel::compileArithmetic(ArrayRef<func::FuncOp> kernels,
                          llvm::function_ref<bool(StringRef)> isLibraryFunction) {
  if (kernels.empty())
    return std::string();
  MLIRContext *context = func::FuncOp(kernels.front()).getContext();
  context->loadDialect<LLVM::LLVMDialect>();
  LibraryBuilder builder(context, isLibraryFunction);
  for (func::FuncOp kernel : kernels)
    kernel.walk([&](ElementwiseOpInterface op) { builder.add(op); });
  for (ReduceKind kind : allKinds)
    for (DType type : allTypes)
      for (bool anyOrder : {false, true})
        builder.addJoin(kind, type, anyOrder);
  for (DType narrow : {DType::F16, DType::BF16})
    builder.addCast(DType::F32, narrow);
  for (DType type : allTypes)
    builder.addCast(DType::I64, type);
  OwningOpRef<ModuleOp> module = builder.take();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> translated;
  if (succeeded(lower(*module)))
    translated = translateModuleToLLVMIR(*module, llvmContext, "arithmetic");
  if (!translated)
    return llvm::createStringError("cannot lower the arithmetic of kernels");
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*translated, out);
  return bitcode;
}

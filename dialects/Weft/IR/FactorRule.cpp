#include "dialects/Weft/IR/FactorRule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

#include "dialects/Weft/IR/FactorRuleInterface.cpp.inc"

unsigned FactorRule::add(StringRef name, int64_t size, FactorKind kind, ReduceKind reduction) {
  auto taken = [&](StringRef candidate) {
    return llvm::any_of(factors, [&](const Factor &factor) { return factor.name == candidate; });
  };
  std::string unique = name.str();
  for (unsigned number = 1; taken(unique); ++number)
    unique = name.str() + std::to_string(number);
  factors.push_back({unique, size, kind, reduction});
  return factors.size() - 1;
}

static bool contains(const TensorFactors &tensor, unsigned factor) {
  return llvm::any_of(tensor,
                      [&](const DimFactors &dim) { return llvm::is_contained(dim, factor); });
}

bool FactorRule::inResult(unsigned factor, unsigned index) const {
  return contains(results[index], factor);
}

bool FactorRule::inOperand(unsigned factor, unsigned index) const {
  return contains(operands[index], factor);
}

bool FactorRule::contracts() const {
  return llvm::any_of(llvm::seq<unsigned>(0, factors.size()), [&](unsigned factor) {
    auto has = [&](const TensorFactors &tensor) { return contains(tensor, factor); };
    return llvm::count_if(operands, has) > 1 && llvm::none_of(results, has);
  });
}

static std::string checkTensor(const FactorRule &rule, const TensorFactors &tensor, Type type,
                               const std::string &where) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return tensor.empty() ? "" : where + ": factors on a value that is not a tensor";
  if (static_cast<int64_t>(tensor.size()) != shaped.getRank())
    return where +
           ": expected one factor list per dimension, got: " + std::to_string(tensor.size()) +
           " != " + std::to_string(shaped.getRank());
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    int64_t product = 1;
    for (unsigned factor : factors) {
      if (factor >= rule.factors.size())
        return where + ": factor index out of range";
      product *= rule.factors[factor].size;
    }
    if (product != shaped.getDimSize(dim))
      return where + ": expected the factors of dimension " + std::to_string(dim) +
             " to multiply to its size, got: " + std::to_string(product) +
             " != " + std::to_string(shaped.getDimSize(dim));
  }
  return "";
}

std::string FactorRule::check(TypeRange operandTypes, TypeRange resultTypes) const {
  if (operands.size() != operandTypes.size() || results.size() != resultTypes.size())
    return "expected one entry per operand and result";
  for (auto [index, type] : llvm::enumerate(operandTypes))
    if (std::string why =
            checkTensor(*this, operands[index], type, "operand " + std::to_string(index));
        !why.empty())
      return why;
  for (auto [index, type] : llvm::enumerate(resultTypes))
    if (std::string why =
            checkTensor(*this, results[index], type, "result " + std::to_string(index));
        !why.empty())
      return why;
  return "";
}

static void printTensors(const FactorRule &rule, ArrayRef<TensorFactors> tensors,
                         llvm::raw_ostream &os) {
  auto printDim = [&](const DimFactors &dim) {
    if (dim.empty()) {
      os << "1";
      return;
    }
    if (dim.size() > 1)
      os << "(";
    llvm::interleave(dim, os, [&](unsigned factor) { os << rule.factors[factor].name; }, " ");
    if (dim.size() > 1)
      os << ")";
  };
  os << "(";
  llvm::interleaveComma(tensors, os, [&](const TensorFactors &tensor) {
    os << "[";
    llvm::interleaveComma(tensor, os, printDim);
    os << "]";
  });
  os << ")";
}

std::string FactorRule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensors(*this, operands, os);
  os << " -> ";
  printTensors(*this, results, os);
  os << " {";
  llvm::interleaveComma(factors, os, [&](const Factor &f) { os << f.name << "=" << f.size; });
  os << "}";
  auto printKind = [&](FactorKind kind, StringRef label) {
    SmallVector<std::string> names;
    for (const Factor &factor : factors)
      if (factor.kind == kind)
        names.push_back(kind == FactorKind::Reduction && factor.reduction != ReduceKind::Sum
                            ? factor.name + ":" + stringifyReduceKind(factor.reduction).str()
                            : factor.name);
    if (!names.empty())
      os << " " << label << "={" << llvm::join(names, ", ") << "}";
  };
  printKind(FactorKind::Reduction, "reduction");
  printKind(FactorKind::Permutation, "permutation");
  printKind(FactorKind::Replicated, "replicated");
  if (causal)
    os << " causal={" << factors[causal->query].name << ", " << factors[causal->key].name << "}";
  return text;
}

FactorRule FactorRule::elementwise(Operation *op, SumLinearity linearity) {
  FactorRule rule;
  auto type = cast<ShapedType>(op->getResult(0).getType());
  // Integer division rounds: it is linear in nothing.
  bool rounds = linearity == SumLinearity::First && type.getElementType().isInteger();
  rule.linearity = rounds ? SumLinearity::None : linearity;
  TensorFactors tensor;
  for (int64_t size : type.getShape())
    tensor.push_back({rule.add("d" + std::to_string(tensor.size()), size)});
  rule.operands.assign(op->getNumOperands(), tensor);
  rule.results.assign(op->getNumResults(), tensor);
  return rule;
}

FactorRule FactorRule::replicated(Operation *op) {
  FactorRule rule;
  auto describe = [&](Type type) {
    TensorFactors tensor;
    if (auto shaped = dyn_cast<ShapedType>(type))
      for (int64_t size : shaped.getShape())
        tensor.push_back(
            {rule.add("r" + std::to_string(rule.factors.size()), size, FactorKind::Replicated)});
    return tensor;
  };
  for (Type type : op->getOperandTypes())
    rule.operands.push_back(describe(type));
  for (Type type : op->getResultTypes())
    rule.results.push_back(describe(type));
  return rule;
}

SmallVector<Value> weft::cloneWithTypes(OpBuilder &builder, Operation *op, ValueRange operands,
                                        TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *clone = builder.create(state);
  return SmallVector<Value>(clone->getResults());
}

#include "compiler/Sharding/SliceShardings.h"

#include "compiler/Sharding/FunctionGraph.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

/// Axes of a dimension that has so many elements where a slice is left of the sequence in it.
AxisList SliceShardings::get(const AxisList &axes, int64_t size, const SequenceDim &dim) const {
  int64_t row = length * dim.inner, unit = dim.inner % axes.unit == 0 ? axes.unit : 1;
  if (axes.unit % row == 0)
    unit = axes.unit / row * (size / dim.outer);
  return inUnits(axes, size, unit);
}

TensorSharding SliceShardings::get(TensorSharding sharding, Type type,
                                   ArrayRef<SequenceDim> dims) const {
  for (const SequenceDim &dim : dims)
    sharding.dims[dim.dim] =
        get(sharding.dims[dim.dim], cast<ShapedType>(type).getDimSize(dim.dim), dim);
  return sharding;
}

dist::ShardingAttr SliceShardings::get(dist::ShardingAttr attr, Type type,
                                       ArrayRef<SequenceDim> dims) const {
  return toAttr(attr.getContext(), get(fromAttr(attr, mesh), type, dims), mesh);
}

DictionaryAttr SliceShardings::get(DictionaryAttr described, Type type,
                                   const SequenceDim &dim) const {
  auto attr = described.getAs<dist::ShardingAttr>(dist::kShardingAttr);
  if (!attr)
    return described;
  NamedAttrList entries(described);
  entries.set(dist::kShardingAttr, get(attr, type, dim));
  return entries.getDictionary(described.getContext());
}

/// The rule of a slice may have other factors, as that of a reshape has of one token: the split is
/// the one that all tensors show.
DictionaryAttr SliceShardings::getSplit(Operation *made, Operation &whole,
                                        FindDims findDims) const {
  FactorRule old = cast<FactorRuleOpInterface>(whole).getFactorRule(),
             rule = cast<FactorRuleOpInterface>(made).getFactorRule();
  FailureOr<std::optional<OperationSplit>> given = weft::getSplit(whole, old, mesh);
  if (failed(given) || !*given)
    return {};
  OperationSplit split = OperationSplit::whole(rule);
  split.sums = (*given)->sums;
  std::vector<TensorSharding> forms;
  auto add = [&](const TensorSharding &form, const TensorFactors &wholeTensor,
                 const TensorFactors &tensor, Type type) {
    forms.push_back(get(form, type, findDims(wholeTensor)));
    for (auto [axes, more] :
         llvm::zip_equal(split.axes, projectToFactors(rule, tensor, forms.back()).axes))
      axes = axes.empty() ? more : axes;
  };
  for (unsigned i = 0; i < rule.operands.size(); ++i)
    add(getOperandForm(old, i, **given), old.operands[i], rule.operands[i],
        made->getOperand(i).getType());
  for (unsigned i = 0; i < rule.results.size(); ++i)
    add(getResultForm(old, i, **given), old.results[i], rule.results[i],
        made->getResult(i).getType());
  if (!check(rule, split, mesh).empty())
    return {};
  for (auto [index, form] : llvm::enumerate(forms)) {
    unsigned operands = rule.operands.size();
    if (form != (index < operands ? getOperandForm(rule, index, split)
                                  : getResultForm(rule, index - operands, split)))
      return {};
  }
  return toAttr(made->getContext(), rule, split, mesh);
}

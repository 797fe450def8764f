// The greedy choice's experts, see ExpertDims.h. They are split where their weights are. Two ways
// lead there and back for each axis:
//
// - tokens in groups that the axis splits, [e, g, c, m], are exchanged (all_to_all) for experts
//   before their first product and back before they are combined;
// - tokens without groups are summed where they lie, and scattered to experts (reduce_scatter); the
//   gates lie with their experts, so that combining gives a partial sum.
//
// What is reduced over all experts before, as positions in their queues are, stays whole.

#include "compiler/Search/Greedy.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

//===----------------------------------------------------------------------===//
// Before anything is propagated
//===----------------------------------------------------------------------===//

/// How values would lie without weights: pinned values and the batch, propagated.
Propagation Greedy::withoutWeights(llvm::ArrayRef<unsigned> axes) const {
  Propagation values(graph);
  for (auto [index, tensor] : llvm::enumerate(graph.tensors))
    if (shardings.isPinned(index) && !tensor.weight)
      values.pin(index, shardings.get(index));
  for (unsigned axis : axes)
    for (auto [input, part] : batchSplits(axis, values))
      values.seed(input, graph.tensors[input].batchDim, part);
  values.run();
  return values;
}

void Greedy::prepareExperts(llvm::ArrayRef<unsigned> axes) {
  if (experts.products().empty())
    return;
  Propagation values = withoutWeights(axes);
  auto keepTokens = [&](size_t product, TensorDim place, const char *reason) {
    AxisList axes;
    for (const AxisList &list : values.get(place.first).dims)
      axes.append(list);
    if (axes.empty())
      return;
    shardings.close(place.first, place.second, axes);
    unsplit.push_back({place, product, reason});
  };
  auto leaveUnsplit = [&](size_t product, TensorDim start) {
    for (TensorDim place : experts.reducedSources(start)) {
      for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
        shardings.close(place.first, place.second, fullAxis(mesh, axis));
      unsplit.push_back({place, product, "whole for all experts: each device cuts its part out"});
    }
  };
  for (auto [index, product] : llvm::enumerate(experts.products())) {
    leaveUnsplit(index, product.input);
    if (!experts.isExpert(product.input)) {
      keepTokens(index, product.input, "tokens in groups, exchanged for experts");
      for (TensorDim mask : experts.dispatchMasksOf(product))
        keepTokens(index, mask, "lies with its tokens: their sums are scattered to experts");
    }
    auto combines = experts.combinesOf(product);
    for (const ExpertCombine &combine : combines.value_or(llvm::SmallVector<ExpertCombine, 1>())) {
      keepTokens(index, combine.experts, "experts, exchanged for tokens in groups");
      for (TensorDim gate : combine.gates)
        leaveUnsplit(index, gate);
    }
  }
}

//===----------------------------------------------------------------------===//
// Where weights are split
//===----------------------------------------------------------------------===//

/// The axes over which a product's experts are split.
const AxisList &Greedy::axesOf(const ExpertProduct &product) const {
  return shardings.get(product.weight.first).dims[product.weight.second];
}

/// Splits gates like the experts that they combine, if those arrive split.
void Greedy::propagateExperts(const ExpertProduct &product) {
  auto combines = experts.combinesOf(product);
  if (!combines || axesOf(product).empty())
    return;
  for (const ExpertCombine &combine : *combines)
    for (auto [tensor, dim] : combine.gates) {
      AxisList axes = shardings.get(combine.experts.first).dims[combine.experts.second];
      shardings.seed(tensor, dim, axes);
      AxisList split = shardings.get(tensor).dims[dim];
      if (!axes.empty() && split == axes && !chosen.contains(tensor) && !shardings.isPinned(tensor))
        for (AxisRef axis : axes)
          record(tensor, /*storage=*/false,
                 "gates lie with their experts: a partial sum joins them", 0)
              .axes.push_back(axis.axis);
    }
  shardings.run();
}

void Greedy::propagatePinnedExperts() {
  for (const ExpertProduct &product : experts.products())
    propagateExperts(product);
}

/// Records what was held because experts are split.
void Greedy::recordUnsplit() {
  for (const UnsplitDim &place : unsplit)
    if (!axesOf(experts.products()[place.product]).empty() && !chosen.contains(place.place.first) &&
        !shardings.isPinned(place.place.first))
      record(place.place.first, /*storage=*/false, place.reason, 0);
}

void Greedy::chooseExperts(unsigned axis) {
  llvm::SmallVector<AxisRef, 8> parts = partsOf(axis);
  for (const ExpertProduct &product : experts.products()) {
    auto [weight, dim] = product.weight;
    if (usesAxis(graph.nodes[product.node], axis) || !experts.combinesOf(product))
      continue;
    for (AxisRef part : parts) {
      if (!shortens(weight, dim, part))
        continue;
      int64_t count = graph.tensors[weight].shape[dim];
      int64_t local = localExtent(count, blocks(axesOf(product)) * part.size);
      if (seedStorage(weight, dim, part,
                      std::to_string(local) + " of " + std::to_string(count) + " experts a device",
                      0)) {
        propagateExperts(product);
        break;
      }
    }
  }
}

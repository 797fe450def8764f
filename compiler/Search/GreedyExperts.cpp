// The greedy choice's experts, see ExpertPlaces.h: split where their weights are, with the gates
// that join them, so that the join gives a partial sum.

#include "compiler/Search/Greedy.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;

/// Before anything is propagated: what is reduced over experts before they are there stays whole,
/// whoever splits them.
void Greedy::holdRouting() {
  auto close = [&](unsigned product, TensorPlace start) {
    for (TensorPlace place : experts.wholeBehind(start)) {
      shardings.close(place.first, place.second);
      routing.push_back({place, product});
    }
  };
  for (auto [index, product] : llvm::enumerate(experts.products())) {
    close(index, product.input);
    if (std::optional<TensorPlaces> gates = experts.gatesOf(product))
      for (TensorPlace gate : *gates)
        close(index, gate);
  }
}

/// The axes over which a product's experts are split.
const AxisList &Greedy::axesOf(const ExpertProduct &product) const {
  return shardings.get(product.weight.first).dims[product.weight.second];
}

/// Splits gates like the experts that they join.
void Greedy::followExperts(const ExpertProduct &product) {
  std::optional<TensorPlaces> gates = experts.gatesOf(product);
  if (!gates || axesOf(product).empty())
    return;
  for (auto [tensor, dim] : *gates) {
    if (chosen.contains(tensor) || shardings.isPinned(tensor))
      continue;
    if (shardings.get(tensor).dims[dim].empty())
      shardings.seed(tensor, dim, axesOf(product));
    if (shardings.get(tensor).dims[dim].empty())
      continue;
    llvm::append_range(record(tensor, /*storage=*/false,
                              "gates lie with their experts: a partial sum joins them", 0)
                           .axes,
                       llvm::map_range(axesOf(product), [](AxisRef axis) { return axis.axis; }));
  }
  shardings.run();
}

void Greedy::followPinnedExperts() {
  for (const ExpertProduct &product : experts.products())
    followExperts(product);
}

/// Records what stayed whole because experts are split.
void Greedy::recordRouting() {
  for (auto [place, product] : routing)
    if (!axesOf(experts.products()[product]).empty() && !chosen.contains(place.first))
      record(place.first, /*storage=*/false,
             "whole for all experts: each device cuts its part out where it is used", 0);
}

void Greedy::chooseExperts(unsigned axis) {
  llvm::SmallVector<AxisRef, 8> parts = partsOf(axis);
  for (const ExpertProduct &product : experts.products()) {
    auto [weight, dim] = product.weight;
    if (usesAxis(graph.nodes[product.node], axis) || !experts.gatesOf(product))
      continue;
    for (AxisRef part : parts) {
      if (!dividesBy(weight, dim, part))
        continue;
      int64_t count = graph.tensors[weight].shape[dim];
      int64_t held = count / (blocks(axesOf(product)) * part.size);
      if (seedStorage(weight, dim, part,
                      std::to_string(held) + " of " + std::to_string(count) + " experts a device",
                      0)) {
        followExperts(product);
        break;
      }
    }
  }
}

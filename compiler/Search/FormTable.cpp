#include "compiler/Search/FormTable.h"

#include <limits>

using namespace weft;
using llvm::ArrayRef;

/// Equal of equal shardings.
static std::string getKey(const TensorSharding &form) {
  std::string key;
  auto add = [&](int64_t number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  };
  auto addAxes = [&](const AxisList &axes) {
    add(static_cast<int64_t>(axes.size()));
    add(axes.unit);
    for (AxisRef axis : axes) {
      add(axis.axis);
      add(axis.pre);
      add(axis.size);
    }
  };
  for (const AxisList &dim : form.dims)
    addAxes(dim);
  addAxes(form.partial);
  add(static_cast<int64_t>(form.reduction));
  return key;
}

unsigned FormTable::add(const TensorSharding &form) {
  auto [entry, isNew] = numbers.try_emplace(getKey(form), forms.size());
  if (isNew)
    forms.push_back(form);
  return entry->second;
}

double FormTable::getSeconds(unsigned from, unsigned to, MeshPrices &prices) {
  if (from == to)
    return 0;
  auto [entry, isNew] = seconds.try_emplace({from, to}, std::numeric_limits<double>::infinity());
  if (!isNew)
    return entry->second;
  if (std::optional<ReshardPath> path =
          findReshardPath(prices.getMesh(), shape, elementBytes, forms[from], forms[to]))
    entry->second = prices.getSeconds(*path, forms[from], shape, elementBytes);
  return entry->second;
}

FormTable &FormTables::of(ArrayRef<int64_t> shape, int64_t elementBytes) {
  return tables.try_emplace({shape.vec(), elementBytes}, shape, elementBytes).first->second;
}

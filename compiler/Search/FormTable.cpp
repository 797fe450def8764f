#include "compiler/Search/FormTable.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

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

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// Whether a dimension of this size is a multiple of all that splits it in either way, and the
/// sub-axes of both nest.
static bool isEven(int64_t size, const AxisList &a, const AxisList &b) {
  if (a.empty() && b.empty())
    return a.unit == 1 && b.unit == 1 && size > 0;
  SmallVector<std::pair<unsigned, int64_t>, 16> cuts; // axes and places in them
  for (const AxisList *axes : {&a, &b})
    for (AxisRef axis : *axes)
      cuts.append({{axis.axis, axis.pre}, {axis.axis, axis.end()}});
  llvm::sort(cuts);
  int64_t parts = 1;
  for (auto [first, second] : llvm::zip(cuts, llvm::drop_begin(cuts))) {
    if (first.first != second.first)
      continue;
    if (second.second % first.second != 0)
      return false;
    parts *= second.second / first.second;
  }
  return a.unit == 1 && b.unit == 1 && size > 0 && size % parts == 0;
}

/// Whether every way between two forms leads through even blocks.
static bool isEven(ArrayRef<int64_t> shape, const TensorSharding &from, const TensorSharding &to) {
  return llvm::all_of(llvm::zip_equal(shape, from.dims, to.dims), [](const auto &dim) {
    const auto &[size, a, b] = dim;
    return isEven(size, a, b);
  });
}

static int64_t countBlocks(const TensorSharding &form) {
  int64_t count = 1;
  for (const AxisList &axes : form.dims)
    count *= blocks(axes);
  return count;
}

EvenPaths::Steps EvenPaths::shorten(const ReshardPath &path, const TensorSharding &from,
                                    MeshPrices &prices) {
  Steps steps;
  int64_t parts = countBlocks(from);
  for (const ReshardStep &step : path.steps) {
    int64_t times = step.kind == ReshardKind::AllGather ? blocks(step.axes) : 1;
    steps.push_back({prices.addStep(step.kind, step.axes), parts, times});
    parts = countBlocks(step.after);
  }
  return steps;
}

double EvenPaths::getSeconds(ArrayRef<int64_t> shape, int64_t elementBytes,
                             const TensorSharding &from, const TensorSharding &to,
                             std::pair<unsigned, unsigned> ends, MeshPrices &prices) {
  auto [entry, isNew] = paths.try_emplace(ends);
  if (isNew)
    if (std::optional<ReshardPath> path =
            findReshardPath(prices.getMesh(), shape, elementBytes, from, to))
      entry->second = shorten(*path, from, prices);
  if (!entry->second)
    return std::numeric_limits<double>::infinity();
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes *= size;
  double seconds = 0;
  for (const Step &step : *entry->second)
    seconds += prices.getStepSeconds(step.number, bytes / step.parts * step.times);
  return seconds;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

unsigned FormTable::add(const TensorSharding &form) {
  std::string key = getKey(form);
  auto [entry, isNew] = numbers.try_emplace(key, forms.size());
  if (isNew) {
    forms.push_back(form);
    seconds.emplace_back();
    pathNumbers.push_back(paths.add(key));
  }
  return entry->second;
}

double FormTable::findSeconds(unsigned from, unsigned to, MeshPrices &prices) {
  if (isEven(shape, forms[from], forms[to]))
    return paths.getSeconds(shape, elementBytes, forms[from], forms[to],
                            {pathNumbers[from], pathNumbers[to]}, prices);
  std::optional<ReshardPath> path =
      findReshardPath(prices.getMesh(), shape, elementBytes, forms[from], forms[to]);
  return path ? prices.getSeconds(*path, forms[from], shape, elementBytes)
              : std::numeric_limits<double>::infinity();
}

double FormTable::getSeconds(unsigned from, unsigned to, MeshPrices &prices) {
  if (from == to)
    return 0;
  std::vector<double> &known = seconds[from];
  if (known.size() < forms.size())
    known.resize(forms.size(), std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(known[to]))
    known[to] = findSeconds(from, to, prices);
  return known[to];
}

FormTable &FormTables::of(ArrayRef<int64_t> shape, int64_t elementBytes) {
  return tables.try_emplace({shape.vec(), elementBytes}, shape, elementBytes, *paths).first->second;
}

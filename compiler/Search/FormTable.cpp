#include "compiler/Search/FormTable.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <set>

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

//===----------------------------------------------------------------------===//
// Ways
//===----------------------------------------------------------------------===//

/// Whether every way between two forms leads through even blocks: each dimension is a multiple of
/// all that splits it in either, whose sub-axes nest.
static bool isEven(ArrayRef<int64_t> shape, const TensorSharding &from, const TensorSharding &to) {
  for (auto [size, a, b] : llvm::zip_equal(shape, from.dims, to.dims)) {
    std::map<unsigned, std::set<int64_t>> cuts; // by axis
    for (const AxisList *axes : {&a, &b})
      for (AxisRef axis : *axes)
        cuts[axis.axis].insert({axis.pre, axis.end()});
    int64_t parts = 1;
    for (const auto &[axis, places] : cuts) {
      for (auto next = std::next(places.begin()); next != places.end(); ++next)
        if (*next % *std::prev(next) != 0)
          return false;
      parts *= *places.rbegin() / *places.begin();
    }
    if (a.unit != 1 || b.unit != 1 || size <= 0 || size % parts != 0)
      return false;
  }
  return true;
}

static int64_t countBlocks(const TensorSharding &form) {
  int64_t count = 1;
  for (const AxisList &axes : form.dims)
    count *= blocks(axes);
  return count;
}

std::vector<EvenPaths::Step> EvenPaths::shorten(const ReshardPath &path,
                                                const TensorSharding &from) {
  std::vector<Step> steps;
  int64_t parts = countBlocks(from);
  for (const ReshardStep &step : path.steps) {
    int64_t times = step.kind == ReshardKind::AllGather ? blocks(step.axes) : 1;
    steps.push_back({step.kind, {step.axes.begin(), step.axes.end()}, parts, times});
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
      entry->second = shorten(*path, from);
  if (!entry->second)
    return std::numeric_limits<double>::infinity();
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes *= size;
  double seconds = 0;
  for (const Step &step : *entry->second)
    seconds += prices.getStepSeconds(step.kind, step.axes,
                                     static_cast<double>(bytes / step.parts * step.times));
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
  auto [entry, isNew] = seconds.try_emplace({from, to}, 0);
  if (isNew)
    entry->second = findSeconds(from, to, prices);
  return entry->second;
}

FormTable &FormTables::of(ArrayRef<int64_t> shape, int64_t elementBytes) {
  return tables.try_emplace({shape.vec(), elementBytes}, shape, elementBytes, *paths).first->second;
}

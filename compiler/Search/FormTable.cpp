#include "compiler/Search/FormTable.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace weft;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// Numbers that tell things apart.
class Key {
public:
  void add(int64_t number) { numbers.push_back(number); }
  void add(const AxisList &axes) {
    add(axes.unit << 8 | static_cast<int64_t>(axes.size()));
    for (AxisRef axis : axes) // of fewer than 2^28 devices
      add(static_cast<int64_t>(axis.axis) << 56 | axis.pre << 28 | axis.size);
  }
  llvm::StringRef str() const {
    return {reinterpret_cast<const char *>(numbers.data()), numbers.size() * sizeof(int64_t)};
  }

private:
  SmallVector<int64_t, 32> numbers;
};
} // namespace

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
static bool areEven(ArrayRef<int64_t> shape, const TensorSharding &from, const TensorSharding &to) {
  return llvm::all_of(llvm::zip_equal(shape, from.dims, to.dims), [](const auto &dim) {
    const auto &[size, a, b] = dim;
    return isEven(size, a, b);
  });
}

/// Whether a dimension is split in neither form.
static bool isWhole(const AxisList &from, const AxisList &to) { return from.empty() && to.empty(); }

static int64_t countBlocks(const TensorSharding &form) {
  int64_t count = 1;
  for (const AxisList &axes : form.dims)
    count *= blocks(axes);
  return count;
}

KnownPaths::Ends KnownPaths::reduce(ArrayRef<int64_t> shape, int64_t elementBytes,
                                    const TensorSharding &from, const TensorSharding &to) {
  Ends ends{{}, elementBytes, {{}, from.partial, from.reduction}, {{}, to.partial, to.reduction}};
  for (auto [size, a, b] : llvm::zip_equal(shape, from.dims, to.dims)) {
    if (isWhole(a, b)) {
      ends.elementBytes *= size;
      continue;
    }
    ends.shape.push_back(size);
    ends.from.dims.push_back(a);
    ends.to.dims.push_back(b);
  }
  return ends;
}

std::optional<KnownPaths::Way> KnownPaths::find(const Ends &ends, bool isEven, MeshPrices &prices) {
  std::optional<ReshardPath> path =
      findReshardPath(prices.getMesh(), ends.shape, ends.elementBytes, ends.from, ends.to);
  if (!path)
    return std::nullopt;
  Way way;
  for (const MeshPrices::PathStep &step : prices.listSteps(*path, ends.from, ends.shape))
    way.push_back({step, 1});
  if (!isEven)
    return way;
  int64_t parts = countBlocks(ends.from);
  for (auto [known, step] : llvm::zip_equal(way, path->steps)) {
    known.step.elements = step.kind == ReshardKind::AllGather ? blocks(step.axes) : 1;
    known.parts = parts;
    parts = countBlocks(step.after);
  }
  return way;
}

/// What the way between two forms depends on.
static Key makeKey(ArrayRef<int64_t> shape, const TensorSharding &from, const TensorSharding &to,
                   bool isEven) {
  Key key;
  int64_t rank = 0;
  for (auto [size, a, b] : llvm::zip_equal(shape, from.dims, to.dims))
    if (!isWhole(a, b)) {
      key.add(a);
      key.add(b);
      if (!isEven)
        key.add(size);
      ++rank;
    }
  for (const TensorSharding *form : {&from, &to}) {
    key.add(form->partial);
    key.add(static_cast<int64_t>(form->reduction));
  }
  key.add(rank << 1 | isEven);
  return key;
}

double KnownPaths::getSeconds(ArrayRef<int64_t> shape, int64_t elementBytes,
                              const TensorSharding &from, const TensorSharding &to,
                              MeshPrices &prices) {
  bool isEven = areEven(shape, from, to);
  auto [entry, isNew] = ways.try_emplace(makeKey(shape, from, to, isEven).str());
  std::optional<Way> &way = entry->second;
  if (isNew)
    way = find(reduce(shape, elementBytes, from, to), isEven, prices);
  if (!way)
    return std::numeric_limits<double>::infinity();
  int64_t bytes = elementBytes; // of what a step counts parts or elements of
  for (auto [size, a, b] : llvm::zip_equal(shape, from.dims, to.dims))
    if (isEven || isWhole(a, b))
      bytes *= size;
  double seconds = 0;
  for (const auto &[step, parts] : *way)
    seconds += prices.getStepSeconds(step, bytes / parts * step.elements);
  return seconds;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

unsigned FormTable::add(const TensorSharding &form) {
  Key key;
  for (const AxisList &dim : form.dims)
    key.add(dim);
  key.add(form.partial);
  key.add(static_cast<int64_t>(form.reduction));
  auto [entry, isNew] = numbers.try_emplace(key.str(), forms.size());
  if (isNew) {
    forms.push_back(form);
    seconds.emplace_back();
  }
  return entry->second;
}

double FormTable::getSeconds(unsigned from, unsigned to, MeshPrices &prices) {
  if (from == to)
    return 0;
  std::vector<double> &known = seconds[from];
  if (known.size() < forms.size())
    known.resize(forms.size(), std::numeric_limits<double>::quiet_NaN());
  if (std::isnan(known[to]))
    known[to] = paths.getSeconds(shape, elementBytes, forms[from], forms[to], prices);
  return known[to];
}

FormTable &FormTables::of(ArrayRef<int64_t> shape, int64_t elementBytes) {
  return tables.try_emplace({shape.vec(), elementBytes}, shape, elementBytes, *paths).first->second;
}

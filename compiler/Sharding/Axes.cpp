#include "compiler/Sharding/Axes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using llvm::ArrayRef;

std::optional<unsigned> MeshShape::find(llvm::StringRef axis) const {
  for (auto [index, candidate] : llvm::enumerate(axes))
    if (candidate.name == axis)
      return index;
  return std::nullopt;
}

int64_t MeshShape::devices() const {
  int64_t count = 1;
  for (const MeshAxis &axis : axes)
    count *= axis.size;
  return count;
}

AxisRef weft::fullAxis(const MeshShape &mesh, unsigned axis) {
  return {axis, 1, mesh.axes[axis].size};
}

bool weft::isBatchAxis(llvm::StringRef name) {
  return name == "data" || name == "batch" || name == "dp";
}

AxisList weft::getBatchAxes(const MeshShape &mesh) {
  AxisList axes;
  for (auto [index, axis] : llvm::enumerate(mesh.axes))
    if (isBatchAxis(axis.name))
      append(axes, fullAxis(mesh, index));
  return axes;
}

bool weft::overlaps(AxisRef a, AxisRef b) {
  return a.axis == b.axis && a.pre < b.end() && b.pre < a.end();
}

bool weft::overlaps(ArrayRef<AxisRef> a, ArrayRef<AxisRef> b) {
  return llvm::any_of(
      a, [&](AxisRef x) { return llvm::any_of(b, [&](AxisRef y) { return overlaps(x, y); }); });
}

int64_t weft::blocks(ArrayRef<AxisRef> axes) {
  int64_t count = 1;
  for (AxisRef axis : axes)
    count *= axis.size;
  return count;
}

int64_t weft::localExtent(int64_t size, const AxisList &axes) {
  return localExtent(size, blocks(axes), axes.unit);
}

bool weft::isPadded(int64_t size, const AxisList &axes) {
  return isPadded(size, blocks(axes), axes.unit);
}

AxisList weft::inUnits(ArrayRef<AxisRef> axes, int64_t size, int64_t unit) {
  AxisList list(axes);
  list.unit = isPadded(size, blocks(axes), unit) ? unit : 1;
  return list;
}

void weft::append(AxisList &axes, AxisRef axis) {
  if (axis.size == 1)
    return;
  if (!axes.empty() && axes.back().axis == axis.axis && axes.back().end() == axis.pre)
    axes.back().size *= axis.size;
  else
    axes.push_back(axis);
}

void weft::append(AxisList &axes, ArrayRef<AxisRef> more) {
  for (AxisRef axis : more)
    append(axes, axis);
}

std::optional<AxisList> weft::head(ArrayRef<AxisRef> axes, int64_t count) {
  AxisList result;
  for (AxisRef axis : axes) {
    if (count == 1)
      break;
    if (count % axis.size == 0) {
      append(result, axis);
      count /= axis.size;
      continue;
    }
    if (axis.size % count != 0)
      return std::nullopt;
    append(result, {axis.axis, axis.pre, count});
    count = 1;
  }
  if (count != 1)
    return std::nullopt;
  return result;
}

AxisList weft::headWithout(const AxisList &axes, ArrayRef<AxisRef> others) {
  AxisList result;
  result.unit = axes.unit;
  for (AxisRef axis : axes) {
    if (overlaps(axis, others))
      break;
    append(result, axis);
  }
  return result;
}

AxisList weft::commonHead(ArrayRef<AxisRef> a, ArrayRef<AxisRef> b) {
  AxisList result;
  AxisRef left, right;
  for (left.size = right.size = 1;;) {
    if (left.size == 1) {
      if (a.empty())
        return result;
      left = a.front();
      a = a.drop_front();
    }
    if (right.size == 1) {
      if (b.empty())
        return result;
      right = b.front();
      b = b.drop_front();
    }
    if (left.axis != right.axis || left.pre != right.pre)
      return result;
    int64_t size = std::min(left.size, right.size);
    if (left.size % size != 0 || right.size % size != 0)
      return result;
    append(result, {left.axis, left.pre, size});
    left = {left.axis, left.pre * size, left.size / size};
    right = {right.axis, right.pre * size, right.size / size};
  }
}

std::optional<AxisList> weft::rest(const AxisList &axes, const AxisList &first) {
  int64_t count = blocks(first);
  if (count == blocks(axes) && axes.unit != first.unit)
    return std::nullopt;
  std::optional<AxisList> begin = head(axes, count);
  AxisList normal;
  append(normal, first);
  if (!begin || *begin != normal)
    return std::nullopt;
  AxisList result;
  for (AxisRef axis : axes) {
    int64_t taken = std::min(count, axis.size);
    count /= taken;
    if (taken < axis.size)
      append(result, {axis.axis, axis.pre * taken, axis.size / taken});
  }
  return result;
}

bool TensorSharding::uses(AxisRef axis) const {
  return overlaps(partial, axis) ||
         llvm::any_of(dims, [&](const AxisList &dim) { return overlaps(dim, axis); });
}

bool TensorSharding::isReplicated() const {
  return partial.empty() && llvm::all_of(dims, [](const AxisList &dim) { return dim.empty(); });
}

int64_t TensorSharding::blockCount() const {
  int64_t count = 1;
  for (const AxisList &dim : dims)
    count *= blocks(dim);
  return count;
}

int64_t TensorSharding::localElements(ArrayRef<int64_t> shape) const {
  int64_t elements = 1;
  for (auto [size, axes] : llvm::zip_equal(shape, dims))
    elements *= localExtent(size, axes);
  return elements;
}

static void print(const MeshShape &mesh, ArrayRef<AxisRef> axes, llvm::raw_ostream &os) {
  os << "{";
  llvm::interleaveComma(axes, os, [&](AxisRef ref) {
    const MeshAxis &axis = mesh.axes[ref.axis];
    os << '"' << axis.name << '"';
    if (ref.pre != 1 || ref.size != axis.size)
      os << ":(" << ref.pre << ")" << ref.size;
  });
  os << "}";
}

std::string weft::str(const MeshShape &mesh, ArrayRef<AxisRef> axes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(mesh, axes, os);
  return text;
}

std::string weft::str(const MeshShape &mesh, const TensorSharding &sharding) {
  static constexpr const char *names[] = {"sum", "max", "min", "prod"};
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(sharding.dims, os, [&](const AxisList &dim) {
    print(mesh, dim, os);
    if (dim.unit != 1)
      os << " unit " << dim.unit;
  });
  os << "]";
  if (!sharding.partial.empty()) {
    os << " partial = " << names[static_cast<int>(sharding.reduction)];
    print(mesh, sharding.partial, os);
  }
  return text;
}

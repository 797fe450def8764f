//===- Axes.h - mesh axes, sub-axes and lists of them -----------*- C++ -*-===//
//
// The plain form of what #dist.sharding says, for algorithms: cheap to compare, copy and try by the
// thousand. An axis of size N is read as a number in a mixed radix: the sub-axis (pre)size is the
// digit below digits of product `pre`, of coordinate (c / (N / (pre·size))) mod size. So of
// "model"=4, (1)2 is the major half, (2)2 the minor half, and the list {(1)2, (2)2} is the whole
// axis again.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SHARDING_AXES_H
#define WEFT_COMPILER_SHARDING_AXES_H

#include "dialects/Dist/IR/Extent.h"
#include "dialects/Weft/IR/FactorRule.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace weft {

struct MeshAxis {
  std::string name;
  int64_t size = 1;

  bool operator==(const MeshAxis &) const = default;
};

/// Names and sizes of a mesh's axes; devices are numbered row-major over them.
struct MeshShape {
  std::string name = "mesh";
  llvm::SmallVector<MeshAxis, 4> axes;

  /// The index of the axis of that name.
  std::optional<unsigned> find(llvm::StringRef axis) const;
  /// The number of devices.
  int64_t devices() const;
};

/// An axis of a mesh, or a sub-axis of it. A whole axis has pre 1 and the axis' size.
struct AxisRef {
  unsigned axis = 0;
  int64_t pre = 1;
  int64_t size = 1;

  /// The product of this digit and those above it.
  int64_t end() const { return pre * size; }
  bool operator==(const AxisRef &) const = default;
};

/// Axes that split something, major to minor.
struct AxisList : llvm::SmallVector<AxisRef, 2> {
  using SmallVector::SmallVector;
  /// What blocks are multiples of where they are padded (Extent.h), else 1.
  int64_t unit = 1;

  bool operator==(const AxisList &other) const {
    return unit == other.unit && llvm::ArrayRef<AxisRef>(*this) == llvm::ArrayRef<AxisRef>(other);
  }
};

AxisRef fullAxis(const MeshShape &mesh, unsigned axis);

/// Whether an axis of that name takes, of activations, the batch and nothing else.
bool isBatchAxis(llvm::StringRef name);

/// All axes of a mesh that take the batch.
AxisList getBatchAxes(const MeshShape &mesh);

/// Whether two references share a digit of one axis.
bool overlaps(AxisRef a, AxisRef b);
bool overlaps(llvm::ArrayRef<AxisRef> a, llvm::ArrayRef<AxisRef> b);

/// The number of blocks that the axes make.
int64_t blocks(llvm::ArrayRef<AxisRef> axes);

/// The extent of each block of `size` elements split so, and whether blocks are padded.
int64_t localExtent(int64_t size, const AxisList &axes);
bool isPadded(int64_t size, const AxisList &axes);

/// The axes as they split `size` elements: with the unit where blocks are padded, else without.
AxisList inUnits(llvm::ArrayRef<AxisRef> axes, int64_t size, int64_t unit);

/// Appends an axis; where it continues the last one, the two become one.
void append(AxisList &axes, AxisRef axis);
void append(AxisList &axes, llvm::ArrayRef<AxisRef> more);

/// The first axes of the list, which make `count` blocks; an axis is split into sub-axes where
/// `count` asks for it. None where the list has no such head.
std::optional<AxisList> head(llvm::ArrayRef<AxisRef> axes, int64_t count);

/// What follows `first` in `axes`, if `first` is how `axes` begins (sub-axes of one axis count as
/// its beginning). All of it is also of one unit.
std::optional<AxisList> rest(const AxisList &axes, const AxisList &first);

/// The head of the list before the first axis of `others`: of a weight's storage what is left
/// without the axes of the batch.
AxisList headWithout(const AxisList &axes, llvm::ArrayRef<AxisRef> others);

/// The longest list with which both begin.
AxisList commonHead(llvm::ArrayRef<AxisRef> a, llvm::ArrayRef<AxisRef> b);

/// How one tensor lies on a mesh: per dimension its axes, and the axes over which it is unreduced.
struct TensorSharding {
  llvm::SmallVector<AxisList, 4> dims;
  AxisList partial = {};
  ReduceKind reduction = ReduceKind::Sum;

  static TensorSharding replicated(size_t rank) {
    return {llvm::SmallVector<AxisList, 4>(rank), {}, ReduceKind::Sum};
  }

  /// Whether the axis is used anywhere, in dimensions or as partial.
  bool uses(AxisRef axis) const;
  bool isReplicated() const;
  /// The number of distinct blocks, that is devices that do not hold the same elements.
  int64_t blockCount() const;
  /// The elements of a block of a tensor of this shape, padding included.
  int64_t localElements(llvm::ArrayRef<int64_t> shape) const;
  bool operator==(const TensorSharding &) const = default;
};

/// `{"data", "model":(1)2}`, as in #dist.sharding; `[{"data"} unit 64, {}] partial = sum{"model"}`.
std::string str(const MeshShape &mesh, llvm::ArrayRef<AxisRef> axes);
std::string str(const MeshShape &mesh, const TensorSharding &sharding);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_AXES_H

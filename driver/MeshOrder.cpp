//===- MeshOrder.cpp - which meshes are worth a trial ---------------------===//

#include "driver/MeshOrder.h"

#include "compiler/Search/Strategies.h"
#include "llvm/ADT/STLExtras.h"

#include <set>
#include <tuple>

using namespace weft;

/// A mesh on which axes of another one are parted is worth a search only where a step takes no more
/// than so many times what the best one does on that: of the models that were tried none gained
/// more than two hundredths by parting.
static constexpr double partedRange = 1.04;

MeshOrder::MeshOrder(std::vector<MeshShape> shapes, int64_t devices) {
  for (MeshShape &shape : shapes) {
    bool isThere = shape.devices() <= devices;
    meshes.push_back({std::move(shape), isThere, 0, {}});
  }
}

/// Whether each axis of one mesh is one of the other, or some that follow each other and are of the
/// same kind: what can be split on that can be split on the first one alike.
static bool refines(const MeshShape &fine, const MeshShape &coarse) {
  auto next = fine.axes.begin();
  for (const MeshAxis &axis : coarse.axes) {
    int64_t size = 1;
    for (; next != fine.axes.end() && size < axis.size &&
           isBatchAxis(next->name) == isBatchAxis(axis.name);
         ++next)
      size *= next->size;
    if (size != axis.size)
      return false;
  }
  return next == fine.axes.end();
}

/// Axes over which batches are not split, and the devices that each part of a batch so has.
static std::pair<int64_t, int64_t> countJoined(const MeshShape &mesh) {
  int64_t axes = 0, devices = 1;
  for (const MeshAxis &axis : mesh.axes)
    if (!isBatchAxis(axis.name)) {
      ++axes;
      devices *= axis.size;
    }
  return {axes, devices};
}

/// Whether the batch cannot use all of its axis, and there are so many parts to choose from beside
/// it that a search takes long. Where its axis is as long as the batch, and others are longer, as
/// much is split.
static bool isWasteful(llvm::ArrayRef<Atom> atoms) {
  constexpr size_t quickAtoms = 3;
  return atoms.size() > quickAtoms &&
         llvm::count_if(atoms, [](const Atom &atom) { return atom.takesBatch; }) > 1;
}

/// Those that others refine come before these, and what splits batches before what does not, which
/// is mostly slow and seen to be by then.
std::vector<size_t> MeshOrder::begin(const ShardingGraph &graph, const plan::Training &step) {
  training = step;
  std::set<std::vector<std::pair<int64_t, bool>>> known; // atoms, which tile the axes
  std::vector<size_t> distinct, wasteful;
  for (auto [number, mesh] : llvm::enumerate(meshes)) {
    mesh.seconds = 0;
    std::vector<Atom> atoms;
    std::vector<std::pair<int64_t, bool>> sizes;
    if (mesh.isThere)
      atoms = makeAtoms(graph, mesh.shape);
    for (const Atom &atom : atoms)
      sizes.push_back({atom.axis.size, atom.takesBatch});
    if (sizes.empty() || known.insert(std::move(sizes)).second)
      (isWasteful(atoms) ? wasteful : distinct).push_back(number);
  }
  if (distinct.empty())
    distinct = std::move(wasteful);
  auto key = [&](size_t number) {
    auto [axes, devices] = countJoined(meshes[number].shape);
    return std::tuple(axes, devices, meshes[number].shape.axes.size(), number);
  };
  llvm::sort(distinct, [&](size_t a, size_t b) { return key(a) < key(b); });
  return distinct;
}

void MeshOrder::note(size_t number, double seconds, double least) {
  Mesh &mesh = meshes[number];
  mesh.seconds = seconds;
  if (least > mesh.bound.seconds)
    mesh.bound = {least, training};
}

/// Only degrees that this one's is a multiple of say so: what cannot be split in five may well be
/// split in eight.
bool MeshOrder::isTooWide(const Mesh &mesh, double limit) const {
  auto [axes, own] = countJoined(mesh.shape);
  int64_t slow = own, fast = own;
  for (const Mesh &other : meshes) {
    auto [otherAxes, joined] = countJoined(other.shape);
    if (!other.isThere || other.seconds == 0 || otherAxes != axes || own % joined != 0)
      continue;
    int64_t &nearest = other.seconds > limit ? slow : fast;
    nearest = std::min(nearest, joined);
  }
  return fast < slow && slow < own;
}

bool MeshOrder::isBounded(const Mesh &mesh, double limit) const {
  return mesh.bound.seconds > limit && mesh.bound.training.recompute() <= training.recompute() &&
         mesh.bound.training.accumulate() <= training.accumulate();
}

bool MeshOrder::isHopeless(size_t number, double best, double limit) const {
  const Mesh &mesh = meshes[number];
  if (best <= 0 || !mesh.isThere)
    return false;
  return isTooWide(mesh, limit) || isBounded(mesh, limit) ||
         llvm::any_of(meshes, [&](const Mesh &other) {
           return other.isThere && other.seconds > partedRange * best &&
                  refines(mesh.shape, other.shape);
         });
}

bool MeshOrder::isRefinement(size_t number) const {
  const Mesh &mesh = meshes[number];
  return mesh.isThere && llvm::any_of(meshes, [&](const Mesh &other) {
           return other.isThere && other.shape.axes.size() < mesh.shape.axes.size() &&
                  refines(mesh.shape, other.shape);
         });
}

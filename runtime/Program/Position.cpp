//===- Position.cpp - where a rank stands in the meshes -------------------===//

#include "runtime/Program/Position.h"

#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

int64_t getNumPositions(const plan::Mesh &mesh) {
  int64_t count = 1;
  for (const plan::Axis &axis : mesh.axes()) {
    if (axis.size() < 1 || __builtin_mul_overflow(count, axis.size(), &count))
      throwBadInput("axis '{}' of mesh '{}' has size {}", axis.name(), mesh.name(), axis.size());
  }
  if (mesh.device_order_size() != 0 && mesh.device_order_size() != count)
    throwBadInput("mesh '{}' has {} positions and orders {} devices", mesh.name(), count,
                  mesh.device_order_size());
  return count;
}

/// The place of a rank in the mesh's numbering; -1 where it has none.
static int64_t findPosition(const plan::Mesh &mesh, int64_t rank) {
  int64_t count = getNumPositions(mesh), device = rank - mesh.first_device();
  if (mesh.device_order_size() == 0)
    return device >= 0 && device < count ? device : -1;
  for (int64_t i = 0; i < count; ++i)
    if (mesh.device_order(static_cast<int>(i)) == device)
      return i;
  return -1;
}

Position::Position(const program::Executable &executable, int64_t rank)
    : rank(rank), otherMeshes(executable.meshes_size() > 1) {
  for (const plan::Mesh &mesh : executable.meshes()) {
    int64_t position = findPosition(mesh, rank);
    if (position < 0)
      continue;
    InMesh in{&mesh, std::vector<int64_t>(mesh.axes_size())};
    for (int i = mesh.axes_size(); i-- > 0; position /= mesh.axes(i).size())
      in.coordinates[i] = position % mesh.axes(i).size();
    meshes.push_back(std::move(in));
  }
  if (meshes.empty() && !executable.meshes().empty())
    throwBadInput("rank {} is in none of the executable's meshes", rank);
}

const Position::InMesh &Position::findMesh(const std::string &name, const AxisRefs &axes) const {
  for (const InMesh &in : meshes) {
    if (!name.empty() && in.mesh->name() != name)
      continue;
    if (!name.empty() || axes.empty())
      return in;
    for (const plan::Axis &axis : in.mesh->axes())
      if (axis.name() == axes[0].name())
        return in;
  }
  throwBadInput("rank {} is in no mesh '{}' with the axis '{}'", rank, name,
                axes.empty() ? "" : axes[0].name());
}

Position::SubAxis Position::resolve(const InMesh &in, const plan::AxisRef &ref) {
  for (int i = 0; i < in.mesh->axes_size(); ++i) {
    const plan::Axis &axis = in.mesh->axes(i);
    if (axis.name() != ref.name())
      continue;
    if (ref.size() == 0)
      return {static_cast<size_t>(i), axis.size(), 1};
    if (ref.pre() < 1 || ref.size() < 1 || axis.size() % ref.pre() != 0 ||
        axis.size() / ref.pre() % ref.size() != 0)
      throwBadInput("axis '{}' of size {} has no sub-axis ({}){}", axis.name(), axis.size(),
                    ref.pre(), ref.size());
    return {static_cast<size_t>(i), ref.size(), axis.size() / ref.pre() / ref.size()};
  }
  throwBadInput("mesh '{}' has no axis '{}'", in.mesh->name(), ref.name());
}

int64_t Position::getRank(const plan::Mesh &mesh, const std::vector<int64_t> &coordinates) {
  int64_t position = 0;
  for (int i = 0; i < mesh.axes_size(); ++i)
    position = position * mesh.axes(i).size() + coordinates[i];
  return getRankAt(mesh, position);
}

int64_t getRankAt(const plan::Mesh &mesh, int64_t position) {
  if (position < 0 || position >= getNumPositions(mesh))
    throwBadInput("mesh '{}' has no position {}", mesh.name(), position);
  return mesh.first_device() +
         (mesh.device_order_size() == 0 ? position : mesh.device_order(static_cast<int>(position)));
}

const plan::Mesh &findMesh(const program::Executable &executable, const std::string &name) {
  for (const plan::Mesh &mesh : executable.meshes())
    if (mesh.name() == name)
      return mesh;
  throwBadInput("the executable has no mesh '{}'", name);
}

int64_t Position::getCoordinate(const AxisRefs &axes, const std::string &mesh) const {
  if (axes.empty())
    return 0;
  const InMesh &in = findMesh(mesh, axes);
  int64_t coordinate = 0;
  for (const plan::AxisRef &ref : axes) {
    SubAxis sub = resolve(in, ref);
    coordinate = coordinate * sub.size + in.coordinates[sub.axis] / sub.post % sub.size;
  }
  return coordinate;
}

int64_t Position::getSize(const AxisRefs &axes, const std::string &mesh) const {
  if (axes.empty())
    return 1;
  const InMesh &in = findMesh(mesh, axes);
  int64_t size = 1;
  for (const plan::AxisRef &ref : axes)
    size *= resolve(in, ref).size;
  return size;
}

int64_t Position::evaluate(const program::Affine &affine) const {
  int64_t value = affine.constant();
  for (const program::Affine::Term &term : affine.terms())
    value += term.coefficient() * getCoordinate(term.axes());
  return value;
}

std::vector<int64_t>
Position::getValidExtents(const google::protobuf::RepeatedPtrField<program::Affine> &valid,
                          const std::vector<int64_t> &extents) const {
  if (valid.empty())
    return extents;
  if (static_cast<size_t>(valid.size()) != extents.size())
    throwBadInput("{} numbers of valid elements for {} dimensions", valid.size(), extents.size());
  std::vector<int64_t> result;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    result.push_back(std::clamp<int64_t>(evaluate(valid[static_cast<int>(dim)]), 0, extents[dim]));
  return result;
}

int64_t Position::getMember(const AxisRefs &axes, int64_t coordinate,
                            const std::string &mesh) const {
  const InMesh &in = findMesh(mesh, axes);
  std::vector<int64_t> coordinates = in.coordinates;
  for (int i = axes.size(); i-- > 0;) {
    SubAxis sub = resolve(in, axes[i]);
    int64_t now = coordinates[sub.axis] / sub.post % sub.size;
    coordinates[sub.axis] += (coordinate % sub.size - now) * sub.post;
    coordinate /= sub.size;
  }
  return getRank(*in.mesh, coordinates);
}

std::vector<int64_t> Position::getGroup(const AxisRefs &axes, const std::string &mesh) const {
  if (axes.empty())
    return {rank};
  std::vector<int64_t> group(getSize(axes, mesh));
  for (size_t i = 0; i < group.size(); ++i)
    group[i] = getMember(axes, static_cast<int64_t>(i), mesh);
  return group;
}

bool Position::isFirstCopy(const plan::Sharding &sharding) const {
  if (meshes.empty())
    return true;
  AxisRefs used;
  for (const plan::DimSharding &dim : sharding.dims())
    used.MergeFrom(dim.axes());
  const InMesh &in = sharding.mesh().empty() ? meshes.front() : findMesh(sharding.mesh(), used);
  std::vector<int64_t> rest = in.coordinates;
  for (const plan::AxisRef &ref : used) {
    SubAxis sub = resolve(in, ref);
    rest[sub.axis] -= rest[sub.axis] / sub.post % sub.size * sub.post;
  }
  for (int64_t coordinate : rest)
    if (coordinate != 0)
      return false;
  return true;
}

} // namespace weft::runtime

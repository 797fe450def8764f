//===- Position.h - where a rank stands in the meshes -----------*- C++ -*-===//
//
// Programs are parametric in the rank: what depends on it is affine in its mesh coordinates, and
// groups are named by axes. A Position evaluates both, once, in prepare.
//
// Example: on {data=2, model=4} rank 6 has coordinates data=1, model=2. The axes ["model"] give its
// group {4, 5, 6, 7}, in which it is number 2; the sub-axis "model":(1)2, the major half of model,
// has coordinate 2 / 2 = 1 and gives the group {4, 6}; "model":(2)2, the minor half, has coordinate
// 2 % 2 = 0 and gives {6, 7}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_POSITION_H
#define WEFT_RUNTIME_PROGRAM_POSITION_H

#include "runtime/Program/executable.pb.h"

#include <string>
#include <vector>

namespace weft::runtime {

using AxisRefs = google::protobuf::RepeatedPtrField<plan::AxisRef>;

class Position {
public:
  /// Finds `rank` in the meshes; an Error of kind BadInput where it is in none.
  Position(const program::Executable &executable, int64_t rank);

  int64_t getRank() const { return rank; }
  /// The mesh that the rank stands in.
  const plan::Mesh &getMesh() const { return *meshes.front().mesh; }
  /// Whether the program has other meshes.
  bool hasOtherMeshes() const { return otherMeshes; }

  /// Coordinate along the axes, first major; 0 for no axes.
  int64_t getCoordinate(const AxisRefs &axes, const std::string &mesh = "") const;
  /// Number of coordinates along the axes.
  int64_t getSize(const AxisRefs &axes, const std::string &mesh = "") const;
  int64_t evaluate(const program::Affine &affine) const;
  /// How much of a block of these extents is of the tensor, given `valid` of a port or a weight
  /// block; an Error of kind BadInput where that is of other dimensions.
  std::vector<int64_t>
  getValidExtents(const google::protobuf::RepeatedPtrField<program::Affine> &valid,
                  const std::vector<int64_t> &extents) const;

  /// The ranks that differ from this one along `axes` alone, in the order of their coordinate.
  std::vector<int64_t> getGroup(const AxisRefs &axes, const std::string &mesh = "") const;
  /// The member of the group of `from` whose coordinate along `to`, the same axes in another order,
  /// is `coordinate`.
  int64_t getMember(const AxisRefs &axes, int64_t coordinate, const std::string &mesh = "") const;

  /// Whether this rank's copy of a value is the first: its coordinates along all axes that
  /// `sharding` does not use are 0. Such ranks write outputs.
  bool isFirstCopy(const plan::Sharding &sharding) const;

private:
  struct InMesh {
    const plan::Mesh *mesh;
    std::vector<int64_t> coordinates; ///< one an axis
  };
  struct SubAxis {
    size_t axis;  ///< index into the mesh's axes
    int64_t size; ///< of the sub-axis
    int64_t post; ///< product of what is minor to it in its axis
  };

  const InMesh &findMesh(const std::string &mesh, const AxisRefs &axes) const;
  static SubAxis resolve(const InMesh &in, const plan::AxisRef &axis);
  static int64_t getRank(const plan::Mesh &mesh, const std::vector<int64_t> &coordinates);

  int64_t rank;
  bool otherMeshes;
  std::vector<InMesh> meshes;
};

/// The mesh of that name; an Error of kind BadInput where there is none.
const plan::Mesh &findMesh(const program::Executable &executable, const std::string &name);

/// Number of positions; an Error of kind BadInput where the mesh's sizes are none.
int64_t getNumPositions(const plan::Mesh &mesh);

/// The rank at a position of a mesh, row-major over its axes; an Error of kind BadInput where there
/// is none.
int64_t getRankAt(const plan::Mesh &mesh, int64_t position);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_POSITION_H

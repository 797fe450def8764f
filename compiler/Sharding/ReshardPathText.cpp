// Paths in words.

#include "compiler/Sharding/ReshardPath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;

static void print(llvm::raw_ostream &os, const MeshShape &mesh, const ReshardStep &step) {
  switch (step.kind) {
  case ReshardKind::AllGather:
    os << "all_gather " << step.dim << " " << str(mesh, step.axes);
    return;
  case ReshardKind::AllReduce:
    os << "all_reduce " << str(mesh, step.axes);
    return;
  case ReshardKind::AllToAll:
    os << "all_to_all split " << step.dim << " concat " << step.concatDim << " "
       << str(mesh, step.axes);
    return;
  case ReshardKind::Permute:
    os << "permute " << str(mesh, step.axes) << " to " << str(mesh, step.to);
    return;
  case ReshardKind::ReduceScatter:
    os << "reduce_scatter " << step.dim << " " << str(mesh, step.axes);
    return;
  case ReshardKind::Slice:
    os << "slice " << step.dim << " " << str(mesh, step.axes);
    return;
  }
}

std::string weft::str(const MeshShape &mesh, const ReshardPath &path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(path.steps, os, [&](const ReshardStep &step) { print(os, mesh, step); }, "; ");
  return text;
}

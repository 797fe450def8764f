//===- InspectReport.h - what weft inspect tells of an executable *- C++ -*-===//

#ifndef WEFT_RUNTIME_INSPECT_INSPECTREPORT_H
#define WEFT_RUNTIME_INSPECT_INSPECTREPORT_H

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Executable.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::runtime {

/// Bytes of each kind of arena, all frames together. Always named: weights, state, activations,
/// communication, workspace.
using ArenaBytes = std::map<std::string, int64_t>;

/// "weights", "activations" …
std::string getArenaName(program::ArenaKind kind);

/// Collectives of one kind, from one source.
struct InspectedCollective {
  runtime::CollectiveRecord record;
  bool movesWeights = false; ///< nothing of what it moves depends on the program's inputs
};

struct InspectReport {
  struct RankClass {
    int64_t begin = 0, end = 0; ///< ranks
    int64_t weightsBytes = 0;   ///< that a rank holds; their arena also has the gaps between them
    ArenaBytes arenas;
  };

  struct Mesh {
    std::string name;
    std::vector<std::pair<std::string, int64_t>> axes; ///< axis and size
    int64_t firstRank = 0, ranks = 0;
  };

  int64_t ranks = 0;
  int64_t wholeWeightsBytes = 0; ///< of the model, each weight once
  std::vector<Mesh> meshes;
  std::vector<RankClass> classes;
  std::map<std::string, int64_t> instructions; ///< opcode → executions a step, one rank a class
  int kernels = 0;                             ///< distinct
  std::vector<InspectedCollective> collectives;

  const RankClass &getClass(int64_t rank) const;
};

/// What a rank of a class allocates.
ArenaBytes listArenas(const program::Program &program);

InspectReport inspectExecutable(const runtime::Executable &executable);

struct WeightRow {
  std::string name, whole, held; ///< shapes
  int64_t bytes = 0;             ///< held
};

/// The blocks of weights that a rank holds, largest first.
std::vector<WeightRow> listWeights(const runtime::Executable &executable, int64_t rank);

/// The use of an arena over a step as a picture: '#' full, '+' in part, ' ' free.
struct ArenaMap {
  std::string kind;
  int instructions = 0;
  int64_t bytesPerRow = 0;
  std::vector<std::string> rows; ///< highest addresses first
};

/// One map for each arena that instructions write.
std::vector<ArenaMap> mapArenas(const runtime::Executable &executable, int64_t rank);

/// The instructions of a rank, one a line, with offsets evaluated.
std::vector<std::string> listProgram(const runtime::Executable &executable, int64_t rank);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_INSPECT_INSPECTREPORT_H

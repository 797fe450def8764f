#include "compiler/Search/PartAnswers.h"

#include "compiler/Search/MakeProblem.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/Sharding.h"
#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace weft;

static bool isSameGraph(const ShardingGraph &a, const ShardingGraph &b) {
  // Rules follow from what operations are, which kinds say.
  auto fields = [](const ShardingGraph::Node &node) {
    return std::tie(node.operands, node.results, node.view);
  };
  return a.tensors == b.tensors && a.batchAxes == b.batchAxes &&
         std::equal(
             a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
             [&](const auto &left, const auto &right) { return fields(left) == fields(right); });
}

bool weft::isSameProblem(const ShardingProblem &a, const ShardingProblem &b) {
  auto ofNodes = [](const ShardingProblem &problem) {
    return std::tie(problem.kinds, problem.work, problem.isFree, problem.isEager, problem.isSum,
                    problem.isBarrier, problem.counts, problem.live, problem.hides);
  };
  auto ofTensors = [](const ShardingProblem &problem) {
    return std::tie(problem.isReadFreely, problem.isBeside, problem.isPlaceless, problem.readers,
                    problem.isKept, problem.isReadLate, problem.isReturned, problem.pinned,
                    problem.left, problem.isMadeSo, problem.required, problem.pins);
  };
  auto ofStates = [](const ShardingProblem &problem) {
    return std::tie(problem.states, problem.isOnHost, problem.brought, problem.shared);
  };
  return ofNodes(a) == ofNodes(b) && ofTensors(a) == ofTensors(b) && ofStates(a) == ofStates(b) &&
         isSameGraph(*a.graph, *b.graph);
}

PartAnswers::Mesh &PartAnswers::getMesh(const MeshShape &shape, const ClusterModel &cluster) {
  for (Mesh &mesh : meshes)
    if (mesh.shape.axes == shape.axes)
      return mesh;
  return meshes.emplace_back(shape, cluster);
}

static ShardingProblem ask(const PlannedPart &part, const SearchOptions &options) {
  ShardingProblem problem = makeProblem(part);
  for (auto [node, op] : llvm::enumerate(part.function->operations))
    if (mlir::isa<dist::AccumulateOp>(op) && !op->hasAttr(dist::kShardingAttr) &&
        !options.splitsSums)
      problem.isFree[node] = false;
  return problem;
}

/// What the answer to the same question is under other options; none where that is not known.
std::optional<ShardingAnswer> PartAnswers::adapt(const Known &known, const SearchOptions &options) {
  SearchOptions like = options;
  like.waiting = known.options.waiting;
  like.memoryLimit = known.options.memoryLimit;
  bool isLooser = known.options.memoryLimit > 0 &&
                  (options.memoryLimit <= 0 || options.memoryLimit > known.options.memoryLimit);
  if (like != known.options || isLooser || known.answer.splits.empty())
    return std::nullopt;
  ShardingAnswer answer = known.answer;
  for (double Waiting::*kind : {&Waiting::kept, &Waiting::putOff}) {
    double more = options.waiting.*kind - like.waiting.*kind;
    if (more < 0)
      return std::nullopt;
    answer.memory += more * answer.waitingBytes.*kind;
  }
  bool fits = options.memoryLimit <= 0 || answer.memory <= options.memoryLimit;
  return fits ? std::optional(std::move(answer)) : std::nullopt;
}

ShardingAnswer PartAnswers::get(const PlannedPart &part, const ClusterModel &cluster,
                                const SearchOptions &options) {
  auto question = std::make_shared<const Question>(part.mesh, part.function, ask(part, options));
  for (const std::shared_ptr<const Known> &each : known) {
    const Question &other = *each->question;
    if (other.mesh.axes != part.mesh.axes || !isSameProblem(other.problem, question->problem))
      continue;
    question = each->question;
    if (std::optional<ShardingAnswer> answer = adapt(*each, options))
      return std::move(*answer);
  }
  Mesh &mesh = getMesh(part.mesh, cluster);
  ShardingAnswer answer = searchShardings(question->problem, mesh.prices, mesh.tables, options);
  known.push_back(std::make_shared<Known>(std::move(question), options, answer));
  return answer;
}

void PartAnswers::merge(const PartAnswers &others) {
  for (const std::shared_ptr<const Known> &each : others.known)
    if (!llvm::is_contained(known, each))
      known.push_back(each);
}

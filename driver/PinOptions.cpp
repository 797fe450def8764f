//===- PinOptions.cpp - what --pin decides --------------------------------===//

#include "driver/PinOptions.h"

#include "compiler/Cluster/Catalog.h"
#include "compiler/Cluster/Topology.h"
#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/TrainingPlan.h"
#include "compiler/Schedule/Pipelines.h"
#include "driver/ChooseStages.h"
#include "driver/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace weft;
using llvm::StringRef;

/// More stages on the same devices are a slip of the keyboard.
static constexpr int64_t mostChunks = 1024;

namespace {
/// Reads pins one by one; the first problem is kept.
class PinReader {
public:
  explicit PinReader(plan::Plan &plan) : plan(plan), mesh(*plan.mutable_meshes(0)) {
    hasMesh = mesh.axes_size() > 0;
    isCut = plan.meshes_size() > 1;
  }

  void read(StringRef text);
  /// What is said of how stages stand on meshes, alone.
  void readLayout(StringRef text);

  std::string problem;
  std::vector<plan::Axis> degrees;

private:
  void fail(const llvm::Twine &why) {
    if (problem.empty())
      problem = ("--pin: " + why).str();
  }
  void decide(StringRef name, StringRef value);
  void decideTraining(StringRef name, StringRef value);
  void decideRecompute(StringRef value);
  void decideOffload(StringRef value);
  void decideNumber(StringRef name, StringRef value);
  void decideStages(StringRef value);
  void decideSchedule(StringRef value);
  void decideChunks(StringRef value);
  void decideSlices(StringRef value);
  void pinDegree(StringRef name, StringRef value);

  plan::Plan &plan;
  plan::Mesh &mesh;
  bool hasMesh = false, isCut = false;
};
} // namespace

void PinReader::read(StringRef text) {
  for (StringRef item : llvm::split(text, ',')) {
    auto [name, value] = item.trim().split('=');
    if (name.empty() || value.empty())
      return fail("expected NAME=VALUE[,NAME=VALUE]…, got: '" + text + "'");
    decide(name, value);
  }
}

void PinReader::readLayout(StringRef text) {
  for (StringRef item : llvm::split(text, ','))
    if (auto [name, value] = item.trim().split('='); name == "schedule" || name == "chunks")
      decide(name, value);
}

void PinReader::decide(StringRef name, StringRef value) {
  if (name == "microbatch")
    return fail("'microbatch' cannot be pinned: a plan decides stage (how many), schedule, chunks "
                "(of each stage's devices), slices (of a sequence), degrees of axes (data=8), "
                "microbatches, recompute, offload and optimizer_sharding");
  if (name == "stage")
    return decideStages(value);
  if (llvm::is_contained({"microbatches", "recompute", "offload", "optimizer_sharding", "schedule",
                          "chunks", "slices"},
                         name))
    return decideTraining(name, value);
  pinDegree(name, value);
}

void PinReader::decideTraining(StringRef name, StringRef value) {
  if (!plan.has_training())
    return fail(name + " is of training steps: give --train");
  if (name == "schedule")
    return decideSchedule(value);
  if (name == "chunks")
    return decideChunks(value);
  if (name == "slices")
    return decideSlices(value);
  if (name == "recompute")
    return decideRecompute(value);
  if (name == "offload")
    return decideOffload(value);
  decideNumber(name, value);
}

void PinReader::decideRecompute(StringRef value) {
  plan::Training &training = *plan.mutable_training();
  auto kind = plan::Training::NONE;
  if (!plan::Training::Recompute_Parse(value.upper(), &kind))
    return fail("recompute: there is no '" + value + "'");
  if (training.recompute() != plan::Training::AUTO && training.recompute() != kind)
    return fail("recompute=" + value + ": --recompute, or another pin, says " +
                getRecomputeName(training.recompute()));
  training.set_recompute(kind);
}

void PinReader::decideOffload(StringRef value) {
  plan::Training &training = *plan.mutable_training();
  auto kind = plan::Training::OFFLOAD_NONE;
  if (!plan::Training::Offload_Parse(offloadPrefix + value.upper(), &kind))
    return fail("offload: there is no '" + value + "': none, optimizer or auto");
  if (training.offload() != plan::Training::OFFLOAD_AUTO && training.offload() != kind)
    return fail("offload=" + value + ": --offload, or another pin, says " +
                getOffloadName(training.offload()));
  training.set_offload(kind);
}

void PinReader::decideNumber(StringRef name, StringRef value) {
  plan::Training &training = *plan.mutable_training();
  int64_t number = 0;
  if (value.getAsInteger(10, number) || number < 0)
    return fail(name + ": expected a number, got: " + value);
  if (name == "optimizer_sharding") {
    if (number > 3)
      return fail("optimizer_sharding: expected 0 to 3, got: " + value);
    if (training.optimizer_sharding() > 0 && training.optimizer_sharding() != number)
      return fail("optimizer_sharding=" + value + ": --optimizer-sharding, or another pin, says " +
                  std::to_string(training.optimizer_sharding()));
    return training.set_optimizer_sharding(number);
  }
  if (number < 1 || number > mostPasses)
    return fail("microbatches=" + value + ": expected 1 to " + std::to_string(mostPasses));
  if (training.accumulate_batches() > 1 && number > 1)
    return fail("microbatches=" + value +
                ": --accumulate-batches has the step take several batches, each whole");
  if (training.accumulate() > 0 && training.accumulate() != number)
    return fail("microbatches=" + value + ": --accumulate, or another pin, says " +
                std::to_string(training.accumulate()));
  training.set_accumulate(number);
}

void PinReader::decideStages(StringRef value) {
  int64_t number = anyStages;
  if (value != "auto" && (value.getAsInteger(10, number) || number < 1 || number > maxDevices))
    return fail("stage=" + value + ": expected how many stages, 1 to " +
                std::to_string(maxDevices) + ", or auto");
  if (number == anyStages && (plan.cluster().empty() || hasMesh))
    return fail("stage=auto is found on a cluster, whose devices the stages divide: give "
                "--cluster, and no --mesh");
  if (isCut)
    return fail("stage=" + value + ": --cut says where stages end");
  plan.set_stages(number);
}

void PinReader::decideSchedule(StringRef value) {
  if (std::string why = schedule::checkPipelineName(value.str()); !why.empty())
    return fail("schedule=" + value + ": " + why);
  plan.mutable_training()->set_pipeline(value.str());
}

void PinReader::decideChunks(StringRef value) {
  int64_t number = 0;
  if (value.getAsInteger(10, number) || number < 1 || number > mostChunks)
    return fail("chunks=" + value + ": expected how many stages stand on the same devices, 1 to " +
                std::to_string(mostChunks));
  plan.set_chunks(number);
}

/// So many, or the tokens of each: 512:256:256.
void PinReader::decideSlices(StringRef value) {
  plan::Training &training = *plan.mutable_training();
  training.clear_slice_lengths();
  if (value == "auto" && (plan.cluster().empty() || isCut))
    return fail("slices=auto is found for the stages that a cluster's devices make: give "
                "--cluster, and no --cut");
  if (value == "auto")
    return training.set_slices(anySlices);
  int64_t number = 0;
  if (value.contains(':')) {
    for (StringRef each : llvm::split(value, ':')) {
      if (each.getAsInteger(10, number) || number < 1)
        return fail("slices=" + value + ": expected tokens of each slice, N:N…");
      training.add_slice_lengths(number);
    }
    number = training.slice_lengths_size();
  } else if (value.getAsInteger(10, number) || number < 1) {
    number = 0;
  }
  if (number < 1 || number > mostSlices)
    return fail("slices=" + value +
                ": expected in how many slices sequences go through stages, 1 to " +
                std::to_string(mostSlices) + ", auto, or the tokens of each, N:N…");
  training.set_slices(number);
}

void PinReader::pinDegree(StringRef name, StringRef value) {
  if (isCut)
    return fail(name + "=" + value + ": each part has a mesh of its own, which --mesh says");
  plan::Axis axis;
  axis.set_name(name.str());
  int64_t size = 0;
  if (value.getAsInteger(10, size) || size < 1 || size > maxDevices)
    return fail("expected a size from 1 to " + std::to_string(maxDevices) + " for axis '" + name +
                "', got: " + value);
  axis.set_size(size);
  if (llvm::any_of(degrees, [&](const plan::Axis &other) { return other.name() == axis.name(); }))
    return fail("axis '" + name + "' is pinned twice");
  auto known = llvm::find_if(mesh.axes(),
                             [&](const plan::Axis &other) { return other.name() == axis.name(); });
  if (hasMesh && size > 1 && (known == mesh.axes().end() || known->size() != size))
    return fail(
        name + "=" + value + ": --mesh has " +
        (known == mesh.axes().end() ? "no such axis" : name + "=" + llvm::Twine(known->size())));
  degrees.push_back(std::move(axis));
}

/// `data` before all others, `model` behind them: neighbours are the nearest devices. Those two are
/// open where they are not pinned and may be.
static std::vector<plan::Axis> orderAxes(const std::vector<plan::Axis> &degrees, bool isOpen) {
  std::vector<plan::Axis> ordered;
  auto add = [&](const char *name) {
    auto pinned =
        llvm::find_if(degrees, [&](const plan::Axis &axis) { return axis.name() == name; });
    if (pinned != degrees.end())
      ordered.push_back(*pinned);
    else if (isOpen)
      ordered.emplace_back().set_name(name);
  };
  add("data");
  for (const plan::Axis &axis : degrees)
    if (axis.name() != "data" && axis.name() != "model")
      ordered.push_back(axis);
  add("model");
  return ordered;
}

/// The product of degrees, and whether an axis is open besides; more than maxDevices where it is.
static std::pair<int64_t, bool> multiply(llvm::ArrayRef<plan::Axis> axes) {
  int64_t product = 1;
  bool isOpen = false;
  for (const plan::Axis &axis : axes) {
    isOpen |= axis.size() == 0;
    if (axis.size() > 0 && product <= maxDevices)
      product *= axis.size();
  }
  return {product, isOpen};
}

static bool haveMesh(llvm::ArrayRef<plan::Axis> axes, int64_t devices) {
  auto [product, isOpen] = multiply(axes);
  return isOpen ? devices % product == 0 : product == devices;
}

static std::string describe(llvm::ArrayRef<plan::Axis> degrees) {
  std::string text;
  for (const plan::Axis &axis : degrees)
    text += (text.empty() ? "" : ",") + axis.name() + "=" + std::to_string(axis.size());
  return text;
}

/// Which degrees exclude each other on so many devices, and what each would have to be beside the
/// others; "" where the devices make a mesh of all.
static std::string findConflict(std::vector<plan::Axis> degrees, const std::string &cluster,
                                int64_t devices) {
  if (haveMesh(orderAxes(degrees, /*isOpen=*/true), devices))
    return "";
  auto without = [](std::vector<plan::Axis> axes, size_t index) {
    axes.erase(axes.begin() + index);
    return axes;
  };
  for (size_t i = degrees.size(); i-- > 0;)
    if (std::vector<plan::Axis> fewer = without(degrees, i);
        !haveMesh(orderAxes(fewer, /*isOpen=*/true), devices))
      degrees = std::move(fewer);
  auto [product, isOpen] = multiply(orderAxes(degrees, /*isOpen=*/true));
  std::string count = std::to_string(devices), ways;
  for (size_t i = 0; i < degrees.size(); ++i) {
    std::vector<plan::Axis> others = without(degrees, i);
    int64_t rest = devices / multiply(others).first;
    ways += (ways.empty() ? "; " : ", or ") +
            (others.empty() ? "" : "beside " + describe(others) + " ") + degrees[i].name() +
            (isOpen ? " may be a divisor of " : " may be ") + std::to_string(rest);
  }
  return "no mesh of the " + count + " devices of " + cluster + " has " + describe(degrees) +
         " (--pin): " + count + (isOpen ? " is no multiple of " : " is not ") +
         std::to_string(product) + ways;
}

/// The degree of 1 that leaves out an axis on which --shard pins something.
static std::string findLeftOut(llvm::ArrayRef<plan::Axis> degrees, const plan::Plan &plan) {
  for (const plan::Decision &decision : plan.decisions())
    for (const plan::DimSharding &dim : decision.sharding().dims())
      for (const plan::AxisRef &axis : dim.axes())
        for (const plan::Axis &degree : degrees)
          if (degree.size() == 1 && degree.name() == axis.name())
            return "these pins conflict: --pin " + degree.name() + "=1 leaves no axis '" +
                   axis.name() + "', over which --shard splits '" + decision.value() + "'";
  return "";
}

std::string weft::findLayout(const plan::Plan &plan, StageLayout &layout) {
  layout.schedule = plan.training().pipeline();
  layout.chunks = static_cast<int>(plan.chunks());
  if (layout.chunks == 0)
    layout.chunks = plan.has_training() ? schedule::getUsualChunks(layout.schedule) : 1;
  return schedule::checkChunks(layout.schedule, layout.chunks);
}

Outcome weft::readLayout(mlir::MLIRContext &context, const std::vector<std::string> &pins,
                         StageLayout &layout) {
  plan::Plan plan; // of these pins alone
  plan.add_meshes();
  plan.mutable_training();
  PinReader reader(plan);
  for (const std::string &text : pins)
    reader.readLayout(text);
  std::string problem = reader.problem;
  if (problem.empty())
    problem = findLayout(plan, layout);
  return problem.empty() ? Outcome::success()
                         : fail(context, ErrorKind::Usage, "--pin: " + problem);
}

/// Whether what is said of stages goes together, and there are any. A plan whose stages are cut has
/// no need of their number any more.
static std::string checkStages(plan::Plan &plan) {
  if (!plan.cuts().empty()) {
    plan.clear_chunks();
    return "";
  }
  if (plan.stages() == 0 || plan.stages() == 1) {
    std::string ofStages = plan.chunks() > 1 ? "chunks=" + std::to_string(plan.chunks())
                           : plan.training().slices() == anySlices ? "slices=auto"
                           : plan.training().slices() > 1
                               ? "slices=" + std::to_string(plan.training().slices())
                               : "";
    return ofStages.empty() ? "" : ofStages + ": there are no stages: give stage=N, or --cut";
  }
  StageLayout layout;
  return findLayout(plan, layout);
}

Outcome weft::addPins(mlir::MLIRContext &context, const std::vector<std::string> &pins,
                      plan::Plan &plan) {
  if (pins.empty())
    return Outcome::success();
  bool hasMesh = plan.meshes(0).axes_size() > 0;
  PinReader reader(plan);
  for (const std::string &text : pins)
    reader.read(text);
  if (reader.problem.empty())
    if (std::string why = checkStages(plan); !why.empty())
      reader.problem = "--pin: " + why;
  if (!reader.problem.empty())
    return fail(context, ErrorKind::Usage, reader.problem);
  if (hasMesh || (reader.degrees.empty() && plan.stages() <= 1))
    return Outcome::success();
  if (!plan.cluster().empty()) {
    std::string problem;
    std::optional<cluster::Cluster> description = resolveCluster(plan.cluster(), problem);
    if (!description)
      return fail(context, ErrorKind::Usage, "--cluster: " + problem);
    int64_t devices = makeClusterModel(*description).groups.front().getNumDevices();
    if (plan.stages() > 0 && devices % plan.stages() != 0)
      return fail(context, ErrorKind::Infeasible,
                  "--pin: stage=" + std::to_string(plan.stages()) + " does not divide the " +
                      std::to_string(devices) + " devices of " + plan.cluster());
    devices /= std::max<int64_t>(plan.stages(), 1);
    if (std::string why = findConflict(reader.degrees, plan.cluster(), devices); !why.empty())
      return fail(context, ErrorKind::Infeasible, why);
  }
  if (reader.degrees.empty())
    return Outcome::success();
  if (std::string why = findLeftOut(reader.degrees, plan); !why.empty())
    return fail(context, ErrorKind::Infeasible, why);
  for (const plan::Axis &axis : orderAxes(reader.degrees, !plan.cluster().empty()))
    if (axis.size() != 1)
      *plan.mutable_meshes(0)->add_axes() = axis;
  return Outcome::success();
}

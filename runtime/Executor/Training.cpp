//===- Training.cpp - the steps of a training run -------------------------===//

#include "runtime/Executor/Training.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Executor/ProcessMemory.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/Error.h"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft::runtime {

namespace {

double getSecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// An optimizer's state, which nobody needs who runs the model.
bool isOfOptimizer(const program::Weight &state) { return state.name().starts_with("optimizer."); }

int64_t countElements(const program::Port &port) {
  int64_t elements = 1;
  for (int64_t extent : port.shape())
    elements *= extent;
  return elements;
}

/// As short as tells the number's value; JSON has no other numbers than finite ones.
std::string formatNumber(double value) {
  if (!std::isfinite(value))
    return "null";
  auto narrow = static_cast<float>(value);
  return narrow == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}

} // namespace

struct Training::StepStatus {
  int64_t peakRss = 0;
  std::vector<std::pair<size_t, double>> scalars; ///< that this rank is the first to hold
  std::string firstNan;                           ///< NanCheck::getFound
  int64_t nanPosition = 0;
  bool statesHoldNan = false;
  std::string checkpoint; ///< Checkpoints::getStatus

  std::string format() const;
  static StepStatus parse(const std::string &text);
};

std::string Training::StepStatus::format() const {
  auto json = nlohmann::json::array(
      {peakRss, nlohmann::json::array(), firstNan, nanPosition, statesHoldNan, checkpoint});
  for (auto [number, value] : scalars)
    json[1].push_back({number, std::bit_cast<uint64_t>(value)});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Training::StepStatus Training::StepStatus::parse(const std::string &text) {
  nlohmann::json json = nlohmann::json::parse(text);
  StepStatus status;
  status.peakRss = json[0].get<int64_t>();
  status.firstNan = json[2].get<std::string>();
  status.nanPosition = json[3].get<int64_t>();
  status.statesHoldNan = json[4].get<bool>();
  status.checkpoint = json[5].get<std::string>();
  for (const nlohmann::json &scalar : json[1])
    status.scalars.emplace_back(scalar[0].get<size_t>(),
                                std::bit_cast<double>(scalar[1].get<uint64_t>()));
  return status;
}

//===----------------------------------------------------------------------===//
// Before the steps
//===----------------------------------------------------------------------===//

Training::Training(TrainContext given)
    : context(std::move(given)), options(*context.options.train) {
  for (size_t i = 0; i < context.outputs.size(); ++i)
    if (context.outputs[i].shape.empty() && isFloat(context.outputs[i].local.dtype))
      scalars.push_back({i});
  for (const program::Port *port : listInputs(context.executable.proto)) {
    bool isInteger = port->dtype() != program::I1 && !isFloat(port->dtype());
    if (isInteger && port->shape_size() >= 2)
      tokens = std::max(tokens, countElements(*port));
    if (samples == 0 && port->shape_size() > 0)
      samples = port->shape(0);
  }
  report.tokens = tokens;
  report.samples = samples;
}

bool Training::isLoss(const Scalar &scalar) const {
  return context.outputs[scalar.output].port->name() == context.executable.proto.training().loss();
}

/// What the run hands out must be there, and its files must be such as can be written: before the
/// first step, not after the last.
void Training::checkOutputs() const {
  if (context.states.getWeights().empty())
    throwBadInput("'{}' trains nothing: its steps change no weight; see weft compile --train and "
                  "--carry",
                  context.executable.folder);
  if (context.transport.getRank() == 0 && !options.exportWeights.empty())
    OutputFile check(options.exportWeights);
}

void Training::prepare() {
  agree(context.transport, [&] {
    checkOutputs();
    data = openTrainData(options.data, context.executable.proto, context.program);
  });
  if (!options.checkpoints.empty()) {
    checkpoints.emplace(context.transport, context.states, options.checkpoints,
                        options.checkpointsKept);
    resumed = checkpoints->open(options.resume);
  }
  report.firstStep = resumed ? resumed->step : 0;
  int64_t left = std::max<int64_t>(options.steps - report.firstStep, 0);
  agree(context.transport, [&] {
    if (resumed)
      data->moveTo(resumed->data, checkpoints->getFolder().getPath(resumed->step));
    data->require(left);
    if (context.transport.getRank() == 0)
      data->check(); // a step that is trained on damaged data cannot be taken back
    if (options.debugNan)
      nanCheck.emplace(context.program, context.position);
    if (context.transport.getRank() == 0 && !options.log.empty())
      log.emplace(options.log, report.firstStep);
  });
  if (!options.dumpGradients.empty() && left > 0)
    gradients.emplace(context.transport, options.dumpGradients, context.executable,
                      context.position);
}

void Training::restore() { checkpoints->restore(*resumed, context.access()); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Training::execute() {
  auto begin = Clock::now();
  for (int64_t step = report.firstStep; step < options.steps; ++step) {
    auto stepBegin = Clock::now();
    saveIfDue(step);
    runStep(step, stepBegin);
  }
  if (report.steps > 0)
    saveIfDue(options.steps);
  if (showed)
    printErrorText("\n");
  report.seconds = getSecondsSince(begin);
}

void Training::runStep(int64_t step, Clock::time_point begin) {
  context.location.enterStage("reading of a step's inputs");
  data->readNext(context.inputs, context.access());
  context.waitForCopies();
  if (nanCheck)
    nanCheck->begin();
  context.runStep(step);
  context.location.enterStage("the end of a step");
  std::vector<std::string> texts = gatherTexts(context.transport, makeStatus().format());
  std::vector<StepStatus> all;
  for (const std::string &text : texts)
    all.push_back(StepStatus::parse(text));
  std::vector<std::string> statuses;
  const StepStatus *first = nullptr; // to make a NaN
  bool statesHoldNan = false;
  for (const StepStatus &status : all) {
    peakRss = std::max(peakRss, status.peakRss);
    for (auto [number, value] : status.scalars)
      scalars[number].value = value;
    if (!status.firstNan.empty() && (!first || status.nanPosition < first->nanPosition))
      first = &status;
    statesHoldNan |= status.statesHoldNan;
    statuses.push_back(status.checkpoint);
  }
  ++report.steps;
  conclude(step, getSecondsSince(begin));
  if (checkpoints)
    checkpoints->handle(statuses);
  std::string firstNan;
  if (first)
    firstNan = fmt::format("rank {}, {}", first - all.data(), first->firstNan);
  checkNumbers(step, firstNan, statesHoldNan);
  if (gradients) {
    gradients->commit();
    gradients.reset();
  }
}

Training::StepStatus Training::makeStatus() {
  StepStatus status;
  status.peakRss = getPeakRss();
  PortAccess access = context.access();
  for (size_t i = 0; i < scalars.size(); ++i) {
    const PortBlock &output = context.outputs[scalars[i].output];
    if (!output.firstCopy)
      continue;
    access.staging.look(output.local, access.bases, access.stream,
                        [&](const Piece &piece, const std::byte *memory) {
                          status.scalars.emplace_back(i, readAsDouble(piece.view.dtype, memory, 0));
                        });
  }
  if (nanCheck) {
    status.firstNan = nanCheck->getFound();
    status.nanPosition = nanCheck->getPosition();
    for (const States::Block &block : context.states.getBlocks())
      if (isFloat(block.second.local.dtype) && !status.statesHoldNan)
        status.statesHoldNan = holdsNan(block.second.local, access);
  }
  if (checkpoints)
    status.checkpoint = checkpoints->getStatus();
  return status;
}

/// Tells the world of a step.
void Training::conclude(int64_t step, double seconds) {
  report.scalars.clear();
  for (const Scalar &scalar : scalars)
    report.scalars.emplace_back(context.outputs[scalar.output].port->name(), scalar.value);
  if (log)
    log->add(formatLine(step, seconds));
  if (options.progress && context.transport.getRank() == 0)
    showProgress(step, seconds);
  showed |= options.progress && context.transport.getRank() == 0;
}

std::string Training::formatLine(int64_t step, double seconds) const {
  std::string line = fmt::format("{{\"step\":{}", step);
  for (const auto &[name, value] : report.scalars)
    line += fmt::format(",{}:{}", nlohmann::json(name).dump(), formatNumber(value));
  line += fmt::format(",\"seconds\":{:.6g}", seconds);
  if (tokens > 0)
    line += fmt::format(",\"tokens_per_second\":{:.6g}", double(tokens) / seconds);
  else if (samples > 0)
    line += fmt::format(",\"samples_per_second\":{:.6g}", double(samples) / seconds);
  return line + fmt::format(",\"peak_rss_bytes\":{}}}", peakRss);
}

void Training::showProgress(int64_t step, double seconds) const {
  std::string line = fmt::format("\r\x1b[Kstep {}/{}", step + 1, options.steps);
  for (const auto &[name, value] : report.scalars)
    line += fmt::format("  {} {:.5g}", name, value);
  if (tokens > 0)
    line += fmt::format("  {:.0f} tokens/s", double(tokens) / seconds);
  else if (samples > 0)
    line += fmt::format("  {:.1f} samples/s", double(samples) / seconds);
  line += fmt::format("  {:.2f} GB", 1e-9 * double(peakRss));
  auto left = static_cast<int64_t>(seconds * double(options.steps - step - 1));
  printErrorText(line +
                 fmt::format("  {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60));
}

void Training::checkNumbers(int64_t step, const std::string &firstNan, bool statesHoldNan) {
  std::string wrong;
  for (const Scalar &scalar : scalars)
    if (std::isnan(scalar.value) || (isLoss(scalar) && !std::isfinite(scalar.value)))
      wrong = fmt::format("{} is {}", context.outputs[scalar.output].port->name(),
                          std::isnan(scalar.value) ? NAN : scalar.value); // without NaN's sign
  if (wrong.empty() && statesHoldNan)
    wrong = "a weight or state became nan";
  if (wrong.empty())
    return;
  if (!firstNan.empty())
    wrong += fmt::format("; the first nan was made by {}", firstNan);
  else if (!nanCheck)
    wrong += "; --debug-nan tells which operation made it";
  if (checkpoints)
    checkpoints->finish(); // the one before is not lost by this
  throw AgreedError(ErrorKind::Failure, fmt::format("in step {}, {}", step, wrong),
                    context.transport.getRank() == 0);
}

void Training::saveIfDue(int64_t done) {
  bool isDue = done == options.steps || done % options.checkpointEvery == 0;
  if (!checkpoints || !isDue || done == report.firstStep)
    return;
  context.location.enterStage("a checkpoint");
  checkpoints->begin(done, data->getPosition(), context.access(), [this] {
    if (log) // what it says of the steps before must not be lost
      log->sync();
  });
}

void Training::deliver() {
  if (checkpoints) {
    checkpoints->finish();
    if (checkpoints->getLatest() >= 0)
      report.checkpoint = checkpoints->getFolder().getPath(checkpoints->getLatest());
  }
  if (!options.exportWeights.empty())
    context.states.write(options.exportWeights, context.transport, context.access(),
                         [](const program::Weight &state) { return !isOfOptimizer(state); });
}

} // namespace weft::runtime

//===- Calibrate.cpp - weft calibrate -------------------------------------===//

#include "compiler/Cluster/ClusterText.h"
#include "compiler/Cost/Calibration.h"
#include "runtime/Support/Console.h"
#include "tools/weft/Command.h"
#include "tools/weft/MeasureHost.h"
#include "tools/weft/Messages.h"
#include "tools/weft/NumberChecks.h"
#include "tools/weft/Output.h"

#include <fmt/format.h>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

namespace {

struct CalibrateOptions {
  std::string output;
  std::string transport = "local";
  int64_t rounds = 8;
  bool mpiRank = false; ///< this process is one of those that the command launches
};

void printCurves(const cluster::Cluster &cluster) {
  for (const cluster::Curve &curve : cluster.curves()) {
    runtime::print("\n{} (mean error {:.1f} %)\n  {:<20} {:>12} {:>12} {:>8}\n", curve.name(),
                   100 * curve.mean_error(), fmt::format("{}", fmt::join(curve.axes(), " x ")),
                   "measured us", "model us", "error");
    for (const cluster::Curve::Point &point : curve.points())
      runtime::print("  {:<20} {:>12.2f} {:>12.2f} {:>+7.1f}%\n",
                     fmt::format("{}", fmt::join(point.at(), " x ")), point.measured() * 1e6,
                     point.predicted() * 1e6, 100 * (point.predicted() / point.measured() - 1));
    std::string terms;
    for (const cluster::Curve::Term &term : curve.terms())
      terms += fmt::format("{}{} {:.3g} {}", terms.empty() ? "" : ", ", term.name(),
                           term.value().value(), term.value().unit());
    if (!terms.empty())
      runtime::print("  fitted: {}\n", terms);
  }
}

void printSummary(const cluster::Cluster &cluster) {
  const cluster::Device &device = cluster.devices(0);
  const cluster::Tier &tier = cluster.groups(0).tiers(0);
  runtime::print(
      "{} cores, each: products {:.4g} GFLOP/s (half of it at depth {:.3g}), copy {:.4g} "
      "GB/s, launch {:.3g} us; all-reduce {:.4g} GB/s after {:.3g} us\n",
      tier.fanout(), device.peaks(0).seen().value(), device.half_depth().value(),
      device.copy().value(), device.launch().value(), tier.seen().value(),
      cluster.library().call().value());
}

void printJson(const cluster::Cluster &cluster, double seconds) {
  nlohmann::ordered_json json = {{"seconds", seconds}, {"curves", nlohmann::ordered_json::array()}};
  for (const cluster::Curve &curve : cluster.curves())
    json["curves"].push_back({{"name", curve.name()}, {"mean_error", curve.mean_error()}});
  printJsonValue(json);
}

int calibrate(const CalibrateOptions &options, const Common &common) {
  if (options.mpiRank)
    return measureAsMpiRank();
  std::optional<runtime::OutputFile> file;
  if (int code = openOutput("-o", options.output, common, file))
    return code;
  HostMeasurement measured = measureHost(options.rounds, options.transport == "mpi",
                                         !common.quiet && isatty(STDERR_FILENO));
  measured.samples.transport = options.transport;
  if (!measured.mpiProblem.empty()) {
    std::string what = "processes are not measured: " + measured.mpiProblem;
    if (options.transport == "mpi")
      return fail(Exit::BadInput, what);
    warn(what);
  }
  if (!measured.programProblem.empty())
    warn("kernels and convolutions are not measured: " + measured.programProblem);
  std::string problem;
  std::optional<cluster::Cluster> cluster = describeHost(measured.samples, problem);
  if (!cluster)
    return fail(Exit::Failure, problem + "; is the machine busy? try again, or --rounds 9");
  file->write(printCluster(*cluster));
  file->commit();
  if (common.json) {
    printJson(*cluster, measured.seconds);
  } else if (hasTables(file, common)) {
    printSummary(*cluster);
    printCurves(*cluster);
    runtime::print("\n{}: written after {:.0f} s\n", options.output, measured.seconds);
  }
  return Exit::Ok;
}

} // namespace

CLI::App *weft::tool::addCalibrate(CLI::App &app, const Common &common, Runner &run) {
  CLI::App *command =
      app.add_subcommand("calibrate", "measure this machine and write its cluster description");
  auto options = std::make_shared<CalibrateOptions>();
  addOutputOption(*command, options->output, "the description to write (-: the standard output)")
      ->required()
      ->type_name("CLUSTER.txtpb");
  command->add_option("--rounds", options->rounds, "measure so often and keep the fastest of each")
      ->check(isWithin(1, 9));
  command
      ->add_option("--transport", options->transport,
                   "whose collectives the description's own are: threads' or processes'")
      ->check(CLI::IsMember({"local", "mpi"}))
      ->type_name("local|mpi");
  command->add_flag("--mpi-rank", options->mpiRank)->group("");
  command->footer(
      "Products over sizes through the runtime's own library, copies, launches, "
      "collectives between\nthreads and, where mpirun works, processes; about 100 seconds. "
      "Everything measured, and what the\ncost model makes of it, is printed and kept "
      "in the file.\n\n"
      "Example:\n  weft calibrate -o host.txtpb && weft cluster show host.txtpb");
  run = [options, &common] { return calibrate(*options, common); };
  return command;
}

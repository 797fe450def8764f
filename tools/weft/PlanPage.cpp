#include "tools/weft/PlanPage.h"

#include "tools/weft/Bytes.h"
#include "tools/weft/HtmlTable.h"
#include "tools/weft/Seconds.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

using namespace weft::tool;
using nlohmann::ordered_json;

/// Collectives, and names of weights that lie alike, that are shown; the JSON has all.
static constexpr size_t maxRows = 40, maxNames = 12;

/// Shares of a step, and s, below which nothing is shown.
static constexpr double leastShare = 0.0005, leastShown = 1e-12;

/// The look: two colours for figures, one a class of memory, by the reader's own choice of light or
/// dark.
static constexpr const char *head = R"(<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --line: light-dark(#d8dce2, #3a3f47); --soft: light-dark(#5b6470, #a3abb6); --bar: light-dark(#2f6fb2, #6aa7e8);
  --floor: light-dark(#3d8f5f, #6fc795) }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 84rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem } p { color: var(--soft); margin: .25rem 0 .75rem }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600; color: var(--soft) }
td, th { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top } .number { text-align: right; white-space: nowrap }
code { font: .9em ui-monospace, monospace; overflow-wrap: break-word } .name { white-space: nowrap } .bars { width: 45% } .track { position: relative; height: 1.1em }
.track i { position: absolute; top: 0; bottom: 0; background: var(--bar); min-width: 2px; border-radius: 2px } .track i.floor { background: var(--floor) }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1.25rem 0 } .figures b { display: block; font-size: 1.6rem; font-weight: 600 }
.figures span { color: var(--soft) } summary { cursor: pointer; font-weight: 600 } details { margin: 2rem 0 }
</style>
)";

//===----------------------------------------------------------------------===//
// Parts of the page
//===----------------------------------------------------------------------===//

static std::string code(const std::string &text) { return "<code>" + escapeHtml(text) + "</code>"; }

/// Of a column whose names are not broken.
static HtmlTable::Cell whole(const std::string &text) { return {code(text), "name"}; }

/// `1 050 673 152`
static std::string group(int64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;)
    text.insert(at -= 3, " ");
  return text;
}

static std::string joinCode(const ordered_json &names) {
  std::string text;
  for (size_t i = 0; i < std::min(maxNames, names.size()); ++i)
    text += (i > 0 ? ", " : "") + code(names[i]);
  return names.size() > maxNames ? fmt::format("{} and {} more", text, names.size() - maxNames)
                                 : text;
}

/// A bar from one share of a row to another.
static std::string bar(double begin, double share, const char *kind = "") {
  return fmt::format("<div class=track><i class='{}' style='left:{:.3f}%;width:{:.3f}%'></i></div>",
                     kind, 100 * begin, 100 * share);
}

static std::string heading(const std::string &title, const std::string &explanation) {
  return fmt::format("<h2>{}</h2>\n<p>{}</p>\n", title, explanation);
}

static std::string figure(const std::string &value, const std::string &what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escapeHtml(value), escapeHtml(what));
}

static std::string describeMeshes(const ordered_json &plan) {
  std::string text;
  for (const ordered_json &axis : plan["axes"])
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis["name"].get<std::string>(),
                        axis["size"].get<int64_t>());
  return text.empty() ? "one device" : text;
}

static std::string describeSlices(int64_t slices) {
  return slices > 1 ? fmt::format(", sequences in {} slices", slices) : "";
}

static std::string makeFigures(const ordered_json &plan) {
  std::string figures = figure(describeMeshes(plan), "mesh");
  if (plan.contains("predicted"))
    figures += figure(formatSeconds(plan["predicted"]["step_seconds"]), "a step, simulated");
  if (plan.contains("memory")) {
    const auto held = plan["memory"]["per_rank_bytes"].get<std::vector<int64_t>>();
    int64_t most = held.empty() ? 0 : *std::max_element(held.begin(), held.end());
    figures += figure(formatBytes(most), "of " + formatBytes(plan["memory"]["limit_bytes"]) +
                                             " that a device may hold");
  }
  if (int64_t count = plan["microbatches"]; plan.contains("recompute")) {
    auto offload = plan["offload"].get<std::string>();
    figures +=
        figure(group(count),
               fmt::format("microbatch{}{}, recompute {}{}", count == 1 ? "" : "es",
                           describeSlices(plan["slices"]), plan["recompute"].get<std::string>(),
                           offload == "none" ? "" : ", offload " + offload));
  }
  if (plan.contains("search") && plan["search"].contains("cost")) {
    double cost = plan["search"]["cost"], bound = plan["search"]["lower_bound"];
    figures += figure(fmt::format("{:.1f} %", cost > 0 ? 100 * (1 - bound / cost) : 0.0),
                      "at most above the best split");
  }
  return "<div class=figures>\n" + figures + "</div>\n";
}

/// Each part begins where the last one ended; those that no bar shows are left out.
static std::string makeWaterfall(const ordered_json &predicted) {
  double step = std::max(predicted["step_seconds"].get<double>(), leastShown), before = 0;
  HtmlTable table({"part", "", "share", ""});
  for (const ordered_json &part : predicted["waterfall"]) {
    double seconds = part["seconds"], share = seconds / step;
    const char *kind = before == 0 ? "floor" : "";
    if (share > leastShare)
      table.add({escapeHtml(part["name"]), HtmlTable::number(formatSeconds(seconds)),
                 HtmlTable::number(fmt::format("{:.1f} %", 100 * share)),
                 HtmlTable::wide(bar(before / step, share, kind))});
    before += seconds;
  }
  return heading("A step", "From the arithmetic that no plan can do without to the simulated step; "
                           "the parts add up to it.") +
         table.str();
}

static std::string makeMemory(const ordered_json &memory) {
  double limit = memory["limit_bytes"], whole = 0, before = 0;
  for (const auto &[name, bytes] : memory["classes"].items())
    whole += bytes.get<double>();
  double scale = std::max({limit, whole, 1.0});
  HtmlTable table({"for", "", "of the limit", ""});
  for (const auto &[name, held] : memory["classes"].items()) {
    auto bytes = held.get<int64_t>();
    if (bytes == 0)
      continue;
    std::string what = name;
    std::replace(what.begin(), what.end(), '_', ' ');
    double share = double(bytes) / scale;
    table.add(
        {escapeHtml(what), HtmlTable::number(formatBytes(bytes)),
         HtmlTable::number(limit > 0 ? fmt::format("{:.1f} %", 100 * double(bytes) / limit) : ""),
         HtmlTable::wide(bar(before, share))});
    before += share;
  }
  HtmlTable owners({"the largest owners", ""});
  for (const ordered_json &owner : memory["owners"])
    owners.add({code(owner["name"]), HtmlTable::number(formatBytes(owner["bytes"]))});
  return heading("Memory", "Of the device that holds most, at the time when most is held.") +
         table.str() + "<br>\n" + owners.str();
}

static std::string makeAxes(const ordered_json &axes) {
  HtmlTable table({"axis", "devices", "over", "splits", "collectives", "bytes", "time"});
  for (const ordered_json &axis : axes)
    table.add({code(axis["name"]), HtmlTable::number(axis["size"].dump()), escapeHtml(axis["tier"]),
               joinCode(axis["splits"]), HtmlTable::number(axis["collectives"].dump()),
               HtmlTable::number(formatBytes(static_cast<int64_t>(axis["bytes"].get<double>()))),
               HtmlTable::number(formatSeconds(axis["seconds"]))});
  return heading("Axes of the mesh", "What each splits, and what goes over it in a step.") +
         table.str();
}

static std::string makeBlocks(const ordered_json &blocks) {
  HtmlTable table({"times", "block", "parameters", "sharding", "of"});
  for (const ordered_json &block : blocks) {
    bool isFirst = true;
    auto add = [&](const std::string &sharding, const std::string &what) {
      std::string times = isFirst ? block["count"].dump() : "",
                  name = isFirst ? block["name"].get<std::string>() : "",
                  parameters = isFirst ? group(block["parameters"]) : "";
      table.add({HtmlTable::number(times), whole(name), HtmlTable::number(parameters),
                 whole(sharding), what});
      isFirst = false;
    };
    for (const ordered_json &alike : block["weights"])
      add(alike["sharding"], joinCode(alike["names"]));
    if (!block["result"].get<std::string>().empty())
      add(block["result_sharding"], "makes " + code(block["result"]));
  }
  return heading("Blocks", "The distinct parts of the model, how their weights lie, and what they "
                           "hand on.") +
         table.str();
}

/// Collectives by kind, axes and source, those that take longest first.
static std::string makeCollectives(const ordered_json &collectives) {
  if (collectives.empty())
    return heading("Collectives", "None.");
  auto cost = [](const ordered_json &row) {
    return std::pair(row.value("seconds", 0.0),
                     row["count"].get<double>() * row["bytes"].get<double>());
  };
  std::multimap<std::pair<double, double>, const ordered_json *, std::greater<>> rows;
  for (const ordered_json &collective : collectives)
    rows.emplace(cost(collective), &collective);
  size_t shown = 0;
  HtmlTable table({"kind", "over", "a step", "bytes each", "time", "because of"});
  for (const auto &[seconds, listed] : rows) {
    const ordered_json &row = *listed;
    std::string over =
        row.contains("axes") ? joinCode(row["axes"]) : code(row["from"]) + " to " + code(row["to"]);
    table.add({escapeHtml(row["kind"]), over, HtmlTable::number(row["count"].dump()),
               HtmlTable::number(formatBytes(row["bytes"])),
               HtmlTable::number(row.contains("seconds") ? formatSeconds(row["seconds"]) : ""),
               code(row["source"])});
    if (++shown == maxRows)
      break;
  }
  return heading("Collectives",
                 rows.size() > maxRows
                     ? fmt::format("The {} of {} that take longest.", maxRows, rows.size())
                     : "Those that take longest first.") +
         table.str();
}

static std::string makeCandidates(const ordered_json &candidates) {
  HtmlTable table({"mesh", "microbatches", "recompute", "step", "memory", ""});
  for (const ordered_json &candidate : candidates) {
    std::string mesh;
    for (const auto &[axis, size] : candidate["mesh"].items())
      mesh += fmt::format("{}{}={}", mesh.empty() ? "" : ", ", axis, size.get<int64_t>());
    bool isPlan = candidate.contains("step_seconds");
    auto bytes = static_cast<int64_t>(candidate.value("memory_bytes", 0.0));
    auto offload = candidate["offload"].get<std::string>();
    auto stages = candidate["stages"].get<int>();
    std::string state = !candidate["fits"].get<bool>()       ? "does not fit"
                        : candidate["simulated"].get<bool>() ? "simulated"
                                                             : "by the search's prices";
    table.add({code(mesh.empty() ? "one device" : mesh),
               HtmlTable::number(candidate["microbatches"].dump()),
               escapeHtml(candidate["recompute"]),
               HtmlTable::number(isPlan ? formatSeconds(candidate["step_seconds"]) : ""),
               HtmlTable::number(isPlan ? formatBytes(bytes) : ""),
               state + (stages > 1 ? fmt::format(", {} stages", stages) : "") +
                   (offload == "none" ? "" : ", offload " + offload)});
  }
  return heading("The best plans that were tried", "The first is the one that this page shows.") +
         table.str();
}

static std::string makeDecisions(const ordered_json &decisions) {
  HtmlTable table({"value", "sharding", "origin", "why"});
  for (const ordered_json &decision : decisions)
    table.add({code(decision["value"]), whole(decision["sharding"]), escapeHtml(decision["origin"]),
               escapeHtml(decision["reason"])});
  return fmt::format("<details><summary>All {} decisions</summary>\n{}</details>\n",
                     decisions.size(), table.str());
}

std::string weft::tool::makePlanPage(const std::string &model, const ordered_json &plan) {
  int64_t ranks = plan["ranks"];
  std::string where = fmt::format("{} device{}", ranks, ranks == 1 ? "" : "s");
  if (plan.contains("cluster"))
    where += " of " + plan["cluster"].get<std::string>();
  std::string page = "<!doctype html>\n<html lang=en>\n" + std::string(head);
  page += fmt::format("<title>{0}</title>\n<h1>{0}</h1>\n<p>{1}</p>\n", escapeHtml(model),
                      escapeHtml(where));
  page += makeFigures(plan);
  if (plan.contains("predicted"))
    page += makeWaterfall(plan["predicted"]);
  if (plan.contains("memory"))
    page += makeMemory(plan["memory"]);
  page += makeAxes(plan["axes"]);
  page += makeBlocks(plan["blocks"]);
  page += makeCollectives(plan["collectives"]);
  if (plan.contains("candidates") && !plan["candidates"].empty())
    page += makeCandidates(plan["candidates"]);
  return page + makeDecisions(plan["decisions"]) + "</html>\n";
}

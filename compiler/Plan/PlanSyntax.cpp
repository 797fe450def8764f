#include "compiler/Plan/PlanSyntax.h"
#include "compiler/Plan/PlanText.h"
#include "compiler/Schedule/Pipelines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <set>

using namespace weft;

namespace {
/// Reads characters, skipping blanks between tokens.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text(text) {}

  bool accept(char token) {
    skip();
    if (at == text.size() || text[at] != token)
      return false;
    ++at;
    return true;
  }
  bool atEnd() {
    skip();
    return at == text.size();
  }
  /// A name of letters, digits, `_`, `.` and `-`, quoted or not; empty if there is none.
  std::string name() {
    bool quoted = accept('"');
    skip();
    size_t begin = at;
    while (at < text.size() && isNameCharacter(text[at]))
      ++at;
    std::string result(text.substr(begin, at - begin));
    if (quoted && !accept('"'))
      return "";
    return result;
  }
  /// A positive number; 0 if there is none.
  int64_t number() {
    skip();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc() || value < 1)
      return 0;
    at = end - text.data();
    return value;
  }

private:
  static bool isNameCharacter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  }
  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }

  std::string_view text;
  size_t at = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

static std::string malformedMesh(std::string_view text, const std::string &why) {
  return "malformed mesh '" + std::string(text) + "': " + why +
         "; write NAME=SIZE[,NAME=SIZE]…, for example data=2,model=4";
}

/// The mesh of the whole text; none with a message in `problem` if it is malformed.
static std::optional<plan::Mesh> parseMesh(std::string_view text, std::string &problem) {
  auto fail = [&](const std::string &why) {
    problem = malformedMesh(text, why);
    return std::nullopt;
  };
  plan::Mesh mesh;
  std::set<std::string> names;
  int64_t devices = 1;
  Scanner scanner(text);
  do {
    std::string name = scanner.name();
    if (name.empty())
      return fail("expected the name of an axis");
    if (!scanner.accept('='))
      return fail("expected '=' behind axis '" + name + "'");
    int64_t size = scanner.number();
    if (size == 0)
      return fail("expected a size from 1 to " + std::to_string(maxDevices) + " for axis '" + name +
                  "'");
    if (!names.insert(name).second)
      return fail("axis '" + name + "' is named twice");
    if (size > maxDevices || (devices *= size) > maxDevices)
      return fail("more than " + std::to_string(maxDevices) + " devices");
    auto *axis = mesh.add_axes();
    axis->set_name(name);
    axis->set_size(size);
  } while (scanner.accept(','));
  if (!scanner.atEnd())
    return fail("expected ',' or the end");
  return mesh;
}

int64_t weft::countDevices(const plan::Mesh &mesh) {
  int64_t devices = 1;
  for (const plan::Axis &axis : mesh.axes())
    if (__builtin_mul_overflow(devices, axis.size(), &devices) || devices > maxDevices)
      return maxDevices + 1;
  return devices;
}

std::vector<plan::Mesh> weft::placeMeshes(const std::vector<plan::Mesh> &meshes,
                                          const StageLayout &layout) {
  auto groups = static_cast<int>(meshes.size());
  std::vector<int64_t> firsts{0};
  for (const plan::Mesh &mesh : meshes)
    firsts.push_back(firsts.back() + countDevices(mesh));
  schedule::Placement placement =
      layout.chunks > 1 ? schedule::placePipeline(layout.schedule, groups, layout.chunks)
                        : schedule::placeLoop(groups, 1);
  std::vector<plan::Mesh> placed;
  for (int32_t group : placement.ranks) {
    std::string number = std::to_string(placed.size());
    placed.push_back(meshes[group]);
    placed.back().set_name(placement.ranks.size() == 1 ? "mesh" : "mesh" + number);
    placed.back().set_first_device(firsts[group]);
  }
  return placed;
}

std::vector<plan::Mesh> weft::parseMeshes(std::string_view text, int parts, std::string &problem,
                                          const StageLayout &layout) {
  std::vector<plan::Mesh> meshes;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(';', begin);
    std::optional<plan::Mesh> mesh = parseMesh(text.substr(begin, end - begin), problem);
    if (!mesh)
      return {};
    meshes.push_back(std::move(*mesh));
  }
  int groups = parts / layout.chunks;
  if (meshes.size() != 1 && static_cast<int>(meshes.size()) != groups) {
    problem = std::to_string(meshes.size()) + " meshes for " + std::to_string(parts) +
              (parts == 1 ? " part; every --cut VALUE adds a part"
               : layout.chunks > 1
                   ? " stages, " + std::to_string(layout.chunks) + " on each mesh; give " +
                         std::to_string(groups) + ", or one for all"
                   : " parts; give one a part, or one for all");
    return {};
  }
  meshes.resize(groups, meshes.front());
  int64_t devices = 0;
  for (const plan::Mesh &mesh : meshes)
    if ((devices += countDevices(mesh)) > maxDevices) {
      problem = "more than " + std::to_string(maxDevices) + " devices";
      return {};
    }
  return placeMeshes(meshes, layout);
}

//===----------------------------------------------------------------------===//
// Pins
//===----------------------------------------------------------------------===//

/// Reads `model` or `"model":(1)2`.
static bool parseAxis(Scanner &scanner, plan::AxisRef &axis) {
  axis.set_name(scanner.name());
  if (axis.name().empty())
    return false;
  if (!scanner.accept(':'))
    return true;
  if (!scanner.accept('('))
    return false;
  axis.set_pre(scanner.number());
  if (!scanner.accept(')'))
    return false;
  axis.set_size(scanner.number());
  return axis.pre() > 0 && axis.size() > 0;
}

/// Reads `{data, model}`, or `{data} unit 64`.
static bool parseDim(Scanner &scanner, plan::DimSharding &dim) {
  if (!scanner.accept('{'))
    return false;
  if (scanner.accept('}'))
    return true;
  do {
    if (!parseAxis(scanner, *dim.add_axes()))
      return false;
  } while (scanner.accept(','));
  if (!scanner.accept('}'))
    return false;
  std::string word = scanner.name();
  if (word == "unit")
    dim.set_unit(scanner.number());
  return word.empty() || dim.unit() > 0;
}

/// Reads `[{data}, {}]`, to the end.
static bool parseDims(Scanner &scanner, plan::Sharding &sharding) {
  if (!scanner.accept('['))
    return false;
  if (!scanner.accept(']')) {
    do {
      if (!parseDim(scanner, *sharding.add_dims()))
        return false;
    } while (scanner.accept(','));
    if (!scanner.accept(']'))
      return false;
  }
  return scanner.atEnd();
}

/// Where what is said of the value begins: the last `=` before `[` or `@`.
static size_t findSharding(std::string_view text) {
  size_t bracket = text.rfind('[');
  size_t equals = bracket == std::string_view::npos ? bracket : text.rfind('=', bracket);
  // Names may hold `=`, meshes may not.
  bool good = equals != std::string_view::npos && equals > 0 &&
              (equals + 1 == bracket || text[equals + 1] == '@');
  return good ? equals : text.rfind("=[");
}

/// Reads `[{data}, {}]` or `@mesh1[{data}, {}]`, to the end.
static bool parseSharding(Scanner &scanner, plan::Sharding &sharding) {
  if (scanner.accept('@')) {
    sharding.set_mesh(scanner.name());
    if (sharding.mesh().empty())
      return false;
  }
  return parseDims(scanner, sharding);
}

std::optional<plan::Decision> weft::parsePin(std::string_view text, std::string &problem) {
  plan::Decision decision;
  size_t equals = findSharding(text);
  bool good = equals != std::string_view::npos && equals > 0;
  if (good) {
    Scanner scanner(text.substr(equals + 1));
    good = parseSharding(scanner, *decision.mutable_sharding());
  }
  if (!good) {
    problem = "malformed pin '" + std::string(text) +
              "': write VALUE=[{AXES},…] with one {…} per dimension, for example 'x=[{data},{}]', "
              "or VALUE=@MESH[{AXES},…] on one of several meshes";
    return std::nullopt;
  }
  decision.set_value(std::string(text.substr(0, equals)));
  decision.set_origin(plan::USER);
  decision.set_reason("pinned by the user");
  return decision;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Levenshtein's distance, at most `limit` + 1.
static size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
    return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string weft::didYouMean(std::string_view name, const std::vector<std::string> &names) {
  size_t best = name.size() / 3 + 2;
  const std::string *nearest = nullptr;
  for (const std::string &candidate : names)
    if (size_t distance = editDistance(name, candidate, best); distance < best) {
      best = distance;
      nearest = &candidate;
    }
  return nearest ? ", did you mean '" + *nearest + "'?" : "";
}

static std::string checkAxis(const plan::AxisRef &ref, const plan::Mesh &mesh) {
  std::vector<std::string> names;
  for (const plan::Axis &axis : mesh.axes()) {
    names.push_back(axis.name());
    if (axis.name() != ref.name())
      continue;
    if (ref.size() == 0)
      return "";
    bool divides = ref.pre() >= 1 && ref.size() >= 1 && ref.pre() <= axis.size() &&
                   ref.size() <= axis.size() && axis.size() % (ref.pre() * ref.size()) == 0;
    return divides ? ""
                   : "sub-axis (" + std::to_string(ref.pre()) + ")" + std::to_string(ref.size()) +
                         " does not divide axis '" + ref.name() + "' of size " +
                         std::to_string(axis.size());
  }
  return "the mesh has no axis '" + ref.name() + "'" + didYouMean(ref.name(), names);
}

static bool shareDigit(const plan::AxisRef &a, const plan::AxisRef &b) {
  if (a.name() != b.name())
    return false;
  if (a.size() == 0 || b.size() == 0)
    return true;
  return a.pre() < b.pre() * b.size() && b.pre() < a.pre() * a.size();
}

/// Checks that the mesh has all axes, each used once.
static std::string checkAll(const std::vector<const plan::AxisRef *> &axes,
                            const plan::Mesh &mesh) {
  for (size_t index = 0; index < axes.size(); ++index) {
    if (std::string why = checkAxis(*axes[index], mesh); !why.empty())
      return why;
    for (size_t other = 0; other < index; ++other)
      if (shareDigit(*axes[index], *axes[other]))
        return "axis '" + axes[index]->name() + "' is used twice";
  }
  return "";
}

std::string weft::checkAxes(const plan::Decision &decision, const plan::Mesh &mesh) {
  std::vector<const plan::AxisRef *> axes;
  for (const plan::DimSharding &dim : decision.sharding().dims())
    for (const plan::AxisRef &axis : dim.axes())
      axes.push_back(&axis);
  for (const plan::AxisRef &axis : decision.sharding().partial())
    axes.push_back(&axis);
  std::string why = checkAll(axes, mesh);
  return why.empty() ? "" : "sharding of '" + decision.value() + "': " + why;
}

std::string weft::checkAxes(const plan::Split &split, const plan::Mesh &mesh) {
  std::vector<const plan::AxisRef *> axes;
  for (const plan::Split::Factor &factor : split.factors())
    for (const plan::AxisRef &axis : factor.axes())
      axes.push_back(&axis);
  for (const plan::AxisRef &axis : split.sum())
    axes.push_back(&axis);
  std::string why = checkAll(axes, mesh);
  std::string of = split.operations().empty() ? "" : " of '" + split.operations(0) + "'";
  return why.empty() ? "" : "split" + of + ": " + why;
}

/// The meshes of the parts: of one device each, where none is given.
static std::vector<plan::Mesh> makeMeshes(const std::string &text, int parts,
                                          const StageLayout &layout, std::string &problem) {
  if (parts % layout.chunks != 0) {
    problem = std::to_string(parts) + " stages, expected " + std::to_string(layout.chunks) +
              " on each mesh";
    return {};
  }
  if (!text.empty())
    return parseMeshes(text, parts, problem, layout);
  return placeMeshes(std::vector<plan::Mesh>(parts / layout.chunks), layout);
}

std::optional<plan::Plan> weft::startPlan(const std::string &mesh,
                                          const std::vector<std::string> &cuts,
                                          const std::vector<std::string> &pins,
                                          std::string &problem, const StageLayout &layout) {
  plan::Plan plan;
  plan.set_version(planVersion);
  plan.mutable_cuts()->Add(cuts.begin(), cuts.end());
  std::vector<plan::Mesh> meshes =
      makeMeshes(mesh, static_cast<int>(cuts.size()) + 1, layout, problem);
  if (meshes.empty()) {
    problem = "--mesh: " + problem;
    return std::nullopt;
  }
  plan.mutable_meshes()->Add(meshes.begin(), meshes.end());
  for (const std::string &text : pins) {
    std::optional<plan::Decision> pin = parsePin(text, problem);
    if (!pin) {
      problem = "--shard: " + problem;
      return std::nullopt;
    }
    *plan.add_decisions() = *pin;
  }
  if (mesh.empty()) // the model may bring one
    return plan;
  nameMeshes(plan);
  problem = validateDecisions(plan);
  if (problem.empty())
    return plan;
  problem = "--shard: " + problem;
  return std::nullopt;
}

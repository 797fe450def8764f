#include "compiler/Plan/PlanText.h"

#include "compiler/Plan/PlanSyntax.h"

#include <fstream>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <set>
#include <sstream>
#include <system_error>

using namespace weft;

namespace {
/// Keeps the first error, with its place.
class FirstError : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, int column, const std::string &message) override {
    if (text.empty())
      text = ":" + std::to_string(line + 1) + ":" + std::to_string(column + 1) + ": " + message;
  }
  std::string text;
};
} // namespace

std::optional<plan::Plan> weft::parsePlan(const std::string &text, const std::string &name,
                                          std::string &problem) {
  plan::Plan plan;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &plan)) {
    problem = "malformed plan " + name + (error.text.empty() ? ": not a text plan" : error.text);
    return std::nullopt;
  }
  if (std::string why = validatePlan(plan); !why.empty()) {
    problem = "plan " + name + ": " + why;
    return std::nullopt;
  }
  return plan;
}

std::optional<plan::Plan> weft::readPlan(const std::filesystem::path &path, std::string &problem) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    problem = "cannot read plan " + path.string();
    return std::nullopt;
  }
  return parsePlan(text.str(), path.string(), problem);
}

std::string weft::printPlan(const plan::Plan &plan) {
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  printer.PrintToString(plan, &text);
  return "# A plan of weft: edit decisions as you like, then `weft compile MODEL --plan THIS`.\n" +
         text;
}

std::string weft::writePlan(const plan::Plan &plan, const std::filesystem::path &path) {
  std::filesystem::path temporary = path;
  temporary += ".partial";
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file || !(file << printPlan(plan)) || !file.flush()) {
      std::filesystem::remove(temporary, error);
      return "cannot write plan " + path.string();
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (!error)
    return "";
  std::string why = "cannot write plan " + path.string() + ": " + error.message();
  std::filesystem::remove(temporary, error);
  return why;
}

static std::string validateMesh(const plan::Mesh &mesh) {
  std::set<std::string> names;
  if (mesh.name().empty())
    return "a mesh without a name";
  for (const plan::Axis &axis : mesh.axes()) {
    if (axis.name().empty() || axis.size() < 1)
      return "mesh '" + mesh.name() + "' has an axis without a name or a size";
    if (!names.insert(axis.name()).second)
      return "mesh '" + mesh.name() + "' has two axes '" + axis.name() + "'";
  }
  return "";
}

std::string weft::validatePlan(const plan::Plan &plan) {
  if (plan.version() != planVersion)
    return "expected version " + std::to_string(planVersion) +
           ", got: " + std::to_string(plan.version());
  if (plan.meshes_size() != 1)
    return "expected one mesh, got: " + std::to_string(plan.meshes_size());
  const plan::Mesh &mesh = plan.meshes(0);
  if (std::string why = validateMesh(mesh); !why.empty())
    return why;
  std::set<std::string> values;
  for (const plan::Decision &decision : plan.decisions()) {
    if (decision.value().empty())
      return "a decision without a value";
    if (!values.insert(decision.value()).second)
      return "two decisions for '" + decision.value() + "'";
    if (decision.sharding().mesh() != mesh.name())
      return "sharding of '" + decision.value() + "': expected mesh '" + mesh.name() + "', got: '" +
             decision.sharding().mesh() + "'";
    if (std::string why = checkAxes(decision, mesh); !why.empty())
      return why;
  }
  return "";
}

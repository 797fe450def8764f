#include "compiler/Cluster/ClusterText.h"

#include <fstream>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
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

std::optional<cluster::Cluster> weft::parseCluster(const std::string &text, const std::string &name,
                                                   std::string &problem) {
  cluster::Cluster cluster;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &cluster)) {
    problem = "malformed cluster description " + name +
              (error.text.empty() ? ": not a text description" : error.text);
    return std::nullopt;
  }
  if (std::string why = validateCluster(cluster); !why.empty()) {
    problem = "cluster description " + name + ": " + why;
    return std::nullopt;
  }
  return cluster;
}

std::optional<cluster::Cluster> weft::readCluster(const std::filesystem::path &path,
                                                  std::string &problem) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    problem = "cannot read cluster description " + path.string();
    return std::nullopt;
  }
  return parseCluster(text.str(), path.string(), problem);
}

std::string weft::printCluster(const cluster::Cluster &cluster) {
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  printer.PrintToString(cluster, &text);
  return "# A cluster of weft: edit numbers as you like, then `--cluster THIS`.\n" + text;
}

std::string weft::writeCluster(const cluster::Cluster &cluster, const std::filesystem::path &path) {
  std::filesystem::path temporary = path;
  temporary += ".partial";
  std::error_code error;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file || !(file << printCluster(cluster)) || !file.flush()) {
      std::filesystem::remove(temporary, error);
      return "cannot write cluster description " + path.string();
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (!error)
    return "";
  std::string why = "cannot write cluster description " + path.string() + ": " + error.message();
  std::filesystem::remove(temporary, error);
  return why;
}

#include "compiler/Plan/TextProto.h"

#include <cerrno>
#include <fstream>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <iostream>
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

std::string weft::parseTextProto(const std::string &text, const std::string &name,
                                 const std::string &what, google::protobuf::Message &message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(text, &message))
    return "";
  return "malformed " + what + " " + name +
         (error.text.empty() ? ": not its text form" : error.text);
}

std::string weft::printTextProto(const google::protobuf::Message &message,
                                 const std::string &comment) {
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  printer.PrintToString(message, &text);
  return "# " + comment + "\n" + text;
}

std::optional<std::string> weft::readTextFile(const std::filesystem::path &path,
                                              const std::string &what, std::string &problem) {
  std::ifstream opened;
  errno = 0;
  if (path != "-")
    opened.open(path, std::ios::binary);
  std::istream &file = path == "-" ? std::cin : opened;
  std::ostringstream text;
  if (file && file.peek() == std::ifstream::traits_type::eof() && !file.bad())
    return ""; // of which << would make a failure
  if (file && text << file.rdbuf())
    return text.str();
  problem = "cannot read " + what + " " + path.string();
  if (errno != 0)
    problem += ": " + std::generic_category().message(errno);
  return std::nullopt;
}

//===- TextProto.h - protobuf messages as text files ------------*- C++ -*-===//
//
// What plans and cluster descriptions have in common as files that people edit: errors name file,
// line and column. `what` names the kind of file in messages ("plan").
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_PLAN_TEXTPROTO_H
#define WEFT_COMPILER_PLAN_TEXTPROTO_H

#include <filesystem>
#include <google/protobuf/message.h>
#include <optional>
#include <string>

namespace weft {

/// Parses the text form of `message`; `name` stands for its file. Returns the problem (the first
/// syntax error and its place), or "".
std::string parseTextProto(const std::string &text, const std::string &name,
                           const std::string &what, google::protobuf::Message &message);

/// The text form of `message`, under a comment line of its own.
std::string printTextProto(const google::protobuf::Message &message, const std::string &comment);

/// A file's, or for `-` the standard input's, whole text; none with a message in `problem` where it
/// cannot be read.
std::optional<std::string> readTextFile(const std::filesystem::path &path, const std::string &what,
                                        std::string &problem);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_TEXTPROTO_H

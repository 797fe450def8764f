//===- TextProto.h - protobuf messages as text files ------------*- C++ -*-===//
//
// What plans and cluster descriptions have in common as files that people edit: errors name file,
// line and column, and a file is replaced whole or not at all. `what` names the kind of file in
// messages ("plan").
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

/// A file's whole text; none with a message in `problem` where it cannot be read.
std::optional<std::string> readTextFile(const std::filesystem::path &path, const std::string &what,
                                        std::string &problem);

/// Writes a file by way of `path`.partial, which is renamed once it is whole. Returns the problem,
/// or "".
std::string replaceTextFile(const std::filesystem::path &path, const std::string &what,
                            const std::string &text);

} // namespace weft

#endif // WEFT_COMPILER_PLAN_TEXTPROTO_H

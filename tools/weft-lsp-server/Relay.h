//===- Relay.h - between an editor and MLIR's language server ---*- C++ -*-===//
//
// MLIR's language server comes as one function that serves stdin and stdout, under its own name,
// and that forgets all of a file at the first error. The relay stands before it: it passes messages
// of the Language Server Protocol both ways, and changes these:
//
//   editor → server   the text of a document: what cannot be read is replaced (ReadableText.h).
//                     While a completion is asked for, the line at the cursor is as it was typed.
//   server → editor   its name and version; the problems that the replacements took away are added
//                     to its own.
//
// The server answers messages in order, and each text that it is sent with the text's problems.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_LSP_SERVER_RELAY_H
#define WEFT_TOOLS_WEFT_LSP_SERVER_RELAY_H

#include "tools/weft-lsp-server/ReadableText.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>

namespace weft::lsp {

/// The two ends that one side of a relay reads from and writes to.
struct Channel {
  std::FILE *in, *out;
};

/// The body of the next message; none at the end of the input, or where it is no message.
std::optional<std::string> readMessage(std::FILE *in);
/// Writes a message; false where nobody reads any more.
bool writeMessage(std::FILE *out, llvm::StringRef body);

class Relay {
public:
  Relay(Channel editor, Channel server, const mlir::DialectRegistry &registry, std::string name,
        std::string version)
      : editor(editor), server(server), registry(registry), name(std::move(name)),
        version(std::move(version)) {}

  /// Passes what the editor sends until it ends; to be called beside `passAnswers`.
  void passRequests();
  /// Passes what the server sends until it ends.
  void passAnswers();

private:
  /// What becomes of the problems that the server finds in a text it was sent.
  struct Publication {
    bool shown;
    llvm::json::Array problems; ///< to be added
  };

  void request(llvm::StringRef body);
  void changeText(llvm::json::Object &message, llvm::json::Value &text, llvm::StringRef uri);
  void complete(llvm::StringRef body, const llvm::json::Object &message);
  void sendText(llvm::StringRef uri, std::string text);
  void expect(llvm::StringRef uri, Publication publication);
  std::string answer(std::string body);
  bool publish(llvm::json::Object &parameters);

  Channel editor, server;
  const mlir::DialectRegistry &registry;
  std::string name, version;
  llvm::StringMap<ReadableText> documents; ///< of `passRequests`

  std::mutex mutex; ///< over what follows
  llvm::StringMap<std::deque<Publication>> publications;
  std::optional<llvm::json::Value> initialization; ///< the id of the request
};

} // namespace weft::lsp

#endif // WEFT_TOOLS_WEFT_LSP_SERVER_RELAY_H

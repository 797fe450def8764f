#include "tools/weft-lsp-server/Relay.h"

#include "llvm/Support/raw_ostream.h"

using namespace weft::lsp;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// More than this is no message.
static constexpr size_t maxMessageBytes = size_t{1} << 30;

std::optional<std::string> weft::lsp::readMessage(std::FILE *in) {
  size_t length = 0;
  for (std::string line;;) {
    int c = std::fgetc(in);
    if (c == EOF)
      return std::nullopt;
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    StringRef header = StringRef(line).trim();
    if (header.empty() && length > 0)
      break;
    if (header.consume_front("Content-Length:") &&
        (header.trim().getAsInteger(10, length) || length > maxMessageBytes))
      return std::nullopt;
    line.clear();
  }
  std::string body(length, '\0');
  if (std::fread(body.data(), 1, length, in) != length)
    return std::nullopt;
  return body;
}

bool weft::lsp::writeMessage(std::FILE *out, StringRef body) {
  std::fprintf(out, "Content-Length: %zu\r\n\r\n", body.size());
  std::fwrite(body.data(), 1, body.size(), out);
  return std::fflush(out) == 0;
}

static std::string print(json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

//===----------------------------------------------------------------------===//
// From the editor
//===----------------------------------------------------------------------===//

static json::Array toJson(const ReadableText &text) {
  json::Array problems;
  for (const Problem &problem : text.problems) {
    auto position = [&](unsigned character) {
      return json::Object{{"line", problem.line}, {"character", character}};
    };
    problems.push_back(
        json::Object{{"range", json::Object{{"start", position(problem.character)},
                                            {"end", position(problem.endCharacter)}}},
                     {"severity", 1},
                     {"source", "mlir"},
                     {"message", problem.message}});
  }
  return problems;
}

void Relay::expect(StringRef uri, Publication publication) {
  std::lock_guard<std::mutex> lock(mutex);
  publications[uri].push_back(std::move(publication));
}

/// Replaces a document's text in a message by what can be read of it.
void Relay::changeText(json::Object &message, json::Value &text, StringRef uri) {
  ReadableText readable = makeReadable(text.getAsString().value_or("").str(), registry);
  text = readable.text();
  expect(uri, {true, toJson(readable)});
  documents[uri] = std::move(readable);
  writeMessage(server.out, print(std::move(message)));
}

/// Sends the server another text of a document, whose problems nobody asked for.
void Relay::sendText(StringRef uri, std::string text) {
  expect(uri, {false, {}});
  writeMessage(server.out,
               print(json::Object{
                   {"jsonrpc", "2.0"},
                   {"method", "textDocument/didChange"},
                   {"params",
                    json::Object{{"textDocument", json::Object{{"uri", uri}, {"version", 0}}},
                                 {"contentChanges", json::Array{json::Object{{"text", text}}}}}}}));
}

/// A completion is of what stands at the cursor, readable or not.
void Relay::complete(StringRef body, const json::Object &message) {
  const json::Object *parameters = message.getObject("params");
  const json::Object *document = parameters ? parameters->getObject("textDocument") : nullptr;
  const json::Object *position = parameters ? parameters->getObject("position") : nullptr;
  StringRef uri = document ? document->getString("uri").value_or("") : "";
  auto known = documents.find(uri);
  if (!position || known == documents.end() || known->second.replacements.empty()) {
    writeMessage(server.out, body);
    return;
  }
  sendText(uri, known->second.textBut(position->getInteger("line").value_or(0)));
  writeMessage(server.out, body);
  sendText(uri, known->second.text());
}

void Relay::request(StringRef body) {
  llvm::Expected<json::Value> parsed = json::parse(body);
  json::Object *message = parsed ? parsed->getAsObject() : nullptr;
  if (!message) {
    llvm::consumeError(parsed.takeError());
    writeMessage(server.out, body); // the server says what is wrong
    return;
  }
  StringRef method = message->getString("method").value_or("");
  json::Object *parameters = message->getObject("params");
  json::Object *document = parameters ? parameters->getObject("textDocument") : nullptr;
  std::string uri = document ? document->getString("uri").value_or("").str() : "";
  if (method == "textDocument/completion")
    return complete(body, *message);
  if (method == "textDocument/didOpen" && document && document->get("text"))
    return changeText(*message, *document->get("text"), uri);
  if (method == "textDocument/didChange" && document)
    if (json::Array *changes = parameters->getArray("contentChanges");
        changes && changes->size() == 1)
      if (json::Object *change = changes->front().getAsObject(); change && change->get("text"))
        return changeText(*message, *change->get("text"), uri);
  if (method == "textDocument/didClose") {
    documents.erase(uri);
    expect(uri, {true, {}});
  } else if (method == "initialize" && message->get("id")) {
    std::lock_guard<std::mutex> lock(mutex);
    initialization = *message->get("id");
  }
  writeMessage(server.out, body);
}

void Relay::passRequests() {
  while (std::optional<std::string> body = readMessage(editor.in))
    request(*body);
}

//===----------------------------------------------------------------------===//
// From the server
//===----------------------------------------------------------------------===//

/// Adds the problems of a document that the server was not shown. False where the editor is not to
/// see any.
bool Relay::publish(json::Object &parameters) {
  auto &expected = publications[parameters.getString("uri").value_or("")];
  if (expected.empty())
    return true;
  Publication publication = std::move(expected.front());
  expected.pop_front();
  if (json::Array *problems = parameters.getArray("diagnostics"))
    for (json::Value &problem : publication.problems)
      problems->push_back(std::move(problem));
  return publication.shown;
}

/// What the editor is sent of a message of the server; "" where it is nothing.
std::string Relay::answer(std::string body) {
  llvm::Expected<json::Value> parsed = json::parse(body);
  json::Object *message = parsed ? parsed->getAsObject() : nullptr;
  if (!message) {
    llvm::consumeError(parsed.takeError());
    return body;
  }
  std::lock_guard<std::mutex> lock(mutex);
  json::Object *parameters = message->getObject("params");
  if (message->getString("method") == "textDocument/publishDiagnostics" && parameters)
    return publish(*parameters) ? print(std::move(*parsed)) : "";
  json::Object *result = message->getObject("result");
  if (result && initialization && message->get("id") && *message->get("id") == *initialization) {
    initialization.reset();
    (*result)["serverInfo"] = json::Object{{"name", name}, {"version", version}};
    return print(std::move(*parsed));
  }
  return body;
}

void Relay::passAnswers() {
  while (std::optional<std::string> body = readMessage(server.in))
    if (std::string text = answer(std::move(*body)); !text.empty())
      writeMessage(editor.out, text);
}

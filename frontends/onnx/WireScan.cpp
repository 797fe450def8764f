#include "frontends/onnx/WireScan.h"

#include "frontends/common/ImportError.h"
#include "frontends/onnx/Proto.h"
#include "llvm/ADT/Twine.h"

using namespace weft::frontend;
using llvm::StringRef;

namespace {

/// Messages that may hold tensors, and the tensor itself; every other field is copied as it is.
enum class Message { Model, Graph, Node, Attribute, Tensor, Sparse, Function, Opaque };

/// What field `number` of a message holds (onnx.proto).
Message childOf(Message message, uint64_t number) {
  switch (message) {
  case Message::Model:
    return number == 7 ? Message::Graph : number == 25 ? Message::Function : Message::Opaque;
  case Message::Graph:
    return number == 1    ? Message::Node
           : number == 5  ? Message::Tensor
           : number == 15 ? Message::Sparse
                          : Message::Opaque;
  case Message::Node:
    return number == 5 ? Message::Attribute : Message::Opaque;
  case Message::Attribute:
    return number == 5 || number == 10    ? Message::Tensor
           : number == 6 || number == 11  ? Message::Graph
           : number == 22 || number == 23 ? Message::Sparse
                                          : Message::Opaque;
  case Message::Sparse:
    return number == 1 || number == 2 ? Message::Tensor : Message::Opaque;
  case Message::Function:
    return number == 7 ? Message::Node : number == 11 ? Message::Attribute : Message::Opaque;
  case Message::Tensor:
  case Message::Opaque:
    break;
  }
  return Message::Opaque;
}

constexpr uint64_t rawDataField = 9, docStringField = 12;
/// Graphs inside graphs, as deep as protobuf itself would go.
constexpr int maxDepth = 100;

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

void appendBytes(std::string &out, uint64_t field, StringRef bytes) {
  appendVarint(out, field << 3 | 2);
  appendVarint(out, bytes.size());
  out.append(bytes.data(), bytes.size());
}

class Scanner {
public:
  explicit Scanner(StringRef file) : file(file) {}

  std::string message(Message kind, size_t begin, size_t end, int depth) {
    if (depth > maxDepth)
      throw ImportError("graphs are nested too deeply");
    std::string out;
    for (size_t at = begin; at < end;)
      at = field(kind, at, end, depth, out);
    return out;
  }

private:
  [[noreturn]] void malformed(size_t at) {
    throw ImportError(("not an ONNX model: malformed protobuf at byte " + llvm::Twine(at)).str());
  }

  uint64_t varint(size_t &at, size_t end) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at >= end)
        malformed(at);
      uint8_t byte = file[at++];
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    malformed(at);
  }

  /// Handles the field at `start` and returns where the next one starts.
  size_t field(Message kind, size_t start, size_t end, int depth, std::string &out) {
    size_t at = start;
    uint64_t tag = varint(at, end);
    uint64_t size = 0;
    switch (tag & 7) {
    case 0:
      varint(at, end);
      break;
    case 1:
      size = 8;
      break;
    case 2:
      size = varint(at, end);
      break;
    case 5:
      size = 4;
      break;
    default:
      malformed(start);
    }
    if (size > end - at || tag >> 3 == 0)
      malformed(start);
    if ((tag & 7) == 2 && payload(kind, tag >> 3, at, size, depth, out))
      return at + size;
    out.append(file.data() + start, at + size - start);
    return at + size;
  }

  /// Handles a length-delimited field; returns false where it is to be copied as it is.
  bool payload(Message kind, uint64_t number, size_t at, size_t size, int depth, std::string &out) {
    if (kind == Message::Tensor) {
      if (number == rawDataField)
        appendBytes(out, docStringField, std::to_string(at) + " " + std::to_string(size));
      return number == rawDataField || number == docStringField;
    }
    Message child = childOf(kind, number);
    if (child == Message::Opaque)
      return false;
    appendBytes(out, number, message(child, at, at + size, depth + 1));
    return true;
  }

  StringRef file;
};

} // namespace

std::string weft::frontend::stripRawData(StringRef file) {
  return Scanner(file).message(Message::Model, 0, file.size(), 0);
}

std::optional<ByteRange> weft::frontend::parseRange(StringRef text) {
  ByteRange range;
  if (text.consumeInteger(10, range.offset) || !text.consume_front(" ") ||
      text.getAsInteger(10, range.length))
    return std::nullopt;
  return range;
}

#include "frontends/stablehlo/AttributeText.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

namespace {

/// Reads tokens off the front of a text.
class Cursor {
public:
  explicit Cursor(StringRef text) : whole(text), rest(text) {}

  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  void expect(StringRef token) {
    if (!take(token))
      throw ImportError("malformed attribute '" + whole.str() + "': expected '" + token.str() +
                        "' before '" + rest.take_front(20).str() + "'");
  }
  /// Letters, digits and underscores.
  StringRef word() {
    rest = rest.ltrim();
    StringRef found = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(found.size());
    return found;
  }
  int64_t number() {
    bool negative = take("-");
    int64_t value = 0;
    if (word().getAsInteger(10, value))
      throw ImportError("malformed attribute '" + whole.str() + "': expected a number");
    return negative ? -value : value;
  }
  void end() {
    if (!rest.trim().empty())
      throw ImportError("malformed attribute '" + whole.str() + "': unexpected '" + rest.str() +
                        "'");
  }

private:
  StringRef whole, rest;
};

} // namespace

static StringRef textOf(Attribute attribute, StringRef mnemonic) {
  if (!attribute)
    throw ImportError("it has no attribute of kind '" + mnemonic.str() + "'");
  auto opaque = dyn_cast<OpaqueAttr>(attribute);
  if (!opaque) {
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    throw ImportError("expected an attribute #stablehlo." + mnemonic.str() + ", got " + text);
  }
  return opaque.getAttrData();
}

AttributeFields::AttributeFields(Attribute attribute, StringRef mnemonic) {
  Cursor cursor(textOf(attribute, mnemonic));
  cursor.expect(mnemonic);
  cursor.expect("<");
  if (cursor.take(">")) {
    cursor.end();
    return;
  }
  do {
    Shape &field = fields[cursor.word()];
    cursor.expect("=");
    if (!cursor.take("[")) {
      field.push_back(cursor.number());
    } else if (!cursor.take("]")) {
      do
        field.push_back(cursor.number());
      while (cursor.take(","));
      cursor.expect("]");
    }
  } while (cursor.take(","));
  cursor.expect(">");
  cursor.end();
}

int64_t AttributeFields::number(StringRef field, int64_t otherwise) const {
  auto found = fields.find(field);
  if (found == fields.end())
    return otherwise;
  if (found->second.size() != 1)
    throw ImportError("expected one number in field '" + field.str() + "'");
  return found->second.front();
}

StringRef stablehlo::enumWord(Attribute attribute, StringRef mnemonic) {
  Cursor cursor(textOf(attribute, mnemonic));
  cursor.expect(mnemonic);
  bool angled = cursor.take("<");
  StringRef word = cursor.word();
  if (angled)
    cursor.expect(">");
  cursor.end();
  return word;
}

/// `[b, 0, 1, f]` with `first` and `second` for the two letters.
static ConvDims::Operand parseOperand(Cursor &cursor, StringRef first, StringRef second) {
  ConvDims::Operand operand;
  std::map<int64_t, int64_t> spatial;
  cursor.expect("[");
  int64_t position = 0;
  do {
    StringRef word = cursor.word();
    int64_t number = 0;
    if (word == first && operand.first < 0)
      operand.first = position;
    else if (word == second && operand.second < 0)
      operand.second = position;
    else if (word.getAsInteger(10, number) || !spatial.try_emplace(number, position).second)
      throw ImportError("unexpected '" + word.str() + "' in the dimensions of a convolution");
    ++position;
  } while (cursor.take(","));
  cursor.expect("]");
  if (operand.first < 0 || operand.second < 0)
    throw ImportError("the dimensions of a convolution lack '" + first.str() + "' or '" +
                      second.str() + "'");
  for (int64_t number = 0; number < int64_t(spatial.size()); ++number) {
    auto found = spatial.find(number);
    if (found == spatial.end())
      throw ImportError("the spatial dimensions of a convolution are not 0, 1, …");
    operand.spatial.push_back(found->second);
  }
  return operand;
}

ConvDims stablehlo::parseConvDims(Attribute attribute) {
  Cursor cursor(textOf(attribute, "conv"));
  cursor.expect("conv");
  cursor.expect("<");
  ConvDims dims;
  dims.input = parseOperand(cursor, "b", "f");
  cursor.expect("x");
  dims.kernel = parseOperand(cursor, "o", "i");
  cursor.expect("->");
  dims.output = parseOperand(cursor, "b", "f");
  cursor.expect(">");
  cursor.end();
  if (dims.input.spatial.size() != dims.kernel.spatial.size() ||
      dims.input.spatial.size() != dims.output.spatial.size())
    throw ImportError("the operands of a convolution differ in their spatial dimensions");
  return dims;
}

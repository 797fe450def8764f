//===- PtxIntegers.cpp - arithmetic of integers, and bits -----------------===//

#include "test/cuda/PtxBody.h"

namespace weft::test::ptx {

namespace {

const Type &u32Type() { return *findType("u32"); }

std::string call(const std::string &function, const Type &type, const Texts &arguments) {
  std::string text = function + "<" + std::string(type.text) + ">(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", " : "") + arguments[i];
  return text + ")";
}

const Type &getWide(Body &body, const Type &type) {
  const Type *wide = type.isInteger() && type.bytes < 8
                         ? findType(std::string(1, type.name[0]) + std::to_string(type.bytes * 16))
                         : nullptr;
  if (!wide || type.bytes < 2)
    body.fail("a product of type ." + std::string(type.name) + " that is .wide");
  return *wide;
}

/// Sums that take the carry of the instruction before, or leave one for the next, as those of
/// integers of 128 bits.
void translateCarry(Body &body, const Type &type, bool subtracts, bool reads, bool writes) {
  const Type &plain = getBits(type.bytes);
  body.expectCount(3);
  body.emit("u32 in = " + std::string(reads ? "carry" : "0") + ", out;");
  body.write(0, plain,
             call(subtracts ? "subBorrow" : "addCarry", plain,
                  {body.read(1, plain), body.read(2, plain), "in", "out"}));
  body.emit(writes ? "carry = out;" : "(void)out;");
}

void translateSum(Body &body, const Type &type) {
  const std::string &opcode = body.getOpcode();
  bool subtracts = opcode[0] == 's', reads = opcode.size() == 4, writes = body.take("cc");
  if (reads || writes)
    return translateCarry(body, type, subtracts, reads, writes);
  bool sat = body.take("sat");
  if (sat && type.name != "s32")
    body.fail(".sat of a sum other than .s32");
  body.expectCount(3);
  Texts values = {body.read(1, type), body.read(2, type)};
  if (sat)
    body.write(0, type,
               std::string(subtracts ? "subSat(" : "addSat(") + values[0] + ", " + values[1] + ")");
  else
    body.write(0, type, call(subtracts ? "sub" : "add", type, values));
}

/// mul and mad: the low half, the high one, or the product of twice the width.
void translateProduct(Body &body, const Type &type) {
  bool adds = body.getOpcode() == "mad";
  std::string part = body.takeSomeOf({"lo", "hi", "wide"}, ".lo, .hi or .wide");
  body.expectCount(adds ? 4 : 3);
  Texts values = {body.read(1, type), body.read(2, type)};
  const Type &result = part == "wide" ? getWide(body, type) : type;
  std::string product = part == "wide"
                            ? "mulWide<" + std::string(result.text) + ", " +
                                  std::string(type.text) + ">(" + values[0] + ", " + values[1] + ")"
                            : call(part == "hi" ? "mulHi" : "mulLo", type, values);
  if (!adds)
    return body.write(0, result, product);
  std::string added = body.read(3, result);
  if (!body.take("sat"))
    return body.write(0, result, call("add", result, {product, added}));
  if (part != "hi" || type.name != "s32")
    body.fail(".sat of a product other than .hi.s32");
  body.write(0, result, "madHiSat(" + values[0] + ", " + values[1] + ", " + added + ")");
}

/// Instructions whose operands and result are all of their type.
void translatePlain(Body &body, const Type &type) {
  static const std::map<std::string_view, std::pair<const char *, int>> functions = {
      {"abs", {"abs", 1}}, {"cnot", {"cnot", 1}}, {"div", {"div", 2}}, {"max", {"max", 2}},
      {"min", {"min", 2}}, {"neg", {"neg", 1}},   {"rem", {"rem", 2}}, {"sad", {"sad", 3}}};
  auto &[function, inputs] = functions.at(body.getOpcode());
  body.expectCount(inputs + 1);
  Texts values;
  for (int i = 1; i <= inputs; ++i)
    values.push_back(body.read(i, type));
  body.write(0, type, call(function, type, values));
}

void translateLogic(Body &body) {
  static const std::map<std::string_view, std::string_view> signs = {
      {"and", "&"}, {"or", "|"}, {"xor", "^"}};
  const Type &type = body.takeType();
  std::string text(type.text);
  if (body.getOpcode() == "not") {
    body.expectCount(2);
    return body.write(0, type, std::string(type.isPredicate() ? "!" : "~") + body.read(1, type));
  }
  body.expectCount(3);
  body.write(0, type,
             text + "(" + body.read(1, type) + " " + std::string(signs.at(body.getOpcode())) + " " +
                 body.read(2, type) + ")");
}

void translateShift(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(3);
  body.write(0, type, call(body.getOpcode(), type, {body.read(1, type), body.read(2, u32Type())}));
}

void translateFunnelShift(Body &body) {
  std::string side = body.takeSomeOf({"l", "r"}, ".l or .r");
  std::string mode = body.takeSomeOf({"wrap", "clamp"}, ".wrap or .clamp");
  const Type &type = body.takeType();
  body.expectCount(4);
  std::string by = body.read(3, u32Type());
  body.write(0, type,
             std::string(side == "l" ? "shfLeft(" : "shfRight(") + body.read(1, type) + ", " +
                 body.read(2, type) + ", " + by + (mode == "wrap" ? " & 31)" : ")"));
}

/// Instructions that count or find bits: the result has 32 bits.
void translateCount(Body &body) {
  bool shiftAmount = body.getOpcode() == "bfind" && body.take("shiftamt");
  const Type &type = body.takeType();
  body.expectCount(2);
  Texts values = {body.read(1, type)};
  if (body.getOpcode() == "bfind")
    values.push_back(shiftAmount ? "true" : "false");
  body.write(0, u32Type(), call(body.getOpcode(), type, values));
}

void translateReverse(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(2);
  body.write(0, type, call("brev", type, {body.read(1, type)}));
}

void translateField(Body &body) {
  const Type &type = body.takeType();
  bool inserts = body.getOpcode() == "bfi";
  body.expectCount(inserts ? 5 : 4);
  Texts values = {body.read(1, type)};
  if (inserts)
    values.push_back(body.read(2, type));
  values.push_back(body.read(inserts ? 3 : 2, u32Type()));
  values.push_back(body.read(inserts ? 4 : 3, u32Type()));
  body.write(0, type, call(body.getOpcode(), type, values));
}

void translateMask(Body &body) {
  bool wrap = body.takeSomeOf({"clamp", "wrap"}, ".clamp or .wrap") == "wrap";
  const Type &type = body.takeType();
  body.expectCount(3);
  std::string last = wrap ? ", true)" : ", false)";
  if (body.getOpcode() == "bmsk")
    body.write(0, type, "bmsk(" + body.read(1, type) + ", " + body.read(2, type) + last);
  else
    body.write(0, type,
               "szext<" + std::string(type.text) + ">(" + body.read(1, type) + ", " +
                   body.read(2, u32Type()) + last);
}

void translateLop3(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(5);
  body.write(
      0, type,
      call("lop3", type,
           {body.read(1, type), body.read(2, type), body.read(3, type), body.read(4, u32Type())}));
}

void translatePermute(Body &body) {
  static const std::map<std::string_view, const char *> modes = {{"f4e", "F4e"}, {"b4e", "B4e"},
                                                                 {"rc8", "Rc8"}, {"ecl", "Ecl"},
                                                                 {"ecr", "Ecr"}, {"rc16", "Rc16"}};
  const Type &type = body.takeType();
  std::string mode = body.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  body.expectCount(4);
  std::string first = mode.empty() ? "" : "Permutation::" + std::string(modes.at(mode)) + ", ";
  body.write(0, type,
             "prmt(" + first + body.read(1, type) + ", " + body.read(2, type) + ", " +
                 body.read(3, type) + ")");
}

/// add, min and so on, of integers or floats.
void translateByType(Body &body) {
  bool carry = body.getOpcode() == "addc" || body.getOpcode() == "subc";
  const Type &type = body.takeType();
  if (type.isFloat() && !carry)
    translateFloat(body, type);
  else if (type.isInteger() || body.getOpcode() == "cnot")
    translateInteger(body, type);
  else
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
}

} // namespace

void translateInteger(Body &body, const Type &type) {
  const std::string &opcode = body.getOpcode();
  if (opcode == "add" || opcode == "sub" || opcode == "addc" || opcode == "subc")
    return translateSum(body, type);
  if (opcode == "mul" || opcode == "mad")
    return translateProduct(body, type);
  translatePlain(body, type);
}

void addIntegers(HandlerTable &table) {
  for (const char *opcode : {"abs", "add", "addc", "cnot", "div", "mad", "max", "min", "mul", "neg",
                             "rem", "sad", "sub", "subc"})
    table[opcode] = translateByType;
  for (const char *opcode : {"and", "not", "or", "xor"})
    table[opcode] = translateLogic;
  for (const char *opcode : {"bfind", "clz", "popc"})
    table[opcode] = translateCount;
  for (const char *opcode : {"bfe", "bfi"})
    table[opcode] = translateField;
  for (const char *opcode : {"bmsk", "szext"})
    table[opcode] = translateMask;
  table["brev"] = translateReverse;
  table["lop3"] = translateLop3;
  table["prmt"] = translatePermute;
  table["shf"] = translateFunnelShift;
  table["shl"] = table["shr"] = translateShift;
}

} // namespace weft::test::ptx

//===- PtxTransfers.cpp - moves, loads, stores, atomics -------------------===//

#include "test/cuda/PtxBody.h"

namespace weft::test::ptx {

namespace {

/// Of what an access may say; caches and prefetching have no meaning here.
struct Access {
  std::string space; ///< empty: generic
  bool strong = false;
};

Access takeAccess(Body &body) {
  Access access;
  for (const char *word : {"global", "const", "shared", "local", "param"})
    if (body.take(word))
      access.space = word;
  if (body.take("shared::cta"))
    access.space = "shared";
  if (body.take("param::entry") || body.take("param::func"))
    access.space = "param";
  access.strong =
      !body.takeOneOf({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}).empty();
  body.take("weak");
  body.takeOneOf({"cta", "cluster", "gpu", "sys"});
  return access;
}

void takeCaching(Body &body) {
  body.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  body.take("nc");
  body.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                  "L1::no_allocate"});
  body.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  body.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
}

size_t takeLanes(Body &body) {
  std::string word = body.takeOneOf({"v2", "v4", "v8"});
  return word.empty() ? 1 : word[1] - '0';
}

/// The elements of a vector operand, or the operand alone.
std::vector<Operand> getLanes(Body &body, const Operand &operand, size_t lanes) {
  if (lanes == 1 && operand.kind != Operand::Kind::Vector)
    return {operand};
  if (operand.kind != Operand::Kind::Vector || operand.items.size() != lanes)
    body.fail("expected a vector of " + std::to_string(lanes) + " registers of " +
              body.getOpcode());
  return operand.items;
}

std::string at(const char *base, size_t lane, const Type &type) {
  return std::string(base) + " + " + std::to_string(lane * type.bytes);
}

void checkMemoryType(Body &body, const Type &type) {
  if (type.isPredicate() || type.isPacked())
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
}

void translateLoad(Body &body) {
  Access access = takeAccess(body);
  takeCaching(body);
  size_t lanes = takeLanes(body);
  const Type &type = body.takeType();
  checkMemoryType(body, type);
  body.expectCount(2);
  body.emit("const u8 *from = " +
            body.getPlace(access.space, body.getOperand(1), lanes * type.bytes) + ";");
  std::vector<Operand> targets = getLanes(body, body.getOperand(0), lanes);
  for (size_t i = 0; i < lanes; ++i)
    body.write(targets[i], type,
               std::string(access.strong ? "loadStrong<" : "load<") + std::string(type.text) +
                   ">(" + at("from", i, type) + ")",
               true);
}

void translateStore(Body &body) {
  Access access = takeAccess(body);
  takeCaching(body);
  size_t lanes = takeLanes(body);
  const Type &type = body.takeType();
  checkMemoryType(body, type);
  body.expectCount(2);
  const Symbol *symbol = body.find(body.getOperand(0).name);
  if (access.space == "const" || (symbol && symbol->isConst))
    body.fail("a store to what may only be read");
  body.emit("u8 *to = " + body.getPlace(access.space, body.getOperand(0), lanes * type.bytes) +
            ";");
  std::vector<Operand> sources = getLanes(body, body.getOperand(1), lanes);
  for (size_t i = 0; i < lanes; ++i)
    body.emit(std::string(access.strong ? "storeStrong(" : "store(") + at("to", i, type) + ", " +
              body.read(sources[i], type, true) + ");");
}

/// The parts of a value in a vector of registers, or a value of such parts.
void translatePackedMove(Body &body, const Type &type) {
  bool packs = body.getOperand(1).kind == Operand::Kind::Vector;
  const Operand &vector = body.getOperand(packs ? 1 : 0);
  size_t lanes = vector.items.size();
  if (lanes < 2 || lanes > 4 || type.bytes / lanes * lanes != type.bytes || type.bytes / lanes < 1)
    body.fail("a move of " + std::to_string(lanes) + " parts of ." + std::string(type.name));
  const Type &part = getBits(type.bytes / lanes), &whole = getBits(type.bytes);
  std::string text(whole.text);
  if (!packs)
    body.emit(text + " whole = " + body.read(1, whole) + ";");
  std::string sum;
  for (size_t i = 0; i < lanes; ++i) {
    std::string shift = std::to_string(8 * part.bytes * i);
    if (packs)
      sum += (i ? " | " : "") + text + "(" + body.read(vector.items[i], part) + ") << " + shift;
    else
      body.write(vector.items[i], part, std::string(part.text) + "(whole >> " + shift + ")");
  }
  if (packs)
    body.write(0, whole, text + "(" + sum + ")");
}

void translateMove(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(2);
  if (body.getOperand(0).kind == Operand::Kind::Vector ||
      body.getOperand(1).kind == Operand::Kind::Vector)
    return translatePackedMove(body, type);
  const Type &bits = type.isPredicate() ? type : getBits(type.bytes);
  bool isConstant = body.getOperand(1).kind != Operand::Kind::Name; // read with the type it has
  body.write(0, bits,
             isConstant && !type.isPredicate() ? "bitsOf(" + body.read(1, type) + ")"
                                               : body.read(1, bits));
}

/// Generic addresses are those of the host, so all but those of shared memory stay as they are.
void translateAddressConversion(Body &body) {
  bool toSpace = body.take("to");
  Access access = takeAccess(body);
  const Type &type = body.takeType();
  if (access.space.empty() || type.bytes != 8 || access.strong)
    body.fail("a conversion of an address of this kind");
  body.expectCount(2);
  std::string value = body.read(1, type);
  if (access.space == "shared")
    value = (toSpace ? "genericToShared(t, " : "sharedToGeneric(t, ") + value + ")";
  body.write(0, type, value);
}

void translateIsSpace(Body &body) {
  static const std::map<std::string, const char *> functions = {
      {"global", "isGlobal"}, {"shared", "isShared"}, {"local", "isLocal"}, {"param", "isParam"}};
  Access access = takeAccess(body);
  auto found = functions.find(access.space);
  if (found == functions.end())
    body.fail("isspacep of this space");
  body.expectCount(2);
  body.write(0, *findType("pred"),
             std::string(found->second) + "(t, " + body.read(1, getBits(8)) + ")");
}

void translatePrefetch(Body &body) {
  takeAccess(body);
  body.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  body.expectCount(1);
  body.getAddress(body.getOperand(0));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// What becomes of `old`, for each operation and kind of type.
std::string getUpdate(Body &body, const std::string &operation, const Type &type, bool flushes) {
  std::string text(type.isPacked() ? type.element : type.text);
  if (type.isFloat()) {
    std::string ftz = flushes ? "true" : "false";
    if (operation == "add")
      return "fadd<" + text + ">(old, b, Rounding{RN, " + ftz + ", false})";
    if ((operation == "min" || operation == "max") && type.bytes == 2)
      return "minMax<" + text + ">(old, b, MinMax{" + (operation == "max" ? "true" : "false") +
             "})";
    body.fail("atom ." + operation + " of type ." + std::string(type.name));
  }
  static const std::map<std::string, std::string> updates = {
      {"add", "add"}, {"min", "min"}, {"max", "max"}, {"inc", "increment"}, {"dec", "decrement"}};
  if (auto found = updates.find(operation); found != updates.end())
    return found->second + "<" + text + ">(old, b)";
  static const std::map<std::string, std::string> others = {{"and", "old & b"},
                                                            {"or", "old | b"},
                                                            {"xor", "old ^ b"},
                                                            {"exch", "b"},
                                                            {"cas", "old == b ? c : old"}};
  return text + "(" + others.at(operation) + ")";
}

void translateAtomic(Body &body) {
  bool gives = body.getOpcode() == "atom";
  Access access = takeAccess(body);
  takeCaching(body);
  std::string operation = body.takeSomeOf(
      {"add", "and", "cas", "dec", "exch", "inc", "max", "min", "or", "xor"}, "an operation");
  bool noFlush = body.take("noftz");
  const Type &type = body.takeType();
  size_t first = gives ? 1 : 0, count = first + (operation == "cas" ? 3 : 2);
  if (type.bytes < 2 || type.bytes > 8 || (operation == "cas" && !gives))
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
  body.expectCount(count);
  bool flushes = type.name == "f32" && access.space != "shared" && !noFlush;
  std::string text(type.text);
  body.emit("const auto b = " + body.read(first + 1, type) + ";");
  if (operation == "cas")
    body.emit("const auto c = " + body.read(first + 2, type) + ";");
  std::string update = getUpdate(body, operation, type, flushes);
  if (type.isPacked()) {
    std::string element(type.element);
    update = "halves<" + element + ">([&](" + element + " old, " + element + " b, " + element +
             ") { return " + update + "; }, old, b)";
  }
  std::string whole = "atomicUpdate<" + text + ">(" +
                      body.getPlace(access.space, body.getOperand(first), type.bytes) + ", [&](" +
                      text + " old) { return " + update + "; })";
  if (gives)
    body.write(0, type, whole);
  else
    body.emit(whole + ";");
}

} // namespace

void addTransfers(HandlerTable &table) {
  table["atom"] = table["red"] = translateAtomic;
  table["cvta"] = translateAddressConversion;
  table["isspacep"] = translateIsSpace;
  table["ld"] = table["ldu"] = translateLoad;
  table["mov"] = translateMove;
  table["prefetch"] = table["prefetchu"] = translatePrefetch;
  table["st"] = translateStore;
}

} // namespace weft::test::ptx

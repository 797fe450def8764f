//===- PtxFloats.cpp - arithmetic of floats, comparisons, conversions -----===//

#include "test/cuda/PtxBody.h"

#include <algorithm>

namespace weft::test::ptx {

namespace {

std::string flag(bool value) { return value ? "true" : "false"; }

std::string join(const Texts &values) {
  std::string text;
  for (const std::string &value : values)
    text += (text.empty() ? "" : ", ") + value;
  return text;
}

/// `Rounding{RN, false, true}` of the words that an instruction has.
std::string takeRounding(Body &body) {
  std::string round = body.takeRound();
  bool ftz = body.take("ftz"), sat = body.take("sat");
  return "Rounding{" + round + ", " + flag(ftz) + ", " + flag(sat) + "}";
}

void translateMinMax(Body &body, const Type &type) {
  bool max = body.getOpcode() == "max", ftz = body.take("ftz"), nan = body.take("NaN");
  bool xorSign = body.take("xorsign"), abs = body.take("abs");
  std::string how =
      "MinMax{" + join({flag(max), flag(nan), flag(ftz), flag(xorSign), flag(abs)}) + "}";
  body.expectCount(3);
  body.writeEach(type, 2,
                 [&](const Texts &v) { return "minMax(" + v[0] + ", " + v[1] + ", " + how + ")"; });
}

/// Instructions whose operands and result are all of their type, and round.
void translateRounded(Body &body, const Type &type) {
  static const std::map<std::string_view, std::pair<const char *, size_t>> functions = {
      {"add", {"fadd", 2}}, {"div", {"fdiv", 2}},   {"fma", {"fma", 3}},  {"mad", {"fma", 3}},
      {"mul", {"fmul", 2}}, {"sqrt", {"fsqrt", 1}}, {"sub", {"fsub", 2}}, {"rcp", {"rcp", 1}}};
  auto &[function, inputs] = functions.at(body.getOpcode());
  bool divides = body.getOpcode() == "div" || inputs == 1;
  if (divides && (type.bytes == 2 || type.isPacked()))
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
  if (divides)
    body.takeOneOf({"approx", "full"});
  bool relu = body.getOpcode() == "fma" && body.take("relu");
  std::string how = takeRounding(body);
  body.expectCount(inputs + 1);
  body.writeEach(type, inputs, [&, name = function](const Texts &values) {
    std::string text = std::string(name) + "(" + join(values) + ", " + how + ")";
    return relu ? "relu(" + text + ")" : text;
  });
}

void translateSign(Body &body, const Type &type) {
  bool ftz = body.take("ftz");
  body.expectCount(2);
  body.writeEach(type, 1, [&](const Texts &v) {
    return "f" + body.getOpcode() + "(" + v[0] + ", " + flag(ftz) + ")";
  });
}

void translateRoundedByType(Body &body) {
  const Type &type = body.takeType();
  if (!type.isFloat())
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
  translateRounded(body, type);
}

void translateApproximate(Body &body) {
  static const std::map<std::string_view, const char *> functions = {
      {"cos", "cosOf"},     {"ex2", "exp2Of"}, {"lg2", "log2Of"},
      {"rsqrt", "rsqrtOf"}, {"sin", "sinOf"},  {"tanh", "tanhOf"}};
  body.takeSomeOf({"approx"}, ".approx");
  bool ftz = body.take("ftz");
  const Type &type = body.takeType();
  if (!type.isFloat())
    body.fail(body.getOpcode() + " of type ." + std::string(type.name));
  body.expectCount(2);
  body.writeEach(type, 1, [&](const Texts &values) {
    return "approximate(" + std::string(functions.at(body.getOpcode())) + ", " + values[0] + ", " +
           flag(ftz) + ")";
  });
}

void translateCopySign(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(3);
  body.write(0, type, "copysign(" + body.read(1, type) + ", " + body.read(2, type) + ")");
}

void translateTest(Body &body) {
  static const std::map<std::string, const char *> tests = {
      {"finite", "Finite"},         {"infinite", "Infinite"}, {"number", "Number"},
      {"notanumber", "NotANumber"}, {"normal", "Normal"},     {"subnormal", "Subnormal"}};
  std::string test = body.takeSomeOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}, "a test");
  const Type &type = body.takeType();
  body.expectCount(2);
  body.write(0, *findType("pred"),
             "testp(Test::" + std::string(tests.at(test)) + ", " + body.read(1, type) + ")");
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

struct Comparison {
  std::string_view word;
  const char *how;
  bool unordered, forFloats, forIntegers;
};

/// Those of floats that end in u hold for NaN; lo, ls, hi, hs are of unsigned integers.
constexpr Comparison comparisons[] = {
    {"eq", "Eq", false, true, true},    {"ne", "Ne", false, true, true},
    {"lt", "Lt", false, true, true},    {"le", "Le", false, true, true},
    {"gt", "Gt", false, true, true},    {"ge", "Ge", false, true, true},
    {"lo", "Lt", false, false, true},   {"ls", "Le", false, false, true},
    {"hi", "Gt", false, false, true},   {"hs", "Ge", false, false, true},
    {"equ", "Eq", true, true, false},   {"neu", "Ne", true, true, false},
    {"ltu", "Lt", true, true, false},   {"leu", "Le", true, true, false},
    {"gtu", "Gt", true, true, false},   {"geu", "Ge", true, true, false},
    {"num", "Num", false, true, false}, {"nan", "Nan", true, true, false},
};

const Comparison &takeComparison(Body &body) {
  for (const Comparison &comparison : comparisons)
    if (body.take(comparison.word))
      return comparison;
  body.fail("expected a comparison of " + body.getOpcode());
}

std::string compareText(Body &body, const Comparison &comparison, const Type &type, bool ftz,
                        const Texts &values) {
  if (type.isPredicate() || !(type.isFloat() ? comparison.forFloats : comparison.forIntegers))
    body.fail("a comparison ." + std::string(comparison.word) + " of type ." +
              std::string(type.name));
  std::string element(type.isPacked() ? type.element : type.text);
  return "compare<" + element + ">(Compare::" + comparison.how + ", " + join(values) + ", " +
         flag(comparison.unordered) + ", " + flag(ftz) + ")";
}

/// How a third operand, a predicate, is combined with a comparison's result.
std::string takeCombination(Body &body) {
  static const std::map<std::string, std::string> signs = {
      {"and", " & "}, {"or", " | "}, {"xor", " ^ "}};
  std::string word = body.takeOneOf({"and", "or", "xor"});
  return word.empty() ? "" : signs.at(word);
}

/// Of packed floats a predicate for each half.
void writeHalves(Body &body, const Comparison &comparison, const Type &type, bool ftz,
                 const std::string &combination) {
  std::string element(type.element),
      other = combination.empty() ? "" : body.read(3, *findType("pred"));
  const char *shifts[] = {"", " >> 16"};
  const Operand &result = body.getOperand(0);
  body.emit("u32 x = " + body.read(1, type) + ", y = " + body.read(2, type) + ";");
  const std::string *names[] = {&result.name, &result.second};
  for (int i = 0; i < 2; ++i) {
    Texts values = {"as<" + element + ">(x" + shifts[i] + ")",
                    "as<" + element + ">(y" + shifts[i] + ")"};
    std::string text = compareText(body, comparison, type, ftz, values);
    if (!names[i]->empty())
      body.writePredicate(*names[i],
                          combination.empty() ? text : "bool(" + text + combination + other + ")");
  }
}

void translateSetPredicate(Body &body) {
  const Comparison &comparison = takeComparison(body);
  std::string combination = takeCombination(body);
  bool ftz = body.take("ftz");
  const Type &type = body.takeType();
  body.expectCount(combination.empty() ? 3 : 4);
  if (type.isPacked())
    return writeHalves(body, comparison, type, ftz, combination);
  const Operand &result = body.getOperand(0);
  if (result.kind != Operand::Kind::Name)
    body.fail("expected a predicate for the result of setp");
  body.emit("bool holds = " +
            compareText(body, comparison, type, ftz, {body.read(1, type), body.read(2, type)}) +
            ";");
  std::string other = combination.empty() ? "" : body.read(3, *findType("pred"));
  body.emit("bool other = " + (other.empty() ? "false" : other) + "; (void)other;");
  std::string rest = combination.empty() ? "" : combination + "other";
  body.writePredicate(result.name, "bool(holds" + rest + ")");
  if (!result.second.empty())
    body.writePredicate(result.second, "bool(!holds" + rest + ")");
}

/// All ones or 1.0 where the comparison holds.
void translateSet(Body &body) {
  const Comparison &comparison = takeComparison(body);
  std::string combination = takeCombination(body);
  bool ftz = body.take("ftz");
  const Type &result = body.takeType(), &type = body.takeType();
  if (type.isPacked() || result.bytes != 4 || result.isPacked())
    body.fail("set of these types");
  body.expectCount(combination.empty() ? 3 : 4);
  std::string text =
      compareText(body, comparison, type, ftz, {body.read(1, type), body.read(2, type)});
  if (!combination.empty())
    text += combination + body.read(3, *findType("pred"));
  body.write(0, result,
             result.isFloat() ? "(" + text + ") ? 1.0f : 0.0f" : "(" + text + ") ? ~0u : 0u");
}

void translateSelect(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(4);
  body.write(0, type,
             body.read(3, *findType("pred")) + " ? " + body.read(1, type) + " : " +
                 body.read(2, type));
}

void translateSelectBySign(Body &body) {
  bool ftz = body.take("ftz");
  const Type &type = body.takeType(), &condition = body.takeType();
  body.expectCount(4);
  std::string value = body.read(3, condition);
  if (condition.isFloat())
    value = "flush(" + value + ", " + flag(ftz) + ")";
  body.write(0, type, value + " >= 0 ? " + body.read(1, type) + " : " + body.read(2, type));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

struct Conversion {
  std::string round;
  bool integral = false, ftz = false, sat = false, relu = false;
};

Conversion takeConversion(Body &body) {
  static const std::map<std::string, const char *> integral = {
      {"rni", "RN"}, {"rzi", "RZ"}, {"rmi", "RM"}, {"rpi", "RP"}};
  Conversion how;
  std::string word = body.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  how.integral = !word.empty();
  how.round = how.integral ? integral.at(word) : body.takeRound("");
  how.ftz = body.take("ftz");
  how.sat = body.take("sat");
  how.relu = body.take("relu");
  return how;
}

/// The rounding is written where there is something to round, and nowhere else.
void checkRounding(Body &body, const Conversion &how, const Type &to, const Type &from) {
  bool toInteger = from.isFloat() && !to.isFloat();
  bool narrows =
      to.isFloat() &&
      (from.isFloat() ? to.bytes < from.bytes || (to.bytes == 2 && to.name != from.name) : true);
  bool isWritten = !how.round.empty();
  if (toInteger ? !how.integral : how.integral && (narrows || !from.isFloat()))
    body.fail("a conversion that rounds otherwise");
  if (narrows && !isWritten)
    body.fail("a conversion without rounding");
  if (isWritten && !how.integral && !narrows)
    body.fail("a conversion that has nothing to round");
}

std::string convertText(const Conversion &how, std::string_view to, std::string_view from,
                        const std::string &value) {
  std::string text = "convert<" + std::string(to) + ", " + std::string(from) + ">(" + value + ", " +
                     (how.round.empty() ? "RN" : how.round) + ", " + flag(how.integral) + ", " +
                     flag(how.ftz) + ", " + flag(how.sat) + ")";
  return how.relu ? "relu(" + text + ")" : text;
}

void translateConvert(Body &body) {
  Conversion how = takeConversion(body);
  const Type &to = body.takeType(), &from = body.takeType();
  if (to.isPacked()) { // of two floats, the first of which is the upper half
    if (from.name != "f32" || how.round.empty() || how.integral)
      body.fail("a conversion to ." + std::string(to.name));
    body.expectCount(3);
    std::string halves[2];
    for (int i = 0; i < 2; ++i)
      halves[i] =
          "u32(bitsOf(" + convertText(how, to.element, from.text, body.read(i + 1, from)) + "))";
    return body.write(0, to, halves[0] + " << 16 | " + halves[1]);
  }
  if (from.isPacked() || from.isPredicate() || to.isPredicate() || from.bytes > 8 || to.bytes > 8 ||
      (how.relu && !to.isFloat()))
    body.fail("a conversion of these types");
  checkRounding(body, how, to, from);
  body.expectCount(2);
  body.write(0, to, convertText(how, to.text, from.text, body.read(1, from, true)), true);
}

} // namespace

void translateFloat(Body &body, const Type &type) {
  const std::string &opcode = body.getOpcode();
  if (opcode == "min" || opcode == "max")
    return translateMinMax(body, type);
  if (opcode == "abs" || opcode == "neg")
    return translateSign(body, type);
  if (opcode == "rem" || opcode == "sad" || opcode == "cnot")
    body.fail(opcode + " of type ." + std::string(type.name));
  translateRounded(body, type);
}

void addFloats(HandlerTable &table) {
  for (const char *opcode : {"fma", "rcp", "sqrt"})
    table[opcode] = translateRoundedByType;
  for (const char *opcode : {"cos", "ex2", "lg2", "rsqrt", "sin", "tanh"})
    table[opcode] = translateApproximate;
  table["copysign"] = translateCopySign;
  table["cvt"] = translateConvert;
  table["selp"] = translateSelect;
  table["set"] = translateSet;
  table["setp"] = translateSetPredicate;
  table["slct"] = translateSelectBySign;
  table["testp"] = translateTest;
}

} // namespace weft::test::ptx

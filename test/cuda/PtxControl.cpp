//===- PtxControl.cpp - branches, calls, barriers, warps ------------------===//

#include "test/cuda/PtxBody.h"

namespace weft::test::ptx {

namespace {

const Type &u32Type() { return *findType("u32"); }
const Type &predicate() { return *findType("pred"); }

void translateBranch(Body &body) {
  body.take("uni");
  if (body.take("idx")) {
    body.expectCount(2);
    body.emit("switch (" + body.read(0, u32Type()) + ") {");
    size_t i = 0;
    for (const std::string &target : body.getTargets(body.getOperand(1).name))
      body.emit("case " + std::to_string(i++) + ": goto " + Body::getLabel(target) + ";");
    return body.emit(
        "default: t.block->host->fail(t, \"brx.idx: an index beyond the targets\");\n  }");
  }
  if (body.getOpcode() != "bra")
    body.fail("expected .idx of brx");
  body.expectCount(1);
  body.emit("goto " + Body::getLabel(body.getOperand(0).name) + ";");
}

void translateReturn(Body &body) {
  body.take("uni");
  body.expectCount(0);
  if (body.getOpcode() == "exit" && !body.getFunction().isKernel)
    body.fail("exit in a function");
  body.emit("return;");
}

void translateTrap(Body &body) {
  body.expectCount(0);
  body.emit("t.block->host->fail(t, \"trap\");");
}

void translateNothing(Body &body) {
  body.take("u32");
  body.expectCount(0, 1);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The call's operands, told apart.
struct Call {
  const Operand *result = nullptr, *arguments = nullptr;
  const Operand *callee = nullptr;
};

Call readCall(Body &body) {
  Call call;
  for (size_t i = 0; i < body.getCount(); ++i) {
    const Operand &operand = body.getOperand(i);
    if (operand.kind != Operand::Kind::List) {
      call.callee = call.callee ? call.callee : &operand; // a prototype may follow
      continue;
    }
    (call.callee ? call.arguments : call.result) = &operand;
  }
  if (!call.callee || call.callee->kind != Operand::Kind::Name ||
      (call.result && call.result->items.size() > 1))
    body.fail("expected a function and at most one result of call");
  return call;
}

void checkCall(Body &body, const Call &call, const FunctionText &callee) {
  size_t given = call.arguments ? call.arguments->items.size() : 0;
  size_t results = call.result ? call.result->items.size() : 0;
  if (given != callee.params.size() || results != callee.results.size())
    body.fail("a call of " + callee.name + " with other arguments or results than it has");
  for (size_t i = 0; i < given; ++i)
    body.getParam(call.arguments->items[i], getBytes(callee.params[i]));
  if (results)
    body.getParam(call.result->items[0], getBytes(callee.results[0]));
}

/// Functions of the device's library that need no definition.
bool translateLibraryCall(Body &body, const Call &call) {
  auto text = [&](const Operand *list) { return body.getParam(list->items.at(0), 8).text; };
  if (call.callee->name == "malloc" && call.arguments && call.result)
    return body.emit("store(" + text(call.result) + ", t.block->host->allocate(t, load<u64>(" +
                     text(call.arguments) + ")));"),
           true;
  if (call.callee->name == "free" && call.arguments)
    return body.emit("t.block->host->free(t, load<u64>(" + text(call.arguments) + "));"), true;
  return false;
}

void translateCall(Body &body) {
  body.take("uni");
  Call call = readCall(body);
  const Symbol *callee = body.find(call.callee->name);
  std::string target;
  if (callee && callee->function && !callee->function->isDefined) {
    if (translateLibraryCall(body, call))
      return;
    body.fail("a call of a function that is not defined: " + call.callee->name);
  } else if (callee && callee->function) {
    checkCall(body, call, *callee->function);
    target = "F_" + mangle(call.callee->name);
    body.calls.insert(call.callee->name);
  } else {
    target = "reinterpret_cast<Function>(" + body.read(*call.callee, getBits(8)) + ")";
    body.callsUnknown = true;
  }
  std::string list;
  if (call.arguments)
    for (const Operand &argument : call.arguments->items)
      list += body.getParam(argument, 0).text + ", ";
  body.emit("const u8 *arguments[] = {" + list + "nullptr};");
  bool gives = call.result && !call.result->items.empty();
  body.emit(target + "(t, " + (gives ? body.getParam(call.result->items[0], 0).text : "nullptr") +
            ", arguments);");
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void translateWarpBarrier(Body &body) {
  body.takeSomeOf({"sync"}, ".sync");
  body.expectCount(1);
  body.emit("exchange(t, " + body.read(0, u32Type()) + ", 0, " + body.getQualifiers() + ");");
}

/// Of bar.red: the count of threads, or whether all or any of them.
void writeReduction(Body &body, const std::string &operation, const std::string &call,
                    const std::string &count) {
  if (operation == "popc")
    return body.write(0, u32Type(), call);
  std::string all =
      count == "0" ? "(t.block->ntid[0] * t.block->ntid[1] * t.block->ntid[2])" : count;
  body.write(0, predicate(), call + (operation == "and" ? " == " + all : " != 0"));
}

void translateBarrier(Body &body) {
  if (body.take("warp"))
    return body.waits = true, translateWarpBarrier(body);
  body.take("cta");
  std::string mode = body.takeSomeOf({"sync", "arrive", "red"}, ".sync, .arrive or .red");
  bool aligned = body.take("aligned") || body.getOpcode() == "bar";
  std::string operation =
      mode == "red" ? body.takeSomeOf({"popc", "and", "or"}, "a reduction") : "";
  size_t first = 0, last = body.getCount();
  std::string condition = "true";
  if (mode == "red") {
    if (body.takeType().isPredicate() == (operation == "popc"))
      body.fail("a reduction of this type");
    body.expectCount(3, 4);
    first = 1;
    condition = body.read(--last, predicate());
  }
  if (last <= first || last > first + 2)
    body.fail("expected a barrier and possibly a number of threads");
  if (mode == "arrive" && last != first + 2)
    body.fail("expected a number of threads of bar.arrive");
  std::string count = last == first + 2 ? body.read(first + 1, u32Type()) : "0";
  int flags = (aligned ? 1 : 0) | (mode == "arrive" ? 2 : 0);
  std::string call = "t.block->host->barrier(t, " + body.read(first, u32Type()) + ", " + count +
                     ", " + body.takeSite() + " * 4 + " + std::to_string(flags) + ", " + condition +
                     ")";
  body.waits = true;
  if (mode == "red")
    writeReduction(body, operation, call, count);
  else
    body.emit(call + ";");
}

void translateFence(Body &body) {
  if (body.getOpcode() == "membar")
    body.takeSomeOf({"cta", "gl", "sys", "gpu"}, "a level");
  body.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  body.takeOneOf({"cta", "cluster", "gpu", "sys"});
  body.expectCount(0);
  body.emit("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

void translateShuffle(Body &body) {
  static const std::map<std::string, const char *> modes = {
      {"up", "Up"}, {"down", "Down"}, {"bfly", "Bfly"}, {"idx", "Idx"}};
  body.takeSomeOf({"sync"}, ".sync");
  std::string mode = body.takeSomeOf({"up", "down", "bfly", "idx"}, "a mode");
  const Type &type = body.takeType();
  body.expectCount(5);
  body.waits = true;
  body.emit("bool valid; u32 got = shuffle(t, Shuffle::" + std::string(modes.at(mode)) + ", " +
            body.read(1, type) + ", " + body.read(2, u32Type()) + ", " + body.read(3, u32Type()) +
            ", " + body.read(4, u32Type()) + ", " + body.getQualifiers() + ", valid);");
  Operand result = body.getOperand(0);
  std::string second = std::move(result.second);
  result.second.clear();
  body.write(result, type, "got");
  if (!second.empty())
    body.writePredicate(second, "valid");
}

void translateVote(Body &body) {
  body.takeSomeOf({"sync"}, ".sync");
  std::string mode = body.takeSomeOf({"ballot", "all", "any", "uni"}, "a mode");
  bool isBallot = mode == "ballot";
  if (body.takeType().isPredicate() == isBallot)
    body.fail("a vote of this type");
  body.expectCount(3);
  body.waits = true;
  body.emit("const u32 mask = " + body.read(2, u32Type()) + ";");
  body.emit("const u32 votes = ballot(t, mask, " + body.read(1, predicate()) + ", " +
            body.getQualifiers() + ") & mask;");
  if (isBallot)
    return body.write(0, u32Type(), "votes");
  body.write(0, predicate(),
             mode == "all"   ? "votes == mask"
             : mode == "any" ? "votes != 0"
                             : "votes == 0 || votes == mask");
}

void translateMatch(Body &body) {
  bool all = body.takeSomeOf({"all", "any"}, ".all or .any") == "all";
  body.takeSomeOf({"sync"}, ".sync");
  const Type &type = body.takeType();
  body.expectCount(3);
  body.waits = true;
  std::string call = std::string(all ? "matchAll" : "matchAny") + "(t, " + body.read(2, u32Type()) +
                     ", " + body.read(1, type) + ", " + body.getQualifiers() +
                     (all ? ", all)" : ")");
  Operand result = body.getOperand(0);
  std::string second = std::move(result.second);
  result.second.clear();
  if (all)
    body.emit("bool all;");
  body.write(result, u32Type(), call);
  if (!second.empty())
    body.writePredicate(second, "all");
}

void translateRedux(Body &body) {
  static const std::map<std::string, const char *> operations = {
      {"add", "add(a, b)"}, {"min", "min(a, b)"}, {"max", "max(a, b)"},
      {"and", "a & b"},     {"or", "a | b"},      {"xor", "a ^ b"}};
  body.takeSomeOf({"sync"}, ".sync");
  std::string operation =
      body.takeSomeOf({"add", "min", "max", "and", "or", "xor"}, "an operation");
  const Type &type = body.takeType();
  if (type.bytes != 4 || type.isFloat())
    body.fail("redux of type ." + std::string(type.name));
  body.expectCount(3);
  body.waits = true;
  std::string text(type.text);
  body.write(0, type,
             "redux<" + text + ">(t, " + body.read(2, u32Type()) + ", " + body.read(1, type) +
                 ", " + body.getQualifiers() + ", [](" + text + " a, " + text + " b) { return " +
                 operations.at(operation) + "; })");
}

/// Lanes run one after the other: each is alone where nothing brings them together.
void translateActiveMask(Body &body) {
  const Type &type = body.takeType();
  body.expectCount(1);
  body.write(0, type, "1u << t.lane");
}

} // namespace

void addControl(HandlerTable &table) {
  table["activemask"] = translateActiveMask;
  table["bar"] = table["barrier"] = translateBarrier;
  table["bra"] = table["brx"] = translateBranch;
  table["call"] = translateCall;
  table["exit"] = table["ret"] = translateReturn;
  table["fence"] = table["membar"] = translateFence;
  table["match"] = translateMatch;
  table["nanosleep"] = translateNothing;
  table["redux"] = translateRedux;
  table["shfl"] = translateShuffle;
  table["trap"] = translateTrap;
  table["vote"] = translateVote;
}

} // namespace weft::test::ptx

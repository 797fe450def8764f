#include "frontends/onnx/Order.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace weft::frontend;
using llvm::StringRef;

/// The operator that differentiates a value of the graph, which it only names.
static bool isGradient(const onnx::NodeProto &node) {
  return node.op_type() == "Gradient" && node.domain() == "ai.onnx.preview.training";
}

/// Calls `visit` for each name that a node uses, those used inside its branches included.
template <typename Visit> static void forEachUse(const onnx::NodeProto &node, Visit visit) {
  std::vector<const onnx::NodeProto *> left{&node};
  auto addGraph = [&](const onnx::GraphProto &graph) {
    for (const onnx::NodeProto &inner : graph.node())
      left.push_back(&inner);
    for (const auto &output : graph.output())
      visit(StringRef(output.name()));
  };
  while (!left.empty()) {
    const onnx::NodeProto &next = *left.back();
    left.pop_back();
    for (const std::string &input : next.input())
      visit(StringRef(input));
    for (const onnx::AttributeProto &attribute : next.attribute()) {
      if (attribute.has_g())
        addGraph(attribute.g());
      for (const onnx::GraphProto &graph : attribute.graphs())
        addGraph(graph);
      if (isGradient(next) && attribute.name() == "y")
        visit(StringRef(attribute.s()));
    }
  }
}

NodeOrder weft::frontend::orderNodes(const Nodes &nodes, const llvm::StringMap<int> &producers,
                                     llvm::ArrayRef<StringRef> wanted) {
  // Which nodes are needed, and who waits for whom.
  llvm::BitVector needed(nodes.size());
  std::vector<int> left;
  auto need = [&](StringRef value) {
    auto maker = producers.find(value);
    if (maker == producers.end())
      return -1;
    if (!needed.test(maker->second)) {
      needed.set(maker->second);
      left.push_back(maker->second);
    }
    return maker->second;
  };
  for (StringRef value : wanted)
    need(value);
  std::vector<std::vector<int>> users(nodes.size());
  std::vector<int> missing(nodes.size());
  while (!left.empty()) {
    int index = left.back();
    left.pop_back();
    forEachUse(nodes[index], [&](StringRef value) {
      if (int maker = need(value); maker >= 0) {
        users[maker].push_back(index);
        ++missing[index];
      }
    });
  }
  // The first in the file of those whose operands are made.
  NodeOrder result;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (unsigned index : needed.set_bits())
    if (missing[index] == 0)
      ready.push(index);
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    needed.reset(index);
    result.order.push_back(index);
    for (int user : users[index])
      if (--missing[user] == 0)
        ready.push(user);
  }
  result.cyclic.assign(needed.set_bits_begin(), needed.set_bits_end());
  return result;
}

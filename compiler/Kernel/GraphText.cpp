//===- GraphText.cpp - what a kernel's graph says of itself ---------------===//

#include "compiler/Kernel/KernelGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::kernel;
using llvm::ArrayRef;

int64_t Node::size() const {
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  return size;
}

ReduceKind kernel::getReduceKind(const Node &node) {
  return node.op == Opcode::Dot ? ReduceKind::Sum : *symbolizeReduceKind(node.kind);
}

std::string Graph::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Node &node : nodes) {
    out << unsigned(node.op) << ' ' << unsigned(node.type) << ' ' << node.kind << " [";
    llvm::interleave(node.shape, out, ",");
    out << "](";
    llvm::interleave(node.operands, out, ",");
    out << "){";
    llvm::interleave(node.ints, out, ",");
    out << '}' << llvm::toHex(node.data) << '\n';
  }
  for (ArrayRef<unsigned> list : {ArrayRef(inputs), ArrayRef(params), ArrayRef(outputs)}) {
    llvm::interleave(list, out, ",");
    out << '\n';
  }
  for (const KernelCheck &check : checks)
    out << check.low << ' ' << check.high << '\n';
  for (const InPlace &each : inPlace) {
    out << "in place " << each.argument << ' ' << each.result << ' ';
    llvm::interleave(each.strides, out, ",");
    out << '\n';
  }
  return text;
}

const InPlace *Graph::findInPlace(unsigned result) const {
  auto found = llvm::find_if(inPlace, [&](const InPlace &each) { return each.result == result; });
  return found == inPlace.end() ? nullptr : &*found;
}

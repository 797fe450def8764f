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
  if (const auto *reduce = node.get<Reduce>())
    return reduce->reduction;
  const auto *identity = node.get<Identity>();
  return identity ? identity->reduction : ReduceKind::Sum; // a product's
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void print(llvm::raw_ostream &out, int64_t number) { out << number; }
static void print(llvm::raw_ostream &out, ReduceKind kind) { out << stringifyReduceKind(kind); }
static void print(llvm::raw_ostream &out, const std::string &bytes) { out << llvm::toHex(bytes); }
static void print(llvm::raw_ostream &out, const Dims &dims) { llvm::interleave(dims, out, ","); }

template <typename Value>
static void print(llvm::raw_ostream &out, const std::optional<Value> &value) {
  if (value)
    print(out, *value);
  else
    out << "none";
}

static void print(llvm::raw_ostream &out, const llvm::SmallVector<Windows::Dim, 4> &dims) {
  for (const Windows::Dim &dim : dims) {
    out << dim.stride << ' ' << dim.positionDim << ' ' << dim.dilation << ' ';
    print(out, dim.elementDim);
    out << ',';
  }
}

static void print(llvm::raw_ostream &out, const NodeKind &kind) {
  auto printField = [&](const auto &field) {
    out << ' ';
    print(out, field);
  };
  auto printKind = [&](const auto &kind) {
    out << kind.name;
    std::apply([&](const auto &...fields) { (printField(fields), ...); }, kind.fields());
  };
  std::visit(printKind, kind);
}

std::string Graph::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Node &node : nodes) {
    print(out, node.kind);
    out << ' ' << unsigned(node.type) << " [";
    llvm::interleave(node.shape, out, ",");
    out << "](";
    llvm::interleave(node.operands, out, ",");
    out << ")\n";
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

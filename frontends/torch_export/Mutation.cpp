// What changes of tensors in place mean for the names of a graph (see Aliases.h).

#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Layout.h"
#include "frontends/torch_export/ops/Indexing.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

//===----------------------------------------------------------------------===//
// Which results are views
//===----------------------------------------------------------------------===//

/// Whether a tensor so laid out can be seen under other sizes without moving elements: dimensions
/// whose strides continue each other form chunks, and the new sizes must split at the same places
/// (at::detail::computeStride).
static bool canView(const Layout &layout, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> chunks; // sizes, from the last
  for (int64_t dim = layout.sizes.size(); dim-- > 0;) {
    if (layout.sizes[dim] == 1)
      continue;
    size_t next = dim + 1;
    while (next < layout.sizes.size() && layout.sizes[next] == 1)
      ++next;
    bool continues = next < layout.sizes.size() && !chunks.empty() &&
                     layout.strides[dim] == layout.strides[next] * layout.sizes[next];
    if (continues)
      chunks.back() *= layout.sizes[dim];
    else
      chunks.push_back(layout.sizes[dim]);
  }
  size_t at = 0;
  int64_t product = 1;
  for (int64_t size : llvm::reverse(sizes)) {
    product *= size;
    if (at < chunks.size() && product == chunks[at]) {
      ++at;
      product = 1;
    } else if (at >= chunks.size() ? product != 1 : product > chunks[at]) {
      return false;
    }
  }
  return at == chunks.size();
}

/// Some operators make a view where they can and a copy where they must.
static bool isView(const Scope &scope, const Symbols &symbols, StringRef target, StringRef base,
                   StringRef result) {
  StringRef name = target.split('.').second.split('.').first;
  std::optional<Layout> from = layoutOf(scope.graph, symbols, base),
                        to = layoutOf(scope.graph, symbols, result);
  if (!from || !to)
    return true;
  if (name == "contiguous")
    return from->isRowMajor();
  if (llvm::is_contained({"flatten", "ravel", "reshape", "reshape_as"}, name))
    return canView(*from, to->sizes);
  return true;
}

void GraphImporter::noteViews(const Node &node) {
  const Argument *self = node.find("self");
  auto *base = self ? self->as<TensorName>() : nullptr;
  if (!base)
    return;
  std::string target = operatorName(node.call);
  Scope &scope = node.scope;
  if (!functionalTarget(target).empty() && !operators.contains(target)) {
    scope.aliases.add(node.resultName(0), {base->name});
    return;
  }
  if (!makesViews(target))
    return;
  for (size_t index = 0; index < node.results(); ++index) {
    StringRef result = node.resultName(index);
    auto value = scope.values.find(result), whole = scope.values.find(base->name);
    bool isCast = value != scope.values.end() && whole != scope.values.end() &&
                  elementOf(value->second) != elementOf(whole->second);
    if (!result.empty() && !isCast && !node.copies() &&
        isView(scope, symbols, target, base->name, result))
      scope.aliases.add(result, {base->name, &node.call, index});
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

Value GraphImporter::refreshed(Scope &scope, StringRef name) {
  SmallVector<std::string> stale; // views of views, which may be many
  for (std::string at = name.str(); scope.aliases.isStale(at); at = scope.aliases.find(at)->base)
    stale.push_back(at);
  for (const std::string &each : llvm::reverse(stale))
    refreshOne(scope, each);
  return scope.values.find(name)->second;
}

void GraphImporter::refreshOne(Scope &scope, StringRef name) {
  View view = *scope.aliases.find(name);
  if (!view.call) {
    Value value = lookup(scope, view.base);
    scope.values[name] = value;
  } else {
    std::string outer = emit.name();
    Node node(*view.call, *this, scope);
    emit.setName(sourceName(scope, *view.call, name));
    operators.find(operatorName(*view.call))->second(node);
    for (size_t index = 0; index < node.results(); ++index)
      if (!node.resultName(index).empty())
        scope.aliases.refresh(node.resultName(index));
    emit.setName(outer);
  }
  scope.aliases.refresh(name);
}

/// The order of dimensions that a node gives its `self`, where that is all it does.
static std::optional<Shape> permutationOf(const Node &node, StringRef name, int64_t rank) {
  Shape order = llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, rank));
  if (name == "permute") {
    order.clear();
    for (int64_t dim : node.integers("dims"))
      order.push_back(node.dim(dim, rank));
  } else if (rank > 0 && llvm::is_contained({"swapaxes", "swapdims", "transpose"}, name)) {
    bool isAxes = name == "swapaxes"; // which calls its arguments so
    std::swap(order[node.dim(node.integer(isAxes ? "axis0" : "dim0"), rank)],
              order[node.dim(node.integer(isAxes ? "axis1" : "dim1"), rank)]);
  } else if (name == "numpy_T") {
    std::reverse(order.begin(), order.end());
  } else if (name == "t" || llvm::is_contained({"adjoint", "mH", "mT", "matrix_H"}, name)) {
    if (rank >= 2)
      std::swap(order[rank - 1], order[rank - 2]);
  } else {
    return std::nullopt;
  }
  return order;
}

/// Which block of its `self` a result is.
static std::optional<SliceRange> blockOf(Node &node, StringRef name, Value base, size_t index) {
  if (name == "slice")
    return readSlice(node, base);
  if (name == "select")
    return readSelect(node, base);
  if (name == "narrow")
    return readNarrow(node, base);
  int64_t rank = typeOf(base).getRank(), dim = 0;
  name.consume_front("unsafe_");
  if (llvm::is_contained({"chunk", "split", "split_with_sizes", "tensor_split", "unbind"}, name))
    dim = node.dim(node.integer("dim", 0), rank);
  else if (name == "hsplit")
    dim = rank == 1 ? 0 : 1;
  else if (name != "vsplit")
    return std::nullopt;
  if (name == "unbind")
    return SliceRange{dim, int64_t(index), 1, 1};
  SliceRange range{dim, 0, 0, 1};
  for (size_t at = 0; at <= index; ++at) {
    auto part = node.scope.values.find(node.resultName(at));
    if (part == node.scope.values.end())
      return std::nullopt;
    range.start += range.count;
    range.count = shapeOf(part->second)[dim];
  }
  return range;
}

/// The base once the view of it is `value`.
static Value putBack(Node &node, const View &view, Value base, Value value) {
  Emitter &emit = node.emit;
  std::string target = operatorName(*view.call);
  StringRef name = StringRef(target).split('.').second.split('.').first;
  if (typeOf(value) == typeOf(base) &&
      llvm::is_contained({"alias", "detach", "contiguous", "to", "type_as"}, name))
    return value;
  if (llvm::is_contained({"atleast_1d", "atleast_2d", "atleast_3d", "flatten", "ravel", "reshape",
                          "reshape_as", "squeeze", "unflatten", "unsqueeze", "view", "view_as"},
                         name))
    return emit.reshape(value, shapeOf(base));
  if (std::optional<Shape> order = permutationOf(node, name, typeOf(base).getRank())) {
    Shape inverse(order->size());
    for (auto [to, from] : llvm::enumerate(*order))
      inverse[from] = int64_t(to);
    return emit.transpose(value, inverse);
  }
  if (std::optional<SliceRange> range = blockOf(node, name, base, view.index)) {
    Shape shape(shapeOf(base));
    shape[range->dim] = range->count;
    return replaceSlice(emit, base, emit.reshape(value, shape), *range);
  }
  throw ImportError("it changes a tensor through a view of it made by " + target +
                    ", which is not supported");
}

void GraphImporter::assign(Scope &scope, StringRef name, Value value) {
  SmallVector<std::pair<std::string, Value>> changed{{name.str(), value}};
  while (const View *found = scope.aliases.find(changed.back().first)) {
    View view = *found;
    Value base = lookup(scope, view.base), part = changed.back().second;
    if (view.call) {
      Node node(*view.call, *this, scope);
      part = putBack(node, view, base, part);
    }
    changed.push_back({view.base, part});
  }
  const std::string &root = changed.back().first;
  for (const Argument &input : scope.graph.inputs)
    if (auto *tensor = input.as<TensorName>(); tensor && tensor->name == root)
      scope.changedInputs.insert(root);
  scope.aliases.change(root);
  for (const auto &[each, now] : llvm::reverse(changed)) {
    scope.values[each] = now;
    scope.aliases.refresh(each);
  }
}

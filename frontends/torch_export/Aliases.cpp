#include "frontends/torch_export/Aliases.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace weft::frontend::aten;
using llvm::StringRef;

void Aliases::add(StringRef name, View view) {
  const View *base = find(view.base);
  view.root = base ? base->root : view.base;
  view.seen = changesOf(view.base);
  views[name] = std::move(view);
}

const View *Aliases::find(StringRef name) const {
  auto found = views.find(name);
  return found == views.end() ? nullptr : &found->second;
}

uint64_t Aliases::changesOf(StringRef name) const {
  if (changes.empty())
    return 0;
  const View *view = find(name);
  return changes.lookup(view ? StringRef(view->root) : name);
}

bool Aliases::isStale(StringRef name) const {
  const View *view = changes.empty() ? nullptr : find(name);
  return view && view->seen != changesOf(name);
}

void Aliases::refresh(StringRef name) {
  if (auto found = views.find(name); found != views.end())
    found->second.seen = changesOf(name);
}

bool weft::frontend::aten::makesViews(StringRef target) {
  static const llvm::StringSet<> names = {
      // all elements in their order
      "alias", "atleast_1d", "atleast_2d", "atleast_3d", "contiguous", "detach", "flatten", "ravel",
      "reshape", "reshape_as", "squeeze", "to", "type_as", "unflatten", "unsqueeze", "view",
      "view_as", "view_as_complex", "view_as_real",
      // in another
      "adjoint", "mH", "mT", "matrix_H", "moveaxis", "movedim", "numpy_T", "permute", "swapaxes",
      "swapdims", "t", "transpose",
      // some of them, or some several times
      "as_strided", "broadcast_to", "chunk", "diagonal", "expand", "expand_as", "hsplit", "narrow",
      "select", "slice", "split", "split_with_sizes", "tensor_split", "unbind", "unfold", "vsplit"};
  if (!target.consume_front("aten."))
    return false;
  target.consume_front("unsafe_"); // of splits, which share elements all the same
  return names.contains(target.split('.').first);
}

std::string weft::frontend::aten::functionalTarget(StringRef target) {
  if (!target.consume_front("aten."))
    return {};
  auto [name, overload] = target.split('.');
  bool isOperator = name.starts_with("__i") && name.ends_with("__"); // __iand__ for `&=`
  if (isOperator)
    return (llvm::Twine("aten.__") + name.drop_front(3) + "." + overload).str();
  if (!name.ends_with("_") || name.ends_with("__"))
    return {};
  return (llvm::Twine("aten.") + name.drop_back() + "." + overload).str();
}

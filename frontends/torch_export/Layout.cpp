#include "frontends/torch_export/Layout.h"

using namespace weft::frontend;
using namespace weft::frontend::aten;

bool Layout::isRowMajor() const {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip(sizes, strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

std::optional<Layout> weft::frontend::aten::layoutOf(const Graph &graph, const Symbols &symbols,
                                                     llvm::StringRef name) {
  auto meta = graph.tensors.find(name);
  if (meta == graph.tensors.end())
    return std::nullopt;
  Layout layout;
  for (auto [from, to] : {std::pair(&meta->second.sizes, &layout.sizes),
                          std::pair(&meta->second.strides, &layout.strides)})
    for (const SymInt &size : *from) {
      std::optional<int64_t> value = symbols.evaluate(size);
      if (!value)
        return std::nullopt;
      to->push_back(*value);
    }
  std::optional<int64_t> offset = symbols.evaluate(meta->second.storageOffset);
  if (!offset || layout.sizes.size() != layout.strides.size())
    return std::nullopt;
  layout.offset = *offset;
  return layout;
}

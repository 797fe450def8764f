// Padding.

#include "frontends/common/Composites.h"
#include "frontends/torch_export/Promotion.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

namespace {
struct Pads {
  Shape low, high; ///< one entry a dimension, below 0 where elements are taken away
};
} // namespace

/// torch gives pairs from the last dimension on.
static Pads readPads(Node &node, Value x, StringRef name) {
  Shape given = node.integers(name);
  size_t rank = shapeOf(x).size();
  if (given.size() % 2 != 0 || given.size() / 2 > rank)
    throw ImportError("expected two pads a dimension of " + describe(x) + ", got " +
                      std::to_string(given.size()));
  Pads pads{Shape(rank, 0), Shape(rank, 0)};
  for (size_t i = 0; i < given.size() / 2; ++i) {
    pads.low[rank - 1 - i] = given[2 * i];
    pads.high[rank - 1 - i] = given[2 * i + 1];
  }
  return pads;
}

static void padWithNumber(Node &node, Value x, Pads pads) {
  Number number = node.has("value") ? node.number("value") : Number(int64_t(0));
  x = emitCrop(node.emit, x, pads.low, pads.high);
  Value value = constantOf(node.emit, number, elementOf(x));
  node.result(node.emit.pad(x, value, pads.low, pads.high));
}

static void padWithBorders(Node &node, Value x, Pads pads, BorderKind kind) {
  x = emitCrop(node.emit, x, pads.low, pads.high);
  node.result(emitBorders(node.emit, x, pads.low, pads.high, kind));
}

static void importConstantPad(Node &node) {
  Value x = node.tensor("self");
  padWithNumber(node, x, readPads(node, x, "pad"));
}

template <BorderKind Kind> static void importBorderPad(Node &node) {
  Value x = node.tensor("self");
  padWithBorders(node, x, readPads(node, x, node.has("padding") ? "padding" : "pad"), Kind);
}

static void importPad(Node &node) {
  Value x = node.tensor("self");
  std::string mode = node.text("mode", "constant");
  Pads pads = readPads(node, x, "pad");
  if (mode == "constant")
    return padWithNumber(node, x, pads);
  node.ignore({"value"});
  if (mode == "reflect")
    return padWithBorders(node, x, pads, BorderKind::Reflect);
  if (mode == "replicate")
    return padWithBorders(node, x, pads, BorderKind::Edge);
  if (mode == "circular")
    return padWithBorders(node, x, pads, BorderKind::Wrap);
  throw ImportError("mode '" + mode + "' is not known");
}

void weft::frontend::aten::addPadding(OpTable &table) {
  table["aten._pad_circular.default"] = importBorderPad<BorderKind::Wrap>;
  table["aten.constant_pad_nd.default"] = importConstantPad;
  table["aten.pad.default"] = importPad;
  table["aten.reflection_pad1d.default"] = importBorderPad<BorderKind::Reflect>;
  table["aten.reflection_pad2d.default"] = importBorderPad<BorderKind::Reflect>;
  table["aten.reflection_pad3d.default"] = importBorderPad<BorderKind::Reflect>;
  table["aten.replication_pad1d.default"] = importBorderPad<BorderKind::Edge>;
  table["aten.replication_pad2d.default"] = importBorderPad<BorderKind::Edge>;
  table["aten.replication_pad3d.default"] = importBorderPad<BorderKind::Edge>;
}

// Sampling of images at places that are computed.

#include "frontends/common/GridSample.h"
#include "frontends/onnx/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

static void importAffineGrid(Node &node) {
  node.result(emitAffineGrid(node.emit, node.operand(0), node.integers(1, "the size"),
                             node.getInt("align_corners", 0) != 0));
}

static GridBorder borderOf(StringRef name) {
  if (name == "zeros")
    return GridBorder::Zeros;
  if (name == "border")
    return GridBorder::Border;
  if (name == "reflection")
    return GridBorder::Reflection;
  throw ImportError("padding_mode '" + name.str() + "' is none of zeros, border, reflection");
}

static void importGridSample(Node &node) {
  // Names changed with operator set 20.
  std::string mode = node.getString("mode", "linear");
  if (mode != "linear" && mode != "bilinear" && mode != "nearest")
    throw ImportError("mode '" + mode + "' is not supported: linear and nearest are");
  node.result(emitGridSample(node.emit, node.operand(0), node.operand(1), mode == "nearest",
                             borderOf(node.getString("padding_mode", "zeros")),
                             node.getInt("align_corners", 0) != 0));
}

void weft::frontend::addGrid(OpTable &table) {
  table["AffineGrid"] = importAffineGrid;
  table["GridSample"] = importGridSample;
}

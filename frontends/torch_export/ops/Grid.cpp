// Sampling of images at places that are computed.

#include "frontends/common/GridSample.h"
#include "frontends/torch_export/ops/OpTable.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

static void importGridSampler(Node &node) {
  int64_t mode = node.integer("interpolation_mode"), border = node.integer("padding_mode");
  if (mode < 0 || mode > 1 || border < 0 || border > 2)
    throw ImportError("interpolation mode " + std::to_string(mode) + " with padding mode " +
                      std::to_string(border) + " is not supported");
  node.result(emitGridSample(node.emit, node.tensor("input"), node.tensor("grid"), mode == 1,
                             GridBorder(border), node.flag("align_corners", false)));
}

static void importAffineGrid(Node &node) {
  node.result(emitAffineGrid(node.emit, node.tensor("theta"), node.integers("size"),
                             node.flag("align_corners", false)));
}

void weft::frontend::aten::addGrid(OpTable &table) {
  table["aten.affine_grid_generator.default"] = importAffineGrid;
  table["aten.grid_sampler.default"] = importGridSampler;
  table["aten.grid_sampler_2d.default"] = importGridSampler;
}

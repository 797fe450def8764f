#include "compiler/Search/PriceProgram.h"
#include "compiler/Cluster/Catalog.h"
#include "compiler/Sharding/FunctionGraph.h"
#include "passes/Planning/Passes.h"

#include "llvm/Support/FormatVariadic.h"

namespace weft {
#define GEN_PASS_DEF_PRICEPROGRAM
#include "passes/Planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct PriceProgram : weft::impl::PriceProgramBase<PriceProgram> {
  using PriceProgramBase::PriceProgramBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    auto meshes = module.getOps<dist::MeshOp>();
    std::string problem;
    std::optional<cluster::Cluster> description = resolveCluster(cluster, problem);
    if (!main || meshes.empty() || !description) {
      module.emitError() << (description ? "expected @main and a mesh" : problem);
      return signalPassFailure();
    }
    ClusterModel model = makeClusterModel(*description);
    MeshShape mesh = getMeshShape(*meshes.begin());
    MeshPrices prices(mesh, model);
    ProgramPrice price = priceProgram(main, prices);
    main.emitRemark() << llvm::formatv(
                             "computes {0:e6} s, communicates {1:e6} s in {2} collectives",
                             price.compute, price.collectives, price.numCollectives)
                             .str();
  }
};
} // namespace

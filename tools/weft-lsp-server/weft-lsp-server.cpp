//===- weft-lsp-server.cpp - language server for Weft's dialects ----------===//

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::WeftDialect, weft::dist::DistDialect,
                  weft::exec::ExecDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

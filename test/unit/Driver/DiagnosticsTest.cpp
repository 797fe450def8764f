//===- DiagnosticsTest.cpp - what is said, and what is not ----------------===//

#include "driver/Diagnostics.h"
#include "driver/Messages.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace weft;

static void say(mlir::MLIRContext &context, const char *text) {
  mlir::emitWarning(mlir::UnknownLoc::get(&context)) << text;
}

TEST_CASE("what a thread says that is held by itself is not lost where others say nothing") {
  mlir::MLIRContext context;
  CollectMessages said(&context);
  std::optional<HeldDiagnostics> held;
  {
    std::optional<QuietDiagnostics> before(&context), behind;
    std::thread([&] {
      held.emplace(context, HeldDiagnostics::Of::ThisThread);
      std::thread([&] { say(context, "of another thread"); }).join();
      behind.emplace(&context);
      say(context, "held");
      behind.reset();
      held->stop();
      say(context, "after it stopped");
    }).join();
  }
  CHECK(said.get().empty());
  held->emit();
  REQUIRE(said.get().size() == 1);
  CHECK(said.get().front().text == "held");
}

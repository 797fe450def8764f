//===- CompileTest.cpp - the library's outcomes, and its silence ----------===//

#include "driver/Compile.h"
#include "driver/Messages.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static constexpr const char *mlp = R"(
weft.weight @up : tensor<8x16xf32> = dense<0.5> : tensor<8x16xf32>
weft.weight @down : tensor<16x8xf32> = dense<0.25> : tensor<16x8xf32>
func.func @main(%x: tensor<4x8xf32> {weft.name = "x"}) -> (tensor<4x8xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<8x16xf32>
  %0 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32> loc("h")
  %down = weft.load @down : tensor<16x8xf32>
  %1 = weft.dot_general %0, %down batch [] x [] contract [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> loc("y")
  return %1 : tensor<4x8xf32>
}
)";

namespace {
/// A folder with the model in it, and what a call in it tells and prints.
class Workplace {
public:
  Workplace() : folder(fs::temp_directory_path() / ("weft-driver-" + std::to_string(getpid()))) {
    fs::create_directories(folder);
    std::ofstream(folder / "mlp.mlir") << mlp;
    std::ofstream(folder / "row.mlir")
        << std::regex_replace(std::string(mlp), std::regex("tensor<4x"), "tensor<1x");
    options.codegen = false;
  }
  ~Workplace() { fs::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }

  Outcome compile(const std::string &model = "mlp.mlir", const std::string &output = "mlp.weft") {
    mlir::MLIRContext context;
    CollectMessages collected(&context);
    int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    FILE *file = std::freopen(path("printed").c_str(), "w", stdout);
    dup2(fileno(file), STDERR_FILENO);
    Outcome outcome = compileModel(context, path(model), path(output), options).getOutcome();
    std::fflush(stdout);
    std::fflush(stderr);
    dup2(kept[0], STDOUT_FILENO);
    dup2(kept[1], STDERR_FILENO);
    close(kept[0]);
    close(kept[1]);
    messages = collected.str();
    return outcome;
  }
  uintmax_t countPrinted() const { return fs::file_size(folder / "printed"); }

  fs::path folder;
  CompileOptions options;
  std::string messages;
};

struct Recorder : PhaseObserver {
  void begin(llvm::StringRef phase) override { begun.push_back(phase.str()); }
  void end(llvm::StringRef phase, mlir::ModuleOp module) override {
    ended.push_back(phase.str() + (module ? "" : " failed"));
  }
  std::vector<std::string> begun, ended;
};
} // namespace

static std::vector<std::string> getPhases() {
  std::vector<std::string> phases;
  for (llvm::StringRef phase : listPhases())
    phases.push_back(phase.str());
  return phases;
}

TEST_CASE("a model is compiled without a word, its phases in order") {
  Workplace place;
  Recorder recorder;
  place.options.plan.mesh = "model=2";
  place.options.observer = &recorder;
  CHECK_FALSE(place.compile().failed());
  CHECK(place.messages.empty());
  CHECK(place.countPrinted() == 0);
  CHECK(fs::exists(place.folder / "mlp.weft" / "executable.pb"));
  CHECK(recorder.begun == getPhases());
  CHECK(recorder.ended == getPhases());
}

TEST_CASE("what is doubtful is told where nothing fails") {
  Workplace place;
  place.options.plan.mesh = "data=3";
  CHECK_FALSE(place.compile("row.mlir").failed());
  CHECK(place.messages.find("warning: ") != std::string::npos);
  CHECK(place.messages.find("axis 'data' of size 3 splits nothing") != std::string::npos);
  CHECK(place.countPrinted() == 0);
}

TEST_CASE("failures have their kind and their message, and leave nothing") {
  Workplace place;
  auto check = [&](ErrorKind kind, const std::string &message,
                   const std::string &model = "mlp.mlir", const std::string &output = "mlp.weft") {
    Outcome outcome = place.compile(model, output);
    REQUIRE(outcome.failed());
    CHECK(outcome.getError() == kind);
    CHECK(outcome.getExitCode() == static_cast<int>(kind));
    CHECK(place.messages.find("error: ") == 0);
    CHECK(place.messages.find(message) != std::string::npos);
    CHECK(place.countPrinted() == 0);
    CHECK_FALSE(fs::exists(place.folder / "mlp.weft"));
  };
  SECTION("no model") { check(ErrorKind::BadInput, "does not exist", "absent.onnx"); }
  SECTION("no mesh") {
    place.options.plan.mesh = "model";
    check(ErrorKind::Usage, "--mesh: ");
  }
  SECTION("no such value") {
    place.options.plan.mesh = "model=2";
    place.options.plan.shard = {"z=[{model},{}]"};
    check(ErrorKind::Usage, "the model has no value 'z'");
  }
  SECTION("no such plan") {
    place.options.plan.plan = place.path("absent.txtpb");
    check(ErrorKind::BadInput, "absent.txtpb");
  }
  SECTION("no such split") {
    Recorder recorder;
    place.options.observer = &recorder;
    place.options.plan.mesh = "model=3";
    place.options.plan.shard = {"h=[{},{model} unit 5]"};
    check(ErrorKind::Infeasible, "cannot split dimension 1 of 'h'");
    CHECK(recorder.ended == std::vector<std::string>{"import", "train", "plan failed"});
  }
  SECTION("no such CPU") {
    place.options.kernels.cpu = "z80";
    check(ErrorKind::Usage, "unknown CPU 'z80'");
  }
  SECTION("no executable to replace") {
    fs::create_directories(place.folder / "mine" / "own");
    check(ErrorKind::BadInput, "exists and is no executable", "mlp.mlir", "mine");
  }
}

TEST_CASE("options for another format are refused") {
  Workplace place;
  place.options.load.dims = {"batch=4"};
  Outcome outcome = place.compile();
  REQUIRE(outcome.failed());
  CHECK(outcome.getError() == ErrorKind::Usage);
  CHECK(place.messages.find("--dim: ") != std::string::npos);
}

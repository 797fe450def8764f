//===- RunTest.cpp - whole runs on threads, and their failures ------------===//

#include "runtime/Executor/Run.h"
#include "runtime/Collective/Local/LocalTransport.h"
#include "runtime/Program/Executable.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "test/unit/Runtime/Fixture.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>

using namespace weft::runtime;
using namespace weft::test;

namespace {

std::shared_ptr<const Executable> load(const TemporaryFolder &folder) {
  return std::make_shared<Executable>(loadExecutable(folder / "mlp.weft"));
}

RunOptions makeOptions(const TemporaryFolder &folder) {
  RunOptions options;
  options.inputs.folder = folder / "inputs";
  options.expectDir = folder / "outputs";
  return options;
}

std::string readText(const std::string &path) {
  File file = File::open(path);
  std::string text(file.getSize(), '\0');
  file.readAt(0, text.data(), text.size());
  return text;
}

/// The Error that `work` ends with, as "exit code: message"; empty where it ends well.
template <typename Work> std::string getError(Work work) {
  try {
    work();
  } catch (const Error &error) {
    return fmt::format("{}: {}", error.getExitCode(), error.what());
  }
  return "";
}

/// A transport that fails or hangs at its rank's `at`-th exchange.
class FaultyTransport : public Transport {
public:
  FaultyTransport(std::unique_ptr<Transport> inner, int at, bool hangs)
      : inner(std::move(inner)), at(at), hangs(hangs) {}

  int64_t getRank() const override { return inner->getRank(); }
  int64_t getSize() const override { return inner->getSize(); }
  std::string getName() const override { return inner->getName(); }
  bool ownsProcess() const override { return false; }
  HostRank getHostRank() const override { return inner->getHostRank(); }
  int getThreadShare(int threads) const override { return 1; }
  int64_t getMaxTag() const override { return inner->getMaxTag(); }
  bool servesThreads() const override { return inner->servesThreads(); }
  std::unique_ptr<Exchange> post(std::span<const Send> sends,
                                 std::span<const Receive> receives) override {
    if (count++ == at) {
      if (!hangs)
        throw Error(ErrorKind::Failure, "the cable is out");
      hanging = true;
      while (!inner->getAbortReason())
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return inner->post(sends, receives);
  }
  void waitUntil(const std::function<bool()> &look) override { inner->waitUntil(look); }
  void wake() override { inner->wake(); }
  void sendHeartbeat() override {
    if (!hanging)
      inner->sendHeartbeat();
  }
  std::optional<int64_t> findSilent(double seconds) override {
    return hanging ? std::nullopt : inner->findSilent(seconds);
  }
  void abort(const AbortReason &reason) override { inner->abort(reason); }
  std::optional<AbortReason> getAbortReason() override { return inner->getAbortReason(); }
  void finish() override { inner->finish(); }

private:
  std::unique_ptr<Transport> inner;
  int at;
  bool hangs;
  int count = 0;
  std::atomic<bool> hanging = false;
};

/// Runs the fixture on four ranks of which rank 2 is faulty from its `at`-th exchange.
std::string runFaulty(int at, bool hangs, double &seconds) {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {2, 2});
  std::vector<std::unique_ptr<Transport>> transports = makeLocalTransports(4);
  transports[2] = std::make_unique<FaultyTransport>(std::move(transports[2]), at, hangs);
  RunOptions options = makeOptions(folder);
  options.repeat = 1000;
  auto begin = std::chrono::steady_clock::now();
  std::string error = getError([&] { runThreads(load(folder), options, std::move(transports)); });
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return error;
}

} // namespace

TEST_CASE("every mesh computes what is expected, again and again") {
  std::string whole;
  for (auto [data, model] : {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 4}, {2, 2}, {4, 2}}) {
    TemporaryFolder folder;
    writeFixture(folder.getPath(), {data, model});
    RunOptions options = makeOptions(folder);
    options.outputDir = folder / "out";
    options.repeat = 3;
    RunReport report = runLocal(load(folder), options);
    REQUIRE(report.comparisons.size() == 1);
    CHECK(report.comparisons[0].getRelative() == 0);
    CHECK(report.comparisons[0].elements == 48);
    CHECK(report.stepSeconds.size() == 3);
    CHECK(report.weightsBytes == std::vector<int64_t>(data * model, 4 * (192 + 96) / model));
    REQUIRE(report.collectives.size() == 1);
    CHECK(report.collectives[0].kind == "all_reduce");
    CHECK(report.collectives[0].axes == std::vector<std::string>{"model"});
    CHECK(report.collectives[0].bytes == 4 * 48 / data);
    CHECK(report.collectives[0].count == 1);
    CHECK(report.instructions["GEMM"] == 2);
    std::string written = readText(folder / "out/y.npy");
    CHECK(written == readText(folder / "outputs/y.npy"));
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "out"), {}) == 1);
  }
}

TEST_CASE("a device of its own memory gets and gives exactly what the program says") {
  for (const char *lateness : {"late", "random:1"}) {
    setenv("WEFT_GUARDED", lateness, 1);
    for (auto [data, model] : {std::pair<int64_t, int64_t>{1, 1}, {2, 1}, {1, 4}, {2, 2}}) {
      TemporaryFolder folder;
      writeFixture(folder.getPath(), {data, model});
      RunOptions options = makeOptions(folder);
      options.device = "guarded";
      options.outputDir = folder / "out";
      options.repeat = 3;
      RunReport report = runLocal(load(folder), options);
      CHECK(report.device == "guarded");
      CHECK(report.comparisons[0].getRelative() == 0);
      CHECK(readText(folder / "out/y.npy") == readText(folder / "outputs/y.npy"));
      int64_t weights = 4 * (192 + 96) / model, inputs = (4 * 96 + 8 * 8) / data,
              result = 4 * 48 / data; // also what is all-reduced, each step
      for (int64_t rank = 0; rank < data * model; ++rank) {
        bool first = rank % model == 0;
        CHECK(report.copied[rank].toDevice == weights + inputs + 3 * result);
        CHECK(report.copied[rank].toHost == (first ? result : 0) + 3 * result);
      }
    }
  }
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  RunReport report = runLocal(load(folder), makeOptions(folder));
  CHECK(report.device == "cpu");
  CHECK(report.copied[0].toDevice == 0);
  CHECK(report.copied[0].toHost == 0);
}

TEST_CASE("a collective that is begun and waited for gives the same on every device") {
  setenv("WEFT_GUARDED", "random:3", 1);
  for (const char *device : {"cpu", "guarded"}) {
    TemporaryFolder folder;
    FixtureOptions fixture;
    fixture.data = fixture.model = 2;
    fixture.async = true;
    writeFixture(folder.getPath(), fixture);
    RunOptions options = makeOptions(folder);
    options.device = device;
    options.repeat = 3;
    RunReport report = runLocal(load(folder), options);
    CHECK(report.comparisons[0].getRelative() == 0);
    CHECK(report.instructions["WAIT"] == 1);
    REQUIRE(report.collectives.size() == 1);
    CHECK(report.collectives[0].count == 1);
  }
}

TEST_CASE("an expected file that is missing is told before anything runs") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  RunOptions options = makeOptions(folder);
  options.expectDir = folder / "nowhere";
  options.outputDir = folder / "out";
  CHECK_THAT(getError([&] { runLocal(load(folder), options); }),
             Catch::StartsWith("3: ") && Catch::Contains("nowhere/y.npy"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("microbatches have frames of their own, and computation beside communication") {
  std::string whole;
  for (auto [data, microbatches] : {std::pair<int64_t, int64_t>{1, 1}, {1, 8}, {2, 2}, {2, 4}})
    for (bool async : {false, true}) {
      TemporaryFolder folder;
      FixtureOptions fixture;
      fixture.data = data;
      fixture.model = 2;
      fixture.microbatches = microbatches;
      fixture.async = async;
      writeFixture(folder.getPath(), fixture);
      RunOptions options = makeOptions(folder);
      options.outputDir = folder / "out";
      options.repeat = 3;
      RunReport report = runLocal(load(folder), options);
      REQUIRE(report.comparisons.size() == 1);
      CHECK(report.comparisons[0].getRelative() == 0);
      CHECK(report.comparisons[0].elements == 48);
      CHECK(report.instructions["GEMM"] == 2 * microbatches);
      CHECK(report.instructions["WAIT"] == (async ? microbatches : 0));
      REQUIRE(report.collectives.size() == 1);
      CHECK(report.collectives[0].count == microbatches);
      std::string written = readText(folder / "out/y.npy");
      CHECK(written == readText(folder / "outputs/y.npy"));
    }
}

TEST_CASE("a difference is found and placed") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {2, 1});
  std::string text = readText(folder / "outputs/y.npy");
  auto compare = [&](size_t element, float value) {
    std::string changed = text;
    std::memcpy(&changed[changed.size() - 4 * (48 - element)], &value, 4);
    File::create(folder / "outputs/y.npy").writeAt(0, changed.data(), changed.size());
    return runLocal(load(folder), makeOptions(folder)).comparisons[0];
  };
  Comparison far = compare(31, 1000);
  CHECK(far.worst == 31);
  CHECK(far.magnitude == 1000);
  CHECK_FALSE(far.isWithin(0.5));
  Comparison nan = compare(5, NAN);
  CHECK(nan.nonfiniteMismatches == 1);
  CHECK_FALSE(nan.isWithin(1e9));
  FixtureOptions inFrames;
  inFrames.microbatches = 4;
  writeFixture(folder.getPath(), inFrames);
  CHECK(compare(31, 1000).worst == 31);
}

TEST_CASE("a failing rank ends the run with its place") {
  double seconds = 0;
  for (int at : {0, 40, 101}) {
    std::string error = runFaulty(at, false, seconds);
    CHECK_THAT(error, Catch::Contains("5: rank 2: the cable is out, in "));
    CHECK_THAT(error, !Catch::Contains("\n")); // what it does to others is not told
    CHECK(seconds < 10);
  }
  CHECK_THAT(runFaulty(100, false, seconds), Catch::Contains("of 'dense2'"));
}

TEST_CASE("a hanging rank ends the run by its missing heartbeat") {
  double seconds = 0;
  std::string error = runFaulty(60, true, seconds);
  // Its neighbour waits in a collective, ranks of other groups at the end: who looks first says it.
  CHECK_THAT(error, Catch::Contains("5: rank 2: no heartbeat for 5 s") && !Catch::Contains("\n"));
  CHECK_THAT(error, (Catch::Contains("in step ") && Catch::Contains("of 'dense2'")) ||
                        Catch::EndsWith("in delivery of outputs"));
  CHECK(seconds > 5);
  CHECK(seconds < 10);
}

TEST_CASE("damage of any byte of the executable is refused") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  for (const char *name : {"mlp.weft/executable.pb", "mlp.weft/kernels/cpu.so"}) {
    std::string path = folder / name, text = readText(path);
    size_t step = std::max<size_t>(1, text.size() / 400);
    for (size_t at = 0; at < text.size(); at += step) {
      std::string changed = text;
      changed[at] ^= static_cast<char>(1 << at % 8);
      File::create(path).writeAt(0, changed.data(), changed.size());
      REQUIRE_THAT(getError([&] { load(folder); }), Catch::StartsWith("3: "));
    }
    for (size_t size : {size_t(0), size_t(10), text.size() / 2, text.size() - 1}) {
      File::create(path).writeAt(0, text.data(), size);
      REQUIRE_THAT(getError([&] { load(folder); }), Catch::StartsWith("3: "));
    }
    File::create(path).writeAt(0, text.data(), text.size());
    CHECK(getError([&] { load(folder); }) == "");
  }
}

TEST_CASE("files too many, too few, and weights that changed or moved") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  File::create(folder / "mlp.weft/extra").resize(1);
  CHECK_THAT(getError([&] { load(folder); }), Catch::Contains("'extra', which it does not list"));
  std::filesystem::rename(folder / "mlp.weft/extra", folder / "extra");
  std::filesystem::rename(folder / "mlp.weft", folder / "moved");
  std::filesystem::create_directories(folder / "elsewhere");
  std::filesystem::rename(folder / "moved", folder / "elsewhere/mlp.weft");
  RunOptions options = makeOptions(folder); // the relative path is gone, the absolute one holds
  auto moved = std::make_shared<Executable>(loadExecutable(folder / "elsewhere/mlp.weft"));
  CHECK(runLocal(moved, options).comparisons[0].getRelative() == 0);
  std::filesystem::create_directories(folder / "weights");
  std::filesystem::rename(folder / "weights.bin", folder / "weights/weights.bin");
  CHECK_THAT(getError([&] { runLocal(moved, options); }),
             Catch::StartsWith("3: the file 'weights.bin'") && Catch::Contains("--weights-dir"));
  options.weightsDir = folder / "weights";
  CHECK(runLocal(moved, options).comparisons[0].getRelative() == 0);
  std::string weights = readText(folder / "weights/weights.bin");
  weights[500] ^= 1;
  File::create(folder / "weights/weights.bin").writeAt(0, weights.data(), weights.size());
  CHECK_THAT(getError([&] { runLocal(moved, options); }),
             Catch::StartsWith("3: ") && Catch::Contains("weights.bin' is not what it was"));
}

TEST_CASE("programs that do not fit are refused before they run") {
  TemporaryFolder folder;
  writeFixture(folder.getPath(), {1, 1});
  weft::program::Executable good = load(folder)->proto;
  auto run = [&](auto change) {
    weft::program::Executable changed = good;
    change(changed, *changed.mutable_classes(0));
    writeProgram(folder.getPath(), changed);
    return getError([&] { runLocal(load(folder), makeOptions(folder)); });
  };
  using E = weft::program::Executable;
  using P = weft::program::Program;
  CHECK(run([](E &, P &) {}) == "");
  auto instruction = [](P &program, int i) {
    return program.mutable_segments(0)->mutable_instructions(i);
  };
  std::vector<std::pair<std::function<void(E &, P &)>, const char *>> cases = {
      {[](E &e, P &) { e.set_version(weft::program::EXECUTABLE_VERSION + 1); }, "program version"},
      {[](E &e, P &) { e.set_device("cuda"); }, "'cuda'"},
      {[](E &e, P &) { e.add_cpu_features("avx9000"); }, "lacks what the kernels need: avx9000"},
      {[](E &e, P &) { e.mutable_ranks(0)->set_rank_class(1); }, "rank class 1"},
      {[](E &e, P &) { e.mutable_ranks(0)->set_begin(1); }, "do not follow"},
      {[](E &e, P &) { e.mutable_ranks(0)->set_end(2); }, "rank 1 is in none"},
      {[](E &e, P &) { e.mutable_weights(1)->set_length(1 << 20); }, "beyond the end"},
      {[](E &, P &p) { p.mutable_weights(0)->mutable_start()->set_constant(1); }, "beyond its"},
      {[](E &, P &p) { p.mutable_arenas(1)->set_bytes(12288); }, "beyond its arena"},
      {[](E &, P &p) { p.mutable_schedule(0)->mutable_entry()->set_segment(1); }, "segment 1"},
      {[&](E &, P &p) { instruction(p, 0)->mutable_gemm()->mutable_a()->set_shape(1, 11); },
       "do not fit, in segment 'forward', instruction 0, GEMM of 'dense1'"},
      {[&](E &, P &p) { instruction(p, 1)->mutable_launch()->set_kernel("none"); },
       "no kernel 'none'"},
      {[&](E &, P &p) { instruction(p, 3)->mutable_collective()->mutable_axes(0)->set_name("z"); },
       "axis 'z'"},
      {[&](E &, P &p) { instruction(p, 3)->clear_collective(); }, "does not know"},
      {[&](E &, P &p) { instruction(p, 3)->mutable_async(); }, "asynchronous with the token 0"},
      {[&](E &, P &p) { instruction(p, 2)->mutable_async()->set_token(1); }, "with the token 1"},
      {[&](E &, P &p) { p.mutable_segments(0)->add_instructions()->mutable_wait()->set_token(9); },
       "waits for token 9, which nothing begins"},
  };
  for (auto &[change, expected] : cases)
    CHECK_THAT(run(change), Catch::StartsWith("3: ") && Catch::Contains(expected));
}

#include "driver/RecordedTests.h"

#include "compiler/Executable/ProtoEnums.h"
#include "frontends/common/ImportError.h"
#include "frontends/onnx/Import.h"
#include "frontends/onnx/TestData.h"
#include "runtime/Io/Npy.h"
#include "runtime/Support/Error.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace weft;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

static bool isModel(const fs::path &path) {
  std::string extension = path.extension().string();
  return extension == ".onnx" || extension == ".pt2" || extension == ".mlir";
}

/// The tests of one folder, called by what tells them apart.
static std::vector<RecordedTest> findTestsOf(const fs::path &folder) {
  std::vector<RecordedTest> tests;
  bool hasArrays = fs::is_directory(folder / "inputs") && fs::is_directory(folder / "outputs");
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (hasArrays && isModel(entry.path()) && entry.is_regular_file())
      tests.push_back({name, entry.path(), "", folder / "inputs", folder / "outputs"});
    if (name.starts_with("test_data_set_") && fs::exists(folder / "model.onnx"))
      tests.push_back({name, folder / "model.onnx", entry.path(), "", ""});
  }
  return tests;
}

static void addTestsOf(const fs::path &folder, const fs::path &root,
                       std::vector<RecordedTest> &tests) {
  std::vector<RecordedTest> found = findTestsOf(folder);
  std::string name = fs::absolute(folder).lexically_relative(fs::absolute(root)).string();
  if (name == ".")
    name = fs::absolute(folder / "").parent_path().filename().string();
  for (RecordedTest &test : found) {
    test.name = found.size() == 1 ? name : name + "/" + test.name;
    tests.push_back(test);
  }
}

std::vector<RecordedTest> weft::findRecordedTests(const std::string &folder) {
  std::vector<RecordedTest> tests;
  try {
    addTestsOf(folder, folder, tests);
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder))
      if (entry.is_directory())
        addTestsOf(entry.path(), folder, tests);
  } catch (const fs::filesystem_error &error) {
    runtime::throwBadInput("'{}' cannot be searched for tests: {}", error.path1().string(),
                           error.code().message());
  }
  std::sort(tests.begin(), tests.end(),
            [](const RecordedTest &a, const RecordedTest &b) { return a.name < b.name; });
  return tests;
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

static void writeArrays(const fs::path &folder,
                        const std::vector<frontend::TestData::NamedTensor> &tensors) {
  fs::create_directories(folder);
  for (const auto &[name, value] : tensors) {
    Tensor dense = value.dense();
    runtime::NpyArray array{
        toProto(dense.kind()), {dense.shape().begin(), dense.shape().end()}, {}};
    llvm::ArrayRef<std::byte> bytes(reinterpret_cast<const std::byte *>(dense.data()),
                                    dense.raw().size());
    array.data.assign(bytes.begin(), bytes.end());
    runtime::writeNpy(folder / runtime::getNpyFileName(name), array);
  }
}

/// Puts what lies beside a model, its data files among them, beside a copy of it, too.
static void linkNeighbours(const fs::path &model, const fs::path &copy) {
  for (const fs::directory_entry &entry : fs::directory_iterator(model.parent_path())) {
    fs::path link = copy.parent_path() / entry.path().filename();
    if (entry.is_regular_file() && entry.path() != model && !fs::exists(link))
      fs::create_symlink(fs::absolute(entry.path()), link);
  }
}

static PreparedTest prepareDataSet(const RecordedTest &test, frontend::Binding binding,
                                   const fs::path &scratch) {
  PreparedTest prepared{scratch / "model.onnx", {}, {}, scratch / "inputs", scratch / "outputs"};
  linkNeighbours(test.model, prepared.model);
  prepared.dataDirs = {fs::path(test.model).parent_path()}; // where the links lead
  try {
    frontend::TestData recorded(test.model, test.dataSet);
    std::ofstream(prepared.model, std::ios::binary) << recorded.bind(binding);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    writeArrays(prepared.inputs, recorded.getInputs(&context, binding));
    writeArrays(prepared.outputs, recorded.getOutputs(&context));
  } catch (const frontend::ImportError &error) {
    runtime::throwBadInput("{}", error.what());
  }
  return prepared;
}

/// Where there is one array of results, it is that of `output` too: torch's programs have no names
/// for what they return.
static std::string nameResult(const fs::path &outputs, const fs::path &scratch) {
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(outputs))
    files.push_back(entry.path());
  fs::path unnamed = runtime::getNpyFileName("output");
  if (files.size() != 1 || files.front().filename() == unnamed)
    return outputs;
  fs::path folder = scratch / "outputs";
  fs::create_directories(folder);
  for (const fs::path &name : {unnamed, files.front().filename()})
    if (!fs::exists(folder / name))
      fs::create_symlink(fs::absolute(files.front()), folder / name);
  return folder;
}

PreparedTest weft::prepareRecordedTest(const RecordedTest &test, unsigned attempt,
                                       const std::string &scratch) {
  if (!test.dataSet.empty())
    return prepareDataSet(test, frontend::bindings[attempt], scratch);
  PreparedTest prepared{test.model, {}, {}, test.inputs, nameResult(test.outputs, scratch)};
  if (fs::path(test.model).extension() == ".onnx")
    prepared.dims = bindOnnxDims(test.model, [&](llvm::StringRef input) {
      fs::path file = fs::path(test.inputs) / runtime::getNpyFileName(input.str());
      return fs::exists(file) ? runtime::readNpyHeader(file).shape : std::vector<int64_t>();
    });
  return prepared;
}

bool weft::mayAttemptAgain(const RecordedTest &test, unsigned attempt, const std::string &refusal) {
  return !test.dataSet.empty() && attempt + 1 < std::size(frontend::bindings) &&
         frontend::wantsBinding(refusal);
}

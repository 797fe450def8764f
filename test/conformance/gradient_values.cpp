//===- gradient_values.cpp - gradients of a model against torch's ---------===//
//
// gradient_values MODEL FOLDER: imports MODEL, appends the cross-entropy that FOLDER/meta.json
// speaks of, differentiates it by all parameters named there, interprets the result on the first
// step of FOLDER/train/data.npz and compares loss and gradients with those recorded there. Prints
// the largest difference over the largest magnitude of each gradient that differs, and their
// number; exit code 1 where it exceeds 1e-4.
//
//===----------------------------------------------------------------------===//

#include "compiler/Interpret/Interpret.h"
#include "compiler/Interpret/Numbers.h"
#include "dialects/Weft/IR/TensorBuilder.h"
#include "frontends/onnx/Import.h"
#include "frontends/torch_export/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Import/Passes.h"
#include "passes/Training/Passes.h"
#include "runtime/Io/Npz.h"
#include "runtime/Io/SafeTensors.h"
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

using namespace mlir;
using namespace weft;
using nlohmann::json;

static constexpr double tolerance = 1e-4;

[[noreturn]] static void fail(const std::string &message) { throw std::runtime_error(message); }

template <typename T> static T take(llvm::Expected<T> value) {
  if (!value)
    fail(llvm::toString(value.takeError()));
  return std::move(*value);
}

/// The first step of an array of data.npz.
static Tensor readFirst(const std::string &path, StringRef name, RankedTensorType type) {
  runtime::NpzFile file(path);
  for (const runtime::NpzArray &array : file.getArrays())
    if (array.file == name.str() + ".npy") {
      std::vector<char> bytes(Tensor::allocate(type).raw().size());
      file.open(array).read(bytes.data(), bytes.size());
      return take(Tensor::fromBytes(type, bytes));
    }
  fail(path + " has no " + name.str());
}

static std::map<std::string, Tensor> readGradients(const std::string &path, MLIRContext &context) {
  std::map<std::string, Tensor> gradients;
  std::ifstream file(path, std::ios::binary);
  for (const runtime::SafeTensor &each : runtime::readSafeTensors(path)) {
    std::vector<char> bytes(runtime::getNumBytes(each));
    file.seekg(each.offset).read(bytes.data(), bytes.size());
    auto type = RankedTensorType::get(each.shape, Builder(&context).getF32Type());
    gradients[each.name] = take(Tensor::fromBytes(type, bytes));
  }
  return gradients;
}

static OwningOpRef<ModuleOp> importModel(MLIRContext &context, const std::string &model) {
  auto module = StringRef(model).ends_with(".pt2")
                    ? importTorch(context, model, TorchImportOptions())
                    : importOnnx(context, model, OnnxImportOptions());
  PassManager manager(&context);
  buildImportPipeline(manager);
  if (!module || failed(manager.run(*module)))
    fail("cannot be imported");
  return module;
}

static unsigned findOutput(func::FuncOp main, StringRef name) {
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (main.getResultAttrOfType<StringAttr>(i, "weft.name").getValue() == name)
      return i;
  return 0;
}

/// Makes the mean of -log softmax(logits)[label], over the labels that are not -100, the only
/// result.
static void appendLoss(func::FuncOp main, const json &loss, const Tensor &labels) {
  Block &body = main.getBody().front();
  Operation *end = body.getTerminator();
  Value logits = end->getOperand(findOutput(main, loss["logits"].get<std::string>()));
  ImplicitLocOpBuilder builder(main.getLoc(), end);
  TensorBuilder b(builder);
  int64_t rank = rankOf(logits), axis = loss["class_axis"].get<int64_t>();
  SmallVector<int64_t> classes{axis < 0 ? axis + rank : axis};
  Value label = body.addArgument(labels.type(), main.getLoc());
  auto wide = cast<RankedTensorType>(logits.getType()).clone(builder.getI64Type());
  Value hit = b.make<CompareOp>(CompareDirection::EQ, b.make<IotaOp>(wide, classes.front()),
                                b.spread(label, logits, classes));
  Value top = b.spread(b.reduce(ReduceKind::Max, logits, classes), logits, classes);
  Value shifted = b.sub(logits, top);
  Value sum = b.reduce(ReduceKind::Sum, b.make<ExpOp>(shifted), classes);
  Value logs = b.sub(shifted, b.spread(b.make<LogOp>(sum), logits, classes));
  Value picked = b.make<SelectOp>(hit, logs, b.splat(logits, 0));
  Value total = b.reduce(ReduceKind::Sum, picked, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  int64_t count =
      llvm::count_if(numbersOf<int64_t>(labels), [](int64_t each) { return each >= 0; });
  Value result = b.mul(total, b.splat(total, -1.0 / count));
  end->setOperands(result);
  main.setType(builder.getFunctionType(body.getArgumentTypes(), result.getType()));
  main.removeResAttrsAttr();
  main.setResultAttr(0, "weft.role", builder.getStringAttr("loss"));
}

static void markTrained(ModuleOp module, const std::vector<std::string> &parameters) {
  std::set<std::string> names(parameters.begin(), parameters.end());
  for (auto weight : module.getOps<WeightOp>())
    if (names.erase(weight.getSymName().str()))
      weight.setKind(WeightKind::Trained);
  if (!names.empty())
    fail("no weight is called " + *names.begin());
}

static double magnitude(const Tensor &tensor) {
  double largest = 0;
  for (double each : numbersOf<double>(tensor))
    largest = std::max(largest, std::abs(each));
  return largest;
}

/// The largest difference; infinite where a value is no number.
static double difference(const Tensor &got, const Tensor &expected) {
  if (got.type() != expected.type())
    return INFINITY;
  std::vector<double> left = numbersOf<double>(got), right = numbersOf<double>(expected);
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    double distance = std::abs(left[i] - right[i]);
    largest = std::isnan(distance) ? INFINITY : std::max(largest, distance);
  }
  return largest;
}

static bool compare(func::FuncOp main, ArrayRef<Tensor> results,
                    std::map<std::string, Tensor> expected, double loss) {
  double got = numbersOf<double>(results[0])[0];
  std::printf("loss %.6f, expected %.6f\n", got, loss);
  bool equal = std::abs(got - loss) <= tolerance * loss;
  // What is zero but for rounding, such as that of a bias before a normalisation, is held against
  // a hundredth of the largest of all.
  double worst = 0, least = 0;
  for (const auto &[name, gradient] : expected)
    least = std::max(least, 1e-2 * magnitude(gradient));
  for (unsigned i = 1; i < results.size(); ++i) {
    StringRef name = main.getResultAttrOfType<StringAttr>(i, "weft.name").getValue();
    name.consume_front("grad:");
    auto reference = expected.find(name.str());
    double found = INFINITY;
    if (reference != expected.end())
      found =
          difference(results[i], reference->second) / std::max(magnitude(reference->second), least);
    worst = std::max(worst, found);
    if (found > tolerance)
      std::printf("%s: DIFFERENT %.1e\n", name.str().c_str(), found);
    equal &= found <= tolerance;
  }
  equal &= results.size() - 1 == expected.size();
  std::printf("%zu of %zu gradients %s, the worst by %.1e\n", results.size() - 1, expected.size(),
              equal ? "equal" : "compared", worst);
  return equal;
}

static bool run(const std::string &model, const std::string &folder) {
  MLIRContext context;
  json train = json::parse(std::ifstream(folder + "/meta.json"))["train"];
  std::string data = folder + "/train/data.npz";
  OwningOpRef<ModuleOp> module = importModel(context, model);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  SmallVector<Tensor> inputs;
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    inputs.push_back(readFirst(data, main.getArgAttrOfType<StringAttr>(i, "weft.name").getValue(),
                               cast<RankedTensorType>(main.getArgumentTypes()[i])));
  const json &loss = train["loss"];
  auto logits = cast<RankedTensorType>(
      main.getResultTypes()[findOutput(main, loss["logits"].get<std::string>())]);
  SmallVector<int64_t> shape(logits.getShape());
  int64_t axis = loss["class_axis"].get<int64_t>();
  shape.erase(axis < 0 ? shape.end() + axis : shape.begin() + axis);
  auto labels = RankedTensorType::get(shape, Builder(&context).getI64Type());
  inputs.push_back(readFirst(data, loss["labels"].get<std::string>(), labels));
  appendLoss(main, loss, inputs.back());
  markTrained(*module, train["parameters"].get<std::vector<std::string>>());
  PassManager manager(&context);
  manager.addPass(createDifferentiate());
  if (failed(manager.run(*module)))
    fail("cannot be differentiated");
  return compare(main, take(interpret(*module, inputs)),
                 readGradients(folder + "/train/gradients_step0.safetensors", context),
                 train["losses"][0].get<double>());
}

int main(int argc, char **argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: gradient_values MODEL FOLDER\n"), 2;
  try {
    return run(argv[1], argv[2]) ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}

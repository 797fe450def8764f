#include "frontends/torch_export/Import.h"

#include "frontends/common/ModelImporter.h"
#include "frontends/torch_export/Expression.h"
#include "frontends/torch_export/GraphImporter.h"
#include "frontends/torch_export/Payloads.h"
#include "frontends/torch_export/States.h"
#include "frontends/torch_export/ops/Complex.h"
#include "frontends/torch_export/ops/OpTable.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// The text of a graph; that of a model of 100 000 nodes has some 200 MB.
static constexpr uint64_t maxProgramBytes = uint64_t(1) << 31;

namespace {

/// The program in an archive, with what the archive calls it.
struct Model {
  std::string name;
  Program program;
};

/// `models/NAME.json`, of the one model that the archive holds.
std::string findModel(const Archive &archive) {
  std::vector<std::string> names;
  for (StringRef entry : archive.list("models/"))
    if (entry.consume_front("models/") && entry.consume_back(".json"))
      names.push_back(entry.str());
  if (names.size() == 1)
    return names.front();
  if (names.size() > 1)
    throw ImportError("the archive holds " + std::to_string(names.size()) + " models, '" +
                      names[0] + "', '" + names[1] +
                      "' …; save the one to import in an archive of its own");
  throw ImportError("the archive holds no exported program: it has no entry 'models/NAME.json'");
}

/// Archives of other kinds and ages, told from each other by what lies in them.
void checkKind(const Archive &archive) {
  constexpr uint64_t maxMarkBytes = 4096;
  for (const std::string &entry : archive.list(""))
    if (StringRef(entry).ends_with("serialized_exported_program.json"))
      throw ImportError("this archive has the layout of torch 2.7 and older, whose weights are "
                        "pickled; load it with torch.export.load and save it again with torch 2.9 "
                        "or newer");
  if (archive.find("archive_format") &&
      StringRef(archive.read("archive_format", maxMarkBytes)).trim() != "pt2")
    throw ImportError("the archive's format is '" +
                      StringRef(archive.read("archive_format", maxMarkBytes)).trim().str() +
                      "', expected 'pt2'");
  if (archive.find("data.pkl"))
    throw ImportError("this is a file of torch.save or torch.jit.save; export the model with "
                      "torch.export.export and save that with torch.export.save");
  if (archive.find("byteorder") &&
      StringRef(archive.read("byteorder", maxMarkBytes)).trim() != "little")
    throw ImportError("the archive's weights are not of little-endian byte order; save it again on "
                      "a little-endian machine");
}

Model readModel(const Archive &archive) {
  checkKind(archive);
  std::string name = findModel(archive), entry = "models/" + name + ".json";
  nlohmann::json document = parseJson(archive.read(entry, maxProgramBytes), entry);
  return {name, readProgram(Json(document, entry))};
}

class TorchImporter : ModelImporter {
public:
  TorchImporter(MLIRContext &context, StringRef path, const TorchImportOptions &options)
      : ModelImporter(context, path), options(options) {}

  OwningOpRef<ModuleOp> run();

private:
  void build(ModuleOp module, const Archive &archive, const Model &model);
  void addUserInput(EntryFunction &main, States &states, const UserInput &input,
                    const Symbols &symbols, Scope &scope);
  void addStored(Payloads &payloads, States &states, const InputSpec &spec, Scope &scope,
                 Emitter &emit);
  void addOutputs(EntryFunction &main, const Program &program, GraphImporter &importer,
                  Scope &scope, bool hasStores);
  void addOutput(EntryFunction &main, const OutputSpec &spec, const std::string &name,
                 GraphImporter &importer, Scope &scope);

  const TorchImportOptions &options;
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

void TorchImporter::addUserInput(EntryFunction &main, States &states, const UserInput &input,
                                 const Symbols &symbols, Scope &scope) {
  scope.failed.insert(input.value);
  if (auto size = scope.graph.symInts.find(input.value); size != scope.graph.symInts.end()) {
    if (std::optional<int64_t> value = symbols.evaluate(size->second))
      scope.numbers[input.value] = *value;
    return;
  }
  auto meta = scope.graph.tensors.find(input.value);
  if (meta == scope.graph.tensors.end())
    return problems.add("input '" + input.name + "' is not described in the archive");
  try {
    Shape shape;
    for (const SymInt &size : meta->second.sizes) {
      std::optional<int64_t> value = symbols.evaluate(size);
      if (!value)
        return; // which was reported
      shape.push_back(*value);
    }
    RankedTensorType type = tensorType(shape, elementType(&context, meta->second.dtype));
    scope.values[input.value] = states.has(input.value) ? states.load(input.value, type, input.name)
                                                        : main.addArgument(type, input.name);
  } catch (const ImportError &error) {
    problems.add("input '" + input.name + "': " + error.what());
  }
}

void TorchImporter::addStored(Payloads &payloads, States &states, const InputSpec &spec,
                              Scope &scope, Emitter &emit) {
  static const char *const kinds[] = {"input",         "parameter", "buffer",  "constant",
                                      "custom object", "token",     "constant"};
  auto *tensor = spec.argument.as<TensorName>();
  try {
    if (!tensor)
      throw ImportError("it is not supported");
    scope.failed.insert(tensor->name);
    if (states.has(tensor->name))
      scope.values[tensor->name] = states.load(spec);
    else if (Value value = payloads.load(spec); payloads.isComplex(spec.target))
      bindPairs(scope, tensor->name, emit, value);
    else
      scope.values[tensor->name] = value;
  } catch (const ImportError &error) {
    problems.add(Twine(kinds[spec.kind]) + " '" + spec.target + "': " + error.what());
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

void TorchImporter::addOutput(EntryFunction &main, const OutputSpec &spec, const std::string &name,
                              GraphImporter &importer, Scope &scope) {
  try {
    main.addResult(importer.lookup(scope, spec.argument.as<TensorName>()->name), name);
  } catch (const ImportError &error) {
    problems.add("output '" + name + "': " + error.what());
  } catch (const FailedValue &) {
  }
}

void TorchImporter::addOutputs(EntryFunction &main, const Program &program, GraphImporter &importer,
                               Scope &scope, bool hasStores) {
  std::vector<const OutputSpec *> tensors;
  for (const OutputSpec &spec : program.outputs) {
    bool isResult = spec.kind == OutputSpec::User || spec.kind == OutputSpec::Loss;
    if (isResult && spec.argument.as<TensorName>())
      tensors.push_back(&spec);
    else if (isResult && !spec.argument.as<None>())
      emitWarning(location) << "a result that is " << spec.argument.member
                            << " and no tensor is left out";
    else if (spec.kind == OutputSpec::Gradient)
      problems.add("the gradient by '" + spec.target +
                   "' is an output, which is not supported: export the forward program");
    else if (spec.kind == OutputSpec::Token)
      problems.add("token '" + spec.target + "' is an output, which is not supported");
  }
  for (auto [index, spec] : llvm::enumerate(tensors))
    addOutput(main, *spec, resultName(index, tensors.size()), importer, scope);
  if (tensors.empty() && !hasStores)
    problems.add("the program has no tensors as outputs");
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void TorchImporter::build(ModuleOp module, const Archive &archive, const Model &model) {
  const Program &program = model.program;
  EntryFunction main(module, path);
  Symbols symbols(program, options.dims, problems);
  Scope scope(program.graph);
  Emitter emit(OpBuilder::atBlockEnd(main.body()));
  Weights weights(module, emit);
  Payloads payloads(archive, model.name, llvm::sys::path::filename(path), weights, emit);
  States states(program, payloads, weights);
  for (const UserInput &input : userInputs(program))
    addUserInput(main, states, input, symbols, scope);
  for (const InputSpec &spec : program.inputs)
    if (spec.kind != InputSpec::User && spec.kind != InputSpec::Constant)
      addStored(payloads, states, spec, scope, emit);
  GraphImporter importer(symbols, emit, problems);
  importer.walk(scope);
  bool hasStores = states.store(importer, scope, problems);
  addOutputs(main, program, importer, scope, hasStores);
  finish(module, main, emit);
}

OwningOpRef<ModuleOp> TorchImporter::run() {
  return ModelImporter::run([&](ModuleOp module) {
    Archive archive(path);
    build(module, archive, readModel(archive));
  });
}

} // namespace

OwningOpRef<ModuleOp> weft::importTorch(MLIRContext &context, StringRef path,
                                        const TorchImportOptions &options) {
  return TorchImporter(context, path, options).run();
}

std::vector<std::string> weft::listTorchDims(StringRef path) {
  std::vector<std::string> names;
  auto add = [&](const std::string &name) {
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  };
  try {
    Archive archive(path);
    for (const OpenSize &size : openSizes(readModel(archive).program)) {
      add(size.place);
      for (const std::string &symbol : symbolsOf(size.expression))
        add(symbol);
    }
  } catch (const std::exception &) {
    // Whoever imports the file says what is wrong with it.
  }
  return names;
}

std::vector<std::string> weft::listTorchOperators() { return sortedKeys(makeOpTable()); }

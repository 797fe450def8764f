#include "compiler/Kernel/KernelCompiler.h"

#include "compiler/Kernel/ArithmeticLibrary.h"
#include "compiler/Kernel/KernelEmitter.h"
#include "compiler/Kernel/KernelGraph.h"
#include "compiler/Kernel/KernelTarget.h"
#include "compiler/Kernel/LoopPlan.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <atomic>
#include <thread>

using namespace mlir;
using namespace weft;
using namespace weft::kernel;

/// Changes when equal graphs get other code.
static constexpr StringLiteral codeVersion = "3\n";
/// Bytes moved or additions done that are worth waking a thread for (some 20 µs).
static constexpr int64_t threadWork = 65536;

static std::string getKey(const Graph &graph) {
  std::string text = codeVersion.str() + graph.str();
  return llvm::formatv("k{0:x-16}", llvm::xxh3_64bits(llvm::arrayRefFromStringRef(text))).str();
}

static bool isEmpty(const Graph &graph) {
  return llvm::all_of(graph.outputs, [&](unsigned output) { return graph[output].size() == 0; });
}

static int64_t chooseGrain(const Graph &graph, int64_t tiles, int64_t flops) {
  int64_t work = flops;
  for (ArrayRef<unsigned> nodes : {ArrayRef(graph.inputs), ArrayRef(graph.outputs)})
    for (unsigned node : nodes)
      work += graph[node].size() * elementBytes(graph[node].type);
  for (const InPlace &each : graph.inPlace) {
    const Node &node = graph[graph.outputs[each.result]];
    work -= 2 * (node.size() * elementBytes(node.type) - each.writtenBytes);
  }
  int64_t each = std::max<int64_t>(work / std::max<int64_t>(tiles, 1), 1);
  return std::max<int64_t>(threadWork / each, 1);
}

FailureOr<KernelInfo> weft::describeKernel(func::FuncOp kernel, KernelMachine machine) {
  FailureOr<Graph> graph = buildGraph(kernel);
  if (failed(graph))
    return failure();
  KernelInfo info;
  info.key = getKey(*graph);
  info.checks = graph->checks;
  info.inPlace = graph->inPlace;
  info.flops = countFlops(*graph);
  for (auto [input, elements] : llvm::zip_equal(graph->inputs, countElementsRead(*graph)))
    info.bytesRead.push_back(elements * elementBytes((*graph)[input].type));
  if (isEmpty(*graph)) {
    info.tiles = 0;
    return info;
  }
  llvm::Expected<LoopPlan> plan = LoopPlan::make(*graph, machine);
  if (!plan)
    return kernel.emitOpError(llvm::toString(plan.takeError())), failure();
  info.tiles = plan->getTiles();
  info.grain =
      plan->team > 0 ? blockThreads / plan->team : chooseGrain(*graph, info.tiles, info.flops);
  return info;
}

namespace {
/// What LLVM remarks about loops is nothing to those who compile models; errors are.
struct QuietHandler : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    return info.getSeverity() != llvm::DS_Error;
  }
};
} // namespace

/// What is never launched: there is nothing to compute.
static void emitNothing(StringRef key, llvm::Module &module, KernelMachine machine) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty();
  bool isGpu = machine == KernelMachine::Gpu;
  auto *type = isGpu ? llvm::FunctionType::get(builder.getVoidTy(), false)
                     : llvm::FunctionType::get(builder.getInt32Ty(),
                                               {pointer, pointer, word, word, pointer}, false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, key, module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  if (!isGpu) {
    builder.CreateRet(builder.getInt32(0));
    return;
  }
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  builder.CreateRetVoid();
}

/// The object file of one kernel, or its bitcode.
static llvm::Expected<std::string> compileKernel(const Graph &graph, StringRef key,
                                                 StringRef arithmetic, const KernelTarget &target) {
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<QuietHandler>());
  auto module = std::make_unique<llvm::Module>(key, context);
  if (isEmpty(graph)) {
    emitNothing(key, *module, target.getMachine());
    return target.compile(std::move(module), arithmetic);
  }
  llvm::Expected<LoopPlan> plan = LoopPlan::make(graph, target.getMachine());
  if (!plan)
    return plan.takeError();
  KernelEmitter(graph, *plan, *module).emit(key);
  return target.compile(std::move(module), arithmetic);
}

/// Compiles graphs on several threads; the objects in the graphs' order.
static llvm::Expected<std::vector<std::string>>
compileGraphs(const std::map<std::string, Graph> &graphs, StringRef arithmetic,
              const KernelTarget &target, unsigned threads) {
  std::vector<std::pair<StringRef, const Graph *>> work;
  for (auto &[key, graph] : graphs)
    work.push_back({key, &graph});
  std::vector<std::string> objects(work.size()), errors(work.size());
  std::atomic<size_t> next = 0;
  auto run = [&] {
    for (size_t index; (index = next++) < work.size();) {
      llvm::Expected<std::string> object =
          compileKernel(*work[index].second, work[index].first, arithmetic, target);
      if (object)
        objects[index] = std::move(*object);
      else
        errors[index] = llvm::toString(object.takeError());
    }
  };
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, work.size()); ++i)
    others.emplace_back(run);
  run();
  for (std::thread &thread : others)
    thread.join();
  for (const std::string &error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return objects;
}

llvm::Error weft::checkKernelCpu(const std::string &cpu) {
  return KernelTarget::create(cpu).takeError();
}

StringRef weft::getKernelFile(KernelMachine machine) {
  return machine == KernelMachine::Gpu ? "cuda.ptx" : "cpu.so";
}

llvm::Expected<KernelLibrary> weft::compileKernels(ArrayRef<func::FuncOp> kernels,
                                                   const KernelOptions &options) {
  llvm::Expected<KernelTarget> target = options.machine == KernelMachine::Gpu
                                            ? KernelTarget::createGpu()
                                            : KernelTarget::create(options.cpu);
  if (!target)
    return target.takeError();
  std::map<std::string, Graph> graphs;
  for (func::FuncOp kernel : kernels) {
    FailureOr<Graph> graph = buildGraph(kernel);
    if (failed(graph))
      return llvm::createStringError("cannot compile kernel '" + kernel.getName().str() + "'");
    graphs.try_emplace(getKey(*graph), std::move(*graph));
  }
  KernelLibrary library;
  library.machine = options.machine;
  library.features = target->getFeatures();
  if (graphs.empty())
    return library;
  for (auto &[key, graph] : graphs)
    library.keys.push_back(key);
  llvm::Expected<std::string> arithmetic = compileArithmetic(kernels, KernelTarget::hasFunction);
  if (!arithmetic)
    return arithmetic.takeError();
  llvm::Expected<std::vector<std::string>> objects =
      compileGraphs(graphs, *arithmetic, *target, options.threads);
  if (!objects)
    return objects.takeError();
  llvm::Expected<std::string> bytes = target->link(*objects);
  if (!bytes)
    return bytes.takeError();
  library.bytes = std::move(*bytes);
  return library;
}

SmallVector<func::FuncOp> weft::getKernels(ModuleOp module) {
  SmallVector<func::FuncOp> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("exec.kernel"))
      kernels.push_back(function);
  return kernels;
}

#include "compiler/Kernel/KernelTarget.h"

#include "compiler/Kernel/SharedObject.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>
#include <set>

using namespace llvm;
using namespace weft::kernel;
using weft::KernelMachine;

static constexpr unsigned char mathBitcode[] = {
#include "compiler/Kernel/KernelMath.inc"
};
static constexpr unsigned char sortBitcode[] = {
#include "compiler/Kernel/KernelSort.inc"
};

namespace {
/// A feature by the names of LLVM and of /proc/cpuinfo.
struct Feature {
  StringLiteral llvm, cpuinfo;
};
} // namespace

/// The instruction sets that LLVM chooses from by itself, by /proc/cpuinfo's names.
static constexpr Feature x86Features[] = {
    {"adx", "adx"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"avx512bf16", "avx512_bf16"},
    {"avx512bitalg", "avx512_bitalg"},
    {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"},
    {"avx512dq", "avx512dq"},
    {"avx512f", "avx512f"},
    {"avx512fp16", "avx512_fp16"},
    {"avx512ifma", "avx512ifma"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512vbmi2", "avx512_vbmi2"},
    {"avx512vl", "avx512vl"},
    {"avx512vnni", "avx512_vnni"},
    {"avx512vpopcntdq", "avx512_vpopcntdq"},
    {"avxvnni", "avx_vnni"},
    {"bmi", "bmi1"},
    {"bmi2", "bmi2"},
    {"f16c", "f16c"},
    {"fma", "fma"},
    {"gfni", "gfni"},
    {"lzcnt", "abm"},
    {"movbe", "movbe"},
    {"popcnt", "popcnt"},
    {"sse3", "pni"},
    {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},
    {"sse4a", "sse4a"},
    {"ssse3", "ssse3"},
};

/// Kernels run on every GPU from this one on, the first that has maxima that keep NaN. Of this
/// version of PTX on, they may have more parameters than 4 KB hold.
static constexpr StringLiteral leastChip("sm_80"), ptxVersion("+ptx83");

Expected<KernelTarget> KernelTarget::create(const std::string &cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  KernelTarget target;
  target.triple = Triple(sys::getDefaultTargetTriple());
  target.cpu = cpu;
  if (cpu == "native") {
    target.cpu = sys::getHostCPUName().str();
    for (auto &[name, isThere] : sys::getHostCPUFeatures())
      target.features +=
          (target.features.empty() ? "" : ",") + std::string(isThere ? "+" : "-") + name.str();
  }
  std::string error;
  const auto *found = TargetRegistry::lookupTarget(target.triple, error);
  if (!found)
    return createStringError(error);
  // Of no CPU: LLVM would complain about an unknown one on stderr by itself.
  std::unique_ptr<MCSubtargetInfo> info(found->createMCSubtargetInfo(target.triple, "", ""));
  if (!info || !info->isCPUStringValid(target.cpu))
    return createStringError("unknown CPU '" + cpu +
                             "': expected native or a name that LLVM knows, such as x86-64-v3");
  return target;
}

Expected<KernelTarget> KernelTarget::createGpu() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  KernelTarget target;
  target.triple = Triple("nvptx64-nvidia-cuda");
  target.cpu = leastChip;
  target.features = ptxVersion;
  target.machine = KernelMachine::Gpu;
  return target;
}

std::unique_ptr<TargetMachine> KernelTarget::makeMachine() const {
  std::string error;
  const auto *found = TargetRegistry::lookupTarget(triple, error);
  TargetOptions options;
  return std::unique_ptr<TargetMachine>(found->createTargetMachine(
      triple, cpu, features, options, Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
}

std::vector<std::string> KernelTarget::getFeatures() const {
  std::vector<std::string> names;
  if (machine == KernelMachine::Gpu)
    return {cpu};
  if (!triple.isX86())
    return names;
  std::unique_ptr<TargetMachine> machine = makeMachine();
  for (const Feature &feature : x86Features)
    if (machine->getMCSubtargetInfo()->checkFeatures("+" + feature.llvm.str()))
      names.push_back(feature.cpuinfo.str());
  llvm::sort(names);
  return names;
}

static StringRef getBytes(ArrayRef<unsigned char> bitcode) {
  return {reinterpret_cast<const char *>(bitcode.data()), bitcode.size()};
}

bool KernelTarget::hasFunction(StringRef name) {
  static const std::set<std::string, std::less<>> names = [] {
    LLVMContext context;
    std::set<std::string, std::less<>> found;
    auto library = cantFail(parseBitcodeFile({getBytes(mathBitcode), "functions"}, context));
    for (const Function &function : *library)
      if (!function.isDeclaration())
        found.insert(function.getName().str());
    return found;
  }();
  return names.contains(name);
}

/// Links the functions of a bitcode file that `module` calls, to be inlined.
static Error addFunctions(Module &module, StringRef bytes) {
  Expected<std::unique_ptr<Module>> library =
      parseBitcodeFile({bytes, "functions"}, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  for (Function &function : **library)
    for (StringRef name :
         {"target-cpu", "target-features", "tune-cpu", "no-trapping-math", "frame-pointer"})
      function.removeFnAttr(name);
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError("cannot link the functions that kernels call");
  return Error::success();
}

static void setAttributes(Module &module, StringRef cpu, StringRef features, bool isWide) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("target-features", features);
    function.addFnAttr(Attribute::NoUnwind);
    // Vectors of 512 bits, where the machine has them, are twice as fast for exp; LLVM prefers 256.
    if (isWide)
      function.addFnAttr("prefer-vector-width", "512");
    if (function.getName().starts_with("weft_")) {
      function.setLinkage(GlobalValue::InternalLinkage);
      function.addFnAttr(Attribute::AlwaysInline);
      function.removeFnAttr(Attribute::NoInline);
      function.removeFnAttr(Attribute::OptimizeNone);
    }
  }
}

static void optimise(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graphs;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3).run(module, modules);
}

/// Kernels may call nothing but what every C library has.
static Error checkUndefined(StringRef bytes, StringRef cpu) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(bytes, "kernel"));
  if (!file)
    return file.takeError();
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    Expected<StringRef> name = symbol.getName();
    if (!flags || !name)
      return joinErrors(flags.takeError(), name.takeError());
    bool isFree = is_contained(
        {"", "free", "malloc", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}, *name);
    if ((*flags & object::SymbolRef::SF_Undefined) && !isFree)
      return createStringError("a kernel needs the function '" + name->str() + "' on CPU '" +
                               cpu.str() + "': choose one with more features, such as x86-64-v3");
  }
  return Error::success();
}

/// Code for the module, by the machine's backend.
static Expected<std::string> emit(Module &module, TargetMachine &machine, CodeGenFileType type) {
  SmallVector<char, 0> code;
  raw_svector_ostream stream(code);
  legacy::PassManager emitter;
  if (machine.addPassesToEmitFile(emitter, stream, nullptr, type))
    return createStringError("cannot emit code for " + machine.getTargetTriple().str());
  emitter.run(module);
  return std::string(code.begin(), code.end());
}

static std::string toBitcode(const Module &module) {
  std::string bytes;
  raw_string_ostream stream(bytes);
  WriteBitcodeToFile(module, stream);
  return bytes;
}

Expected<std::string> KernelTarget::compile(std::unique_ptr<Module> module,
                                            StringRef arithmetic) const {
  std::unique_ptr<TargetMachine> target = makeMachine();
  module->setTargetTriple(target->getTargetTriple());
  module->setDataLayout(target->createDataLayout());
  bool isGpu = machine == KernelMachine::Gpu;
  if (!isGpu)
    module->setPICLevel(PICLevel::BigPIC);
  for (StringRef bitcode : {arithmetic, getBytes(mathBitcode), getBytes(sortBitcode)})
    if (Error error = addFunctions(*module, bitcode))
      return std::move(error);
  bool isWide = triple.isX86() && target->getMCSubtargetInfo()->checkFeatures("+avx512f");
  setAttributes(*module, cpu, features, isWide);
  optimise(*module, *target);
  if (isGpu)
    return toBitcode(*module);
  Expected<std::string> object = emit(*module, *target, CodeGenFileType::ObjectFile);
  if (!object)
    return object;
  if (Error error = checkUndefined(*object, cpu))
    return std::move(error);
  return object;
}

Expected<std::string> KernelTarget::link(ArrayRef<std::string> compiled) const {
  return machine == KernelMachine::Gpu ? makePtx(compiled) : linkSharedObject(compiled);
}

/// One text for all kernels: LLVM's linker keeps what several of them have apart.
Expected<std::string> KernelTarget::makePtx(ArrayRef<std::string> compiled) const {
  LLVMContext context;
  Module all("kernels", context);
  std::unique_ptr<TargetMachine> target = makeMachine();
  all.setTargetTriple(target->getTargetTriple());
  all.setDataLayout(target->createDataLayout());
  for (StringRef bitcode : compiled) {
    Expected<std::unique_ptr<Module>> module = parseBitcodeFile({bitcode, "kernel"}, context);
    if (!module)
      return module.takeError();
    if (Linker::linkModules(all, std::move(*module)))
      return createStringError("cannot link the kernels");
  }
  return emit(all, *target, CodeGenFileType::AssemblyFile);
}

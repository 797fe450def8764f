#include "frontends/stablehlo/SourceModule.h"

#include "frontends/stablehlo/ExpandComplex.h"
#include "frontends/stablehlo/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::stablehlo;

/// MLIR's parser recurses for each bracket, and models nest a few of them.
static constexpr int maxNesting = 256;

/// Throws ImportError where brackets outside of strings and comments nest too deeply.
static void checkNesting(StringRef text) {
  int depth = 0, line = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
    case '"':
      for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
        at += text[at] == '\\';
      break;
    case '/':
      if (text.substr(at).starts_with("//"))
        at = std::min(text.find('\n', at), text.size()) - 1;
      break;
    case '\n':
      ++line;
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > maxNesting)
        throw ImportError("brackets nest deeper than " + std::to_string(maxNesting) + " in line " +
                          std::to_string(line));
      break;
    case '>':
      depth -= at > 0 && text[at - 1] != '-'; // an arrow closes nothing
      break;
    case ')':
    case ']':
    case '}':
      --depth;
      break;
    }
  }
}

namespace {

/// Aliases let a short text stand for attributes, types and locations that are exponentially long
/// once they are written out, as in messages, or nest deeper than the stack. Refuses both.
class ExpansionCheck {
public:
  void check(Operation *op) {
    visit(op->getAttrDictionary());
    visit(op->getPropertiesAsAttribute());
    visit(Attribute(op->getLoc()));
    for (Type type : op->getResultTypes())
      visit(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          visit(argument.getType());
          visit(Attribute(argument.getLoc()));
        }
  }

private:
  struct Extent {
    uint64_t parts = 1;
    int height = 1;
  };
  static constexpr uint64_t maxParts = 1 << 20;

  /// `depth` bounds this recursion, heights what was visited before.
  template <typename Part> Extent visit(Part part, int depth = 0) {
    if (!part)
      return {};
    if (auto known = extents.find(part.getAsOpaquePointer()); known != extents.end())
      return known->second;
    Extent extent;
    auto add = [&](auto inner) {
      Extent found = visit(inner, depth + 1);
      extent.parts += found.parts;
      extent.height = std::max(extent.height, found.height + 1);
      if (extent.parts > maxParts)
        throw ImportError("aliases stand for an attribute, type or location of more than " +
                          std::to_string(maxParts) + " parts");
    };
    if (depth < maxNesting)
      part.walkImmediateSubElements([&](Attribute inner) { add(inner); },
                                    [&](Type inner) { add(inner); });
    if (depth == maxNesting || extent.height > maxNesting)
      throw ImportError("attributes, types or locations nest deeper than " +
                        std::to_string(maxNesting));
    return extents[part.getAsOpaquePointer()] = extent;
  }

  llvm::DenseMap<const void *, Extent> extents; ///< never walked
};

} // namespace

/// `line 3, column 5: what`, or without the place where the error is not of the text.
static std::string describe(Diagnostic &diagnostic, StringRef path) {
  std::string text = diagnostic.str();
  auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (place && place.getFilename() == path)
    return "line " + std::to_string(place.getLine()) + ", column " +
           std::to_string(place.getColumn()) + ": " + text;
  return text;
}

SourceModule::SourceModule(StringRef path) : context(MLIRContext::Threading::DISABLED) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    throw ImportError("it cannot be read: " + buffer.getError().message());
  MlirText form = classifyMlir((*buffer)->getBuffer());
  if (StringRef advice = adviseOnForm(form); !advice.empty())
    throw ImportError(advice.str());
  checkNesting((*buffer)->getBuffer());
  context.allowUnregisteredDialects();
  context.loadDialect<func::FuncDialect>();
  std::string reason;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
      reason = describe(diagnostic, path);
    return success();
  });
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer((*buffer)->getMemBufferRef()),
                             llvm::SMLoc());
  // Regions of unregistered operations may hold symbols, for all the verifier of calls knows; the
  // walk looks after what it uses.
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!module)
    throw ImportError(reason.empty() ? "it is no MLIR module" : reason);
  ExpansionCheck expansion;
  module->walk([&](Operation *op) { expansion.check(op); });
  if (!module->getBodyRegion().hasOneBlock())
    throw ImportError("it has no function @main");
  for (Operation &op : *module->getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      continue;
    if (failed(verify(function, /*verifyRecursively=*/false)))
      throw ImportError(reason);
    if (!functions.try_emplace(function.getName(), function).second)
      throw ImportError("function @" + function.getName().str() + " is defined twice");
  }
}

func::FuncOp SourceModule::entry() {
  func::FuncOp found = function("main");
  for (auto candidate : module->getOps<func::FuncOp>()) {
    if (found)
      break;
    if (candidate.isPublic())
      found = candidate;
  }
  if (!found)
    throw ImportError("it has no function @main");
  if (found.isExternal())
    throw ImportError("function @" + found.getName().str() + " has no body");
  return found;
}

void SourceModule::expandComplex(Problems &problems) {
  if (hasComplexSignature(entry()))
    return; // said of its arguments and results
  for (auto function : module->getOps<func::FuncOp>())
    stablehlo::expandComplex(function, problems);
}

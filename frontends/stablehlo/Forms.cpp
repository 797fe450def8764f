// Telling the forms of MLIR files apart.

#include "frontends/stablehlo/Import.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;
using llvm::StringRef;

/// Whether `text` names an operation of `dialect` in the generic form, `"dialect.name"(`.
static bool hasGenericOp(StringRef text, StringRef dialect) {
  std::string start = ("\"" + dialect + ".").str();
  for (size_t at = text.find(start); at != StringRef::npos; at = text.find(start, at + 1)) {
    StringRef rest = text.drop_front(at + start.size());
    rest = rest.drop_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (rest.starts_with("\"(") || rest.starts_with("\" ("))
      return true;
  }
  return false;
}

static bool isInComment(StringRef text, size_t at) {
  size_t line = text.take_front(at).rfind('\n');
  return text.slice(line == StringRef::npos ? 0 : line, at).contains("//");
}

/// Whether `text` names an operation of `dialect` in its custom form: a bare word.
static bool hasPrettyOp(StringRef text, StringRef dialect) {
  std::string start = (dialect + ".").str();
  for (size_t at = text.find(start); at != StringRef::npos; at = text.find(start, at + 1))
    if (at > 0 && llvm::isSpace(text[at - 1]) && at + start.size() < text.size() &&
        llvm::isLower(text[at + start.size()]) && !isInComment(text, at))
      return true;
  return false;
}

MlirText weft::classifyMlir(StringRef contents) {
  if (contents.starts_with("ML\xefR"))
    return MlirText::Bytecode;
  if (hasPrettyOp(contents, "weft") || hasGenericOp(contents, "weft"))
    return MlirText::Other;
  if (hasGenericOp(contents, "vhlo") || hasPrettyOp(contents, "vhlo"))
    return MlirText::Vhlo;
  // A function that returns its arguments has no operation of the dialect.
  for (StringRef dialect : {"stablehlo", "chlo", "builtin"})
    if (hasGenericOp(contents, dialect))
      return MlirText::GenericStableHlo;
  if (hasPrettyOp(contents, "stablehlo") || hasPrettyOp(contents, "chlo") ||
      hasPrettyOp(contents, "mhlo"))
    return MlirText::PrettyStableHlo;
  return MlirText::Other;
}

StringRef weft::adviseOnForm(MlirText form) {
  switch (form) {
  case MlirText::PrettyStableHlo:
    return "this is StableHLO in its pretty form, which only the StableHLO library reads; write "
           "the generic form: jax.jit(f).lower(…).compiler_ir('stablehlo').operation.get_asm("
           "print_generic_op_form=True, enable_debug_info=True), or pass the file through "
           "stablehlo-opt --mlir-print-op-generic --mlir-print-debuginfo";
  case MlirText::Vhlo:
  case MlirText::Bytecode:
    return "this is a portable StableHLO artifact (MLIR bytecode or the versioned dialect VHLO), "
           "which only the StableHLO library reads; write the generic text form instead: "
           "jax.jit(f).lower(…).compiler_ir('stablehlo').operation.get_asm("
           "print_generic_op_form=True, enable_debug_info=True), or deserialize it with "
           "stablehlo-translate --deserialize and print it with stablehlo-opt "
           "--mlir-print-op-generic --mlir-print-debuginfo";
  case MlirText::Other:
  case MlirText::GenericStableHlo:
    return "";
  }
  return "";
}

//===- PtxModule.h - PTX as it was written ----------------------*- C++ -*-===//
//
// The parser's result, before anything is known of what instructions mean. For
//
//   @!%p1 ld.global.v2.b32 {%r1, %r2}, [%rd4+8];
//
// an instruction has the guard %p1, negated; the words ld global v2 b32; and two operands, a vector
// of two names and an address of base %rd4 and offset 8.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXMODULE_H
#define WEFT_TEST_CUDA_PTXMODULE_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test::ptx {

/// What is wrong with a module, for its log.
class PtxError : public std::runtime_error {
public:
  PtxError(int line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

struct Operand {
  enum class Kind { Name, Integer, Float32, Float64, Address, Vector, List };

  Kind kind = Kind::Name;
  std::string name;   ///< with the component, as in %tid.x; an address' base, empty if none
  uint64_t value = 0; ///< of a constant, as bits; an address' or name's offset
  bool negated = false;
  std::string second; ///< the name after |
  std::vector<Operand> items;
};

struct Instruction {
  int line = 0;
  std::string guard; ///< empty: always
  bool guardNegated = false;
  std::vector<std::string> words;
  std::vector<Operand> operands;
};

/// One element of a variable's initial value.
struct Initialiser {
  uint64_t bits = 0;      ///< of a constant; what is added to the symbol's address
  std::string symbol;     ///< whose address
  uint64_t mask = 0;      ///< 0xFF00(symbol): which byte of the address; 0: all of it
  bool isGeneric = false; ///< generic(symbol)
  bool isDouble = false;  ///< the bits are of a double
};

struct Variable {
  int line = 0;
  std::string space, type, name;
  uint64_t align = 0; ///< 0: the type's
  int64_t count = 1;  ///< of elements; -1: `[]` of unknown size
  bool isArray = false, isExtern = false;
  std::vector<Initialiser> values;
};

struct Statement {
  enum class Kind { Instruction, Label, Open, Close, Register, Variable, Targets };

  Kind kind = Kind::Instruction;
  int line = 0;
  Instruction instruction;
  Variable variable; ///< or a register: name, and how many in `count` for %name<count>, else -1
  std::string label; ///< also of targets
  std::vector<std::string> targets;
};

struct FunctionText {
  int line = 0;
  std::string name;
  bool isKernel = false, isDefined = false;
  std::vector<Variable> results, params;
  std::vector<Statement> body;
  uint64_t maxThreads = 0; ///< of a block, as .maxntid or .reqntid say; 0: any
};

struct ModuleText {
  std::vector<Variable> variables;
  std::vector<FunctionText> functions;
};

/// Throws PtxError.
ModuleText parsePtx(const std::string &text);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXMODULE_H

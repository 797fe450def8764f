//===- PtxBody.h - the translation of one function --------------*- C++ -*-===//
//
// Instructions are translated by the tables of families (PtxIntegers.cpp, PtxFloats.cpp,
// PtxTransfers.cpp, PtxControl.cpp): a function for each opcode. It takes the words that it knows
// from the instruction; a word that nobody takes is an error, so nothing is ignored.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_PTXBODY_H
#define WEFT_TEST_CUDA_PTXBODY_H

#include "test/cuda/PtxModule.h"
#include "test/cuda/PtxTypes.h"

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>

namespace weft::test::ptx {

/// What a name stands for.
struct Symbol {
  enum class Kind { Register, Param, Global, Shared, Local, Function };

  Kind kind = Kind::Register;
  const Type *type = nullptr; ///< of a register
  std::string text;   ///< a register; a parameter's bytes; a variable's address in its space
  uint64_t bytes = 0; ///< of a parameter
  const FunctionText *function = nullptr;
  bool isConst = false; ///< a parameter of the function itself
};

/// The innermost scope comes last.
using Scopes = std::vector<std::map<std::string, Symbol>>;

using Texts = std::vector<std::string>;

class Body {
public:
  Body(const FunctionText &function, Scopes outer, unsigned &sites)
      : function(function), scopes(std::move(outer)), sites(sites) {}

  /// Throws PtxError.
  std::string translate();

  // For the tables: words of the instruction.
  const std::string &getOpcode() const { return instruction->words[0]; }
  bool take(std::string_view word);
  /// The first of them that is there; empty: none is.
  std::string takeOneOf(std::initializer_list<std::string_view> words);
  std::string takeSomeOf(std::initializer_list<std::string_view> words, const char *what);
  const Type &takeType();
  bool hasType() const;
  /// RN … RP of PtxNumber.h; none: `otherwise`.
  std::string takeRound(const char *otherwise = "RN");

  // Operands.
  size_t getCount() const { return instruction->operands.size(); }
  void expectCount(size_t least, size_t most);
  void expectCount(size_t count) { expectCount(count, count); }
  const Operand &getOperand(size_t index) const { return instruction->operands[index]; }
  /// The operand's value as a C++ expression of this type; `wider`: of a register that may be.
  std::string read(const Operand &operand, const Type &type, bool wider = false);
  std::string read(size_t index, const Type &type, bool wider = false) {
    return read(getOperand(index), type, wider);
  }
  void write(const Operand &operand, const Type &type, const std::string &value,
             bool wider = false);
  void write(size_t index, const Type &type, const std::string &value, bool wider = false) {
    write(getOperand(index), type, value, wider);
  }
  void writePredicate(const std::string &name, const std::string &value);
  /// Operands from 1 on go to `make`, for each half of a packed type; operand 0 gets the result.
  void writeEach(const Type &type, size_t inputs,
                 const std::function<std::string(const Texts &)> &make);

  std::string getAddress(const Operand &operand);
  /// An expression for where the bytes lie.
  std::string getPlace(const std::string &space, const Operand &operand, uint64_t bytes);
  const Symbol *find(const std::string &name) const;
  const Symbol &getParam(const Operand &operand, uint64_t bytes);

  void emit(const std::string &line) { text += "  " + line + "\n"; }
  [[noreturn]] void fail(const std::string &what) const { throw PtxError(line, what); }
  /// A number that all instructions of the same words have: lanes may meet at any of them.
  std::string getQualifiers() const;
  /// A number of this instruction's own.
  std::string takeSite() { return std::to_string(sites++) + "u"; }
  const FunctionText &getFunction() const { return function; }
  const std::vector<std::string> &getTargets(const std::string &label);
  static std::string getLabel(const std::string &name) { return "L_" + name; }

  bool waits = false; ///< for other threads
  bool callsUnknown = false;
  std::set<std::string> calls;
  uint64_t localBytes = 0;

private:
  void translate(const Statement &statement);
  void translateInstruction(const Statement &statement);
  void declareRegister(const Variable &variable);
  void declareVariable(const Variable &variable);
  std::string readName(const Operand &operand, const Type &type, bool wider);
  std::string readConstant(const Operand &operand, const Type &type);

  const FunctionText &function;
  Scopes scopes;
  unsigned &sites;
  std::string text;
  int line = 0;
  const Instruction *instruction = nullptr;
  std::vector<bool> taken;
};

using Handler = void (*)(Body &body);
using HandlerTable = std::map<std::string_view, Handler>;

void addControl(HandlerTable &table);
void addFloats(HandlerTable &table);
void addIntegers(HandlerTable &table);
void addTransfers(HandlerTable &table);

/// Opcodes whose meaning depends on the type, found by addFloats or addIntegers.
void translateFloat(Body &body, const Type &type);
void translateInteger(Body &body, const Type &type);

uint64_t getBytes(const Variable &variable);
uint64_t getAlign(const Variable &variable);
/// A name of PTX within one of C++.
std::string mangle(const std::string &name);

} // namespace weft::test::ptx

#endif // WEFT_TEST_CUDA_PTXBODY_H

//===- Symbols.h - symbolic sizes of an exported program --------*- C++ -*-===//
//
// Inputs of a program may have sizes that are expressions of symbols (`s77`, which torch chooses;
// the names that users gave to `Dim` are not in the archive). A size is bound by its symbol,
// `s77=4`, or by the place where it is seen, `input_ids.0=4`; once all symbols of the inputs have
// values, every size in the program that follows from them is a number.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FRONTENDS_TORCH_EXPORT_SYMBOLS_H
#define WEFT_FRONTENDS_TORCH_EXPORT_SYMBOLS_H

#include "frontends/common/Problems.h"
#include "frontends/torch_export/Program.h"
#include "llvm/ADT/MapVector.h"

namespace weft::frontend::aten {

/// An input that the caller gives, with the name by which they know it.
struct UserInput {
  std::string name;  ///< for people
  std::string value; ///< in the graph
};

/// The tensors and symbolic numbers that a caller gives, in order.
std::vector<UserInput> userInputs(const Program &program);

/// A size of an input that is not a number.
struct OpenSize {
  std::string place; ///< `input_ids.0`, or the input's name for a symbolic number
  std::string expression;
};
std::vector<OpenSize> openSizes(const Program &program);

class Symbols {
public:
  /// Binds what `dims` names. Reports sizes without value, values out of the exported range, and
  /// contradictions.
  Symbols(const Program &program, const llvm::MapVector<llvm::StringRef, int64_t> &dims,
          Problems &problems);

  /// The value of a size; none where it depends on values that only running tells.
  std::optional<int64_t> evaluate(const SymInt &size) const;
  /// The exported range of a symbol: `2 to 64`, or "" where there is none.
  std::string describeRange(llvm::StringRef symbol) const;

private:
  void bind(llvm::StringRef symbol, int64_t value, llvm::StringRef option);
  /// Binds the one symbol of an expression so that it has this value.
  void solve(const OpenSize &size, int64_t value);
  void checkRange(llvm::StringRef symbol, int64_t value, llvm::StringRef option);

  const Program &program;
  Problems &problems;
  llvm::StringMap<int64_t> values;
};

} // namespace weft::frontend::aten

#endif // WEFT_FRONTENDS_TORCH_EXPORT_SYMBOLS_H

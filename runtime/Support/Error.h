//===- Error.h - how the runtime fails --------------------------*- C++ -*-===//
//
// The runtime is free of MLIR and has no diagnostics engine: it throws. An Error carries the exit
// code that the command ends with (see docs: 3 bad executable or input, 5 failure while running, 6
// mismatch) and a message that names the place and the way out. `weft run` catches it once, at the
// top.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_ERROR_H
#define WEFT_RUNTIME_SUPPORT_ERROR_H

#include <fmt/format.h>
#include <stdexcept>
#include <string>

namespace weft::runtime {

/// How anything of Weft fails. The values are the exit codes of the command.
enum class ErrorKind : int {
  Usage = 2,
  BadInput = 3,   ///< bad model or input
  Infeasible = 4, ///< a plan that cannot be
  Failure = 5,    ///< failure while running
  Mismatch = 6,   ///< expect or verify found a difference
  TimeLimit = 7,  ///< no answer in the time given
};

class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &message) : std::runtime_error(message), kind(kind) {}

  ErrorKind getKind() const { return kind; }
  int getExitCode() const { return static_cast<int>(kind); }

private:
  ErrorKind kind;
};

/// Throws an Error for a bad executable, model file or input.
template <typename... Args>
[[noreturn]] void throwBadInput(fmt::format_string<Args...> format, Args &&...args) {
  throw Error(ErrorKind::BadInput, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws an Error for something that went wrong while running.
template <typename... Args>
[[noreturn]] void throwFailure(fmt::format_string<Args...> format, Args &&...args) {
  throw Error(ErrorKind::Failure, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_ERROR_H

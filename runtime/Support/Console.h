//===- Console.h - the standard streams -------------------------*- C++ -*-===//
//
// Everything that a command prints goes through here, so that none of it is lost without a word:
// main ends with finishOutput, which writes what is left and makes a failure where the standard
// output did not take it. A reader that has seen enough (`| head -1`) is no failure.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SUPPORT_CONSOLE_H
#define WEFT_RUNTIME_SUPPORT_CONSOLE_H

#include <fmt/format.h>
#include <string_view>

namespace weft::runtime {

/// To be called first in main. Writing into a pipe that nobody reads, or beyond the size that files
/// may have, becomes an error instead of a signal, and no file that is opened later takes the place
/// of a standard stream that is closed.
void openConsole();

/// Appends to the standard output, which is written in large pieces. Called by one thread.
void printText(std::string_view text);

template <typename... Args> void print(fmt::format_string<Args...> format, Args &&...args) {
  printText(fmt::format(format, std::forward<Args>(args)...));
}

/// Writes what was printed so far: before a long pause, or a child process that prints too.
void flushOutput();

/// Whether what is printed does not arrive: the standard output failed, or nobody reads it.
bool isOutputLost();

/// Writes what is left and closes the standard output. Where it failed, says so on stderr. Returns
/// the exit code: `code`, or 5 for 0 where it failed.
int finishOutput(int code);

/// Writes to the standard error, at once; what it does not take can be told to nobody. Called by
/// any thread.
void printErrorText(std::string_view text);

template <typename... Args> void printError(fmt::format_string<Args...> format, Args &&...args) {
  printErrorText(fmt::format(format, std::forward<Args>(args)...));
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_SUPPORT_CONSOLE_H

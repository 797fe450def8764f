//===- Console.cpp - the standard streams ---------------------------------===//

#include "runtime/Support/Console.h"

#include "runtime/Support/Error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace weft::runtime {

namespace {

constexpr size_t pieceBytes = 1 << 16;

/// Writes all of `text`; errno where that fails, else 0.
int writeAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<size_t>(put));
    } else if (errno == EAGAIN) { // whoever shares the stream made it non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// What is printed and not written yet.
std::string &getBuffer() {
  static std::string buffer;
  return buffer;
}
int failure = 0;   ///< errno of the first write that failed
bool used = false; ///< whether anything was printed

} // namespace

void openConsole() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // Opened the wrong way round, so that using them fails as it does for a closed stream.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void printText(std::string_view text) {
  if (failure)
    return;
  used |= !text.empty();
  getBuffer() += text;
  if (getBuffer().size() >= pieceBytes)
    flushOutput();
}

void flushOutput() {
  if (!failure)
    failure = writeAll(STDOUT_FILENO, getBuffer());
  getBuffer().clear();
}

bool isOutputLost() { return failure != 0; }

int finishOutput(int code) {
  flushOutput();
  // Some file systems tell only here that a disk is full.
  if (used && ::close(STDOUT_FILENO) != 0 && !failure)
    failure = errno;
  if (!failure || failure == EPIPE)
    return code;
  printError("error: cannot write the standard output: {}\n", std::strerror(failure));
  return code != 0 ? code : static_cast<int>(ErrorKind::Failure);
}

void printErrorText(std::string_view text) { (void)writeAll(STDERR_FILENO, text); }

} // namespace weft::runtime

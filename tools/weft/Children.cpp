#include "tools/weft/Children.h"

#include "runtime/Support/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace weft;
using namespace weft::tool;
using Clock = std::chrono::steady_clock;

/// The exit code of a child whose work threw; its text is the reason.
static constexpr int thrown = 1;

namespace {

struct Child {
  size_t number;
  pid_t process;
  int pipe;
  Clock::time_point begun;
  std::string text;

  double getSeconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
};

class Children {
public:
  Children(double limit, const std::function<std::string(size_t)> &work,
           const std::function<void(const ChildEnd &)> &ended)
      : limit(limit), work(work), ended(ended) {}

  size_t size() const { return children.size(); }
  void start(size_t number);
  /// Waits until something happens, and calls `ended` for those that are over.
  void wait();

private:
  [[noreturn]] void run(size_t number, int pipe) const;
  int getPatience() const;
  void finish(std::list<Child>::iterator child, bool isLate);

  double limit;
  const std::function<std::string(size_t)> &work;
  const std::function<void(const ChildEnd &)> &ended;
  std::list<Child> children;
};

void Children::run(size_t number, int pipe) const {
  std::string text;
  int code = 0;
  try {
    text = work(number);
  } catch (const std::exception &error) {
    text = error.what();
    code = thrown;
  }
  for (size_t at = 0; at < text.size();) {
    ssize_t written = write(pipe, text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR)
      break;
    at += std::max<ssize_t>(written, 0);
  }
  _exit(code); // what the work used may still be in use by its threads
}

void Children::start(size_t number) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    runtime::throwFailure("no pipe to a process: {}", std::strerror(errno));
  pid_t process = fork();
  if (process < 0)
    runtime::throwFailure("no process to run in: {}", std::strerror(errno));
  if (process == 0) {
    close(ends[0]);
    run(number, ends[1]);
  }
  close(ends[1]);
  children.push_back({number, process, ends[0], Clock::now(), {}});
}

/// Milliseconds until the first child is late; -1: none will be.
int Children::getPatience() const {
  if (limit <= 0)
    return -1;
  double left = limit;
  for (const Child &child : children)
    left = std::min(left, limit - child.getSeconds());
  return static_cast<int>(std::ceil(std::max(left, 0.0) * 1e3));
}

void Children::finish(std::list<Child>::iterator child, bool isLate) {
  ChildEnd end{child->number, std::move(child->text), "", child->getSeconds()};
  if (isLate)
    kill(child->process, SIGKILL);
  int status = 0;
  while (waitpid(child->process, &status, 0) < 0 && errno == EINTR) {
  }
  if (isLate)
    end.problem = fmt::format("took longer than {:g} s", limit);
  else if (WIFSIGNALED(status))
    end.problem = fmt::format("crashed: {}", strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) == thrown)
    end.problem = end.text;
  else if (WEXITSTATUS(status))
    end.problem = fmt::format("ended with code {}", WEXITSTATUS(status));
  close(child->pipe);
  children.erase(child);
  ended(end);
}

void Children::wait() {
  std::vector<pollfd> pipes;
  for (const Child &child : children)
    pipes.push_back({child.pipe, POLLIN, 0});
  if (poll(pipes.data(), pipes.size(), getPatience()) < 0 && errno != EINTR)
    runtime::throwFailure("the processes cannot be waited for: {}", std::strerror(errno));
  size_t i = 0;
  for (auto next = children.begin(); next != children.end(); ++i) {
    auto child = next++;
    ssize_t count = 1; // of a child that said nothing
    if (pipes[i].revents) {
      char buffer[4096];
      count = read(child->pipe, buffer, sizeof(buffer));
      if (count > 0)
        child->text.append(buffer, count);
    }
    bool isLate = limit > 0 && child->getSeconds() > limit;
    if (count == 0 || isLate)
      finish(child, count != 0);
  }
}

} // namespace

void weft::tool::doInChildren(size_t count, size_t atOnce, double limit,
                              const std::function<std::string(size_t)> &work,
                              const std::function<void(const ChildEnd &)> &ended) {
  Children children(limit, work, ended);
  for (size_t next = 0; next < count || children.size();) {
    while (next < count && children.size() < std::max<size_t>(atOnce, 1))
      children.start(next++);
    children.wait();
  }
}

//===- weft-lsp-server.cpp - language server for Weft's dialects ----------===//

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Weft/IR/WeftDialect.h"
#include "tools/weft-lsp-server/Relay.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Config/llvm-config.h"
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static constexpr char serverName[] = "weft-lsp-server";

/// MLIR's server on a pair of pipes, in this process, until its input ends.
static int serve(int in, int out, const std::string &log, mlir::DialectRegistry &registry) {
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  close(in);
  close(out);
  std::string program = serverName, logOption = "--log=" + log;
  char *arguments[] = {program.data(), logOption.data(), nullptr};
  return mlir::failed(mlir::MlirLspServerMain(2, arguments, registry));
}

/// Runs the server in a process of its own and stands between it and the editor. Returns its exit
/// code.
static int relay(const std::string &log, mlir::DialectRegistry &registry) {
  int requests[2], answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0) {
    std::cerr << serverName << ": cannot make a pipe: " << std::strerror(errno) << "\n";
    return 1;
  }
  pid_t child = fork();
  if (child < 0) {
    std::cerr << serverName << ": cannot start a process: " << std::strerror(errno) << "\n";
    return 1;
  }
  if (child == 0) {
    close(requests[1]);
    close(answers[0]);
    return serve(requests[0], answers[1], log, registry);
  }
  close(requests[0]);
  close(answers[1]);
  std::signal(SIGPIPE, SIG_IGN); // a server that has ended is told by its exit code
  std::FILE *toServer = fdopen(requests[1], "w"), *fromServer = fdopen(answers[0], "r");
  weft::lsp::Relay relay({stdin, stdout}, {fromServer, toServer}, registry, serverName,
                         WEFT_VERSION);
  std::thread passing([&] {
    relay.passRequests();
    std::fclose(toServer);
  });
  passing.detach(); // it may wait for an editor that says no more
  relay.passAnswers();
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    std::cerr << serverName << ": the server ended by signal " << WTERMSIG(status) << "\n";
  std::cout.flush();
  std::fflush(stdout);
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv) {
  CLI::App app("LSP Language Server for the dialects of Weft: speaks the Language Server Protocol "
               "on stdin and stdout",
               serverName);
  app.set_version_flag("--version", std::string(serverName) + " " WEFT_VERSION
                                                              " (MLIR " LLVM_VERSION_STRING ")");
  std::string log = "info";
  app.add_option("--log", log, "how much is told on stderr")
      ->check(CLI::IsMember({"error", "info", "verbose"}))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, weft::WeftDialect, weft::dist::DistDialect,
                  weft::exec::ExecDialect>();
  return relay(log, registry);
}

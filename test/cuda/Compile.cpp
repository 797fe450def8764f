#include "test/cuda/Compile.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace weft::test {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> &getFlags() {
  static const std::vector<std::string> flags = [] {
    std::vector<std::string> made = {"-std=c++20",
                                     "-O1",
                                     "-w",
                                     "-fPIC",
                                     "-shared",
                                     "-ffp-contract=off",
                                     "-fno-strict-aliasing",
                                     "-ftrivial-auto-var-init=pattern",
                                     "-I",
                                     WEFT_STAND_IN_SOURCE};
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma"))
      made.push_back("-mfma");
#endif
    return made;
  }();
  return flags;
}

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// FNV-1a in two halves: not against malice, but against chance.
std::string hash(const std::string &text) {
  std::string name;
  for (uint64_t value : {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull}) {
    for (unsigned char c : text)
      value = (value ^ c) * 0x100000001b3ull;
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
    name += digits;
  }
  return name;
}

/// What a compilation depends on besides its source.
const std::string &getSurroundings() {
  static const std::string text = [] {
    std::string made = WEFT_STAND_IN_COMPILER;
    for (const char *name : {"PtxAbi.h", "PtxNumber.h", "PtxArithmetic.h", "PtxSupport.h"})
      made += readFile(fs::path(WEFT_STAND_IN_SOURCE) / "test" / "cuda" / name);
    for (const std::string &flag : getFlags())
      made += flag + "\n";
    return made;
  }();
  return text;
}

fs::path getFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  fs::path folder = cache && *cache ? fs::path(cache) : fs::temp_directory_path();
  folder /= "weft-cuda-stand-in-" + std::to_string(getuid());
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  return folder;
}

void runCompiler(const std::string &source, const std::string &target, const std::string &log) {
  std::vector<std::string> words = {WEFT_STAND_IN_COMPILER};
  words.insert(words.end(), getFlags().begin(), getFlags().end());
  words.insert(words.end(), {source, "-o", target});
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child;
  int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (error || waitpid(child, &status, 0) != child || status)
    throw std::runtime_error("a translated module does not compile: " + source + "\n" +
                             readFile(log));
}

} // namespace

std::string compileShared(const std::string &source) {
  static std::atomic<int> made = 0;
  fs::path folder = getFolder(), kept = folder / (hash(source + getSurroundings()) + ".so");
  if (fs::exists(kept))
    return kept;
  // Several processes may be at it: each writes files of its own and puts them in place at once.
  std::string stem = folder / (std::to_string(getpid()) + "-" + std::to_string(made++));
  std::ofstream(stem + ".cpp") << source;
  runCompiler(stem + ".cpp", stem + ".so", stem + ".log");
  fs::rename(stem + ".so", kept);
  fs::remove(stem + ".cpp");
  fs::remove(stem + ".log");
  return kept;
}

} // namespace weft::test

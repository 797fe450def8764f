#include "compiler/Kernel/SharedObject.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error writeFile(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream stream(path, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? createStringError(code, "cannot write " + path + ": " + code.message())
              : Error::success();
}

static Expected<std::string> readFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError(buffer.getError(), "cannot read " + path);
  return (*buffer)->getBuffer().str();
}

static Expected<std::string> findLinker() {
  for (StringRef name : {"ld", "ld.lld", "mold", "cc"})
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  return createStringError("no linker for kernels on the PATH: install binutils, lld or mold");
}

Expected<std::string> weft::kernel::linkSharedObject(ArrayRef<std::string> objects) {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("weft-kernels", folder))
    return createStringError(code, "cannot make a temporary folder");
  scope_exit cleanup([&] { sys::fs::remove_directories(folder); });
  auto inFolder = [&](const Twine &name) { return (Twine(folder) + "/" + name).str(); };
  std::string output = inFolder("cpu.so"), log = inFolder("log");
  std::vector<std::string> words{*linker, "-shared", "-o", output};
  bool isDriver = sys::path::filename(*linker) == "cc";
  words.push_back(isDriver ? "-nostdlib" : "--build-id=none");
  for (auto [number, object] : enumerate(objects)) {
    words.push_back(inFolder(Twine(number) + ".o"));
    if (Error error = writeFile(words.back(), object))
      return std::move(error);
  }
  SmallVector<StringRef> arguments(words.begin(), words.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string message;
  int status = sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, 0, 0, &message);
  if (status != 0) {
    Expected<std::string> said = readFile(log);
    message += said ? *said : toString(said.takeError());
    return createStringError(*linker + " failed on the kernels: " + message);
  }
  return readFile(output);
}

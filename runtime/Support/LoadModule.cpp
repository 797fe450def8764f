//===- LoadModule.cpp - parts that are loaded on demand -------------------===//

#include "runtime/Support/LoadModule.h"

#include "runtime/Support/Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <vector>

namespace weft::runtime {

namespace fs = std::filesystem;

static std::vector<fs::path> getModuleFolders() {
  std::vector<fs::path> folders;
  if (const char *given = std::getenv("WEFT_MODULE_DIR"))
    folders.push_back(given);
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (fs::path up : {program.parent_path(), program.parent_path().parent_path()}) {
    folders.push_back(up / "lib" / "weft");
    folders.push_back(up / "lib");
  }
  return folders;
}

void *loadModule(const ModuleFile &module, const char *symbol) {
  std::string sought;
  for (const fs::path &folder : getModuleFolders()) {
    fs::path path = folder / module.file;
    sought += fmt::format("{}'{}'", sought.empty() ? "" : ", ", path.string());
    if (!fs::exists(path))
      continue;
    void *handle = dlopen(path.c_str(), RTLD_NOW | (module.global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (!handle)
      throwBadInput("cannot load {}: {}; install what it needs or {}", module.what, dlerror(),
                    module.instead);
    void *found = dlsym(handle, symbol);
    if (!found)
      throwBadInput("'{}' is not {} of this version", path.string(), module.what);
    return found;
  }
  throwBadInput("{} is not installed, sought {}; set WEFT_MODULE_DIR or {}", module.what, sought,
                module.instead);
}

} // namespace weft::runtime

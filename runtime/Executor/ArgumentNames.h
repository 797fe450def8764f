//===- ArgumentNames.h - the short names of inputs --------------*- C++ -*-===//
//
// Traced functions take nested structures, whose parts are called by their path: `P['h0.qkv']`,
// `params['layers'][0].w`. Such an input is known by its keys alone, too: `h0.qkv`, `layers.0.w`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_ARGUMENTNAMES_H
#define WEFT_RUNTIME_EXECUTOR_ARGUMENTNAMES_H

#include <map>
#include <string>
#include <vector>

namespace weft::runtime {

/// The keys of a path, joined by points; "" where the name is no path.
std::string getShortName(const std::string &name);

/// Which of `names` each name stands for: itself, and its short name where no other has that.
std::map<std::string, size_t> indexByName(const std::vector<std::string> &names);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_ARGUMENTNAMES_H

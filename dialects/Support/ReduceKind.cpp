#include "dialects/Support/ReduceKind.h"

#include "llvm/ADT/StringSwitch.h"

#include "dialects/Support/ReduceKind.cpp.inc"

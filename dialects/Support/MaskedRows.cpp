#include "dialects/Support/MaskedRows.h"

#include "llvm/ADT/StringSwitch.h"

#include "dialects/Support/MaskedRows.cpp.inc"

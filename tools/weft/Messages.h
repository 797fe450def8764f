//===- Messages.h - what a command says on stderr ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_MESSAGES_H
#define WEFT_TOOLS_WEFT_MESSAGES_H

#include "tools/weft/Command.h"

namespace weft::tool {

/// Whether only errors are said (--quiet); main sets it.
void setQuiet(bool quiet);
bool isQuiet();

/// Says `error: message` and returns the code.
int fail(Exit code, const std::string &message);

/// Says `warning: message`: something is not as the user may think.
void warn(const std::string &message);

/// Says `note: message`: a default that the user may not know of.
void note(const std::string &message);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_MESSAGES_H

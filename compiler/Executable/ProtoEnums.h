//===- ProtoEnums.h - the executable's enums and the compiler's -*- C++ -*-===//
//
// A new case of the compiler's fails to compile here. Of the executable's, element types alone are
// read back: the runtime works with its own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXECUTABLE_PROTOENUMS_H
#define WEFT_COMPILER_EXECUTABLE_PROTOENUMS_H

#include "dialects/Exec/IR/ExecDialect.h"
#include "dialects/Support/DType.h"
#include "runtime/Program/executable.pb.h"

namespace weft {

program::ArenaKind toProto(exec::ArenaKind kind);
program::CollectiveKind toProto(exec::CollectiveKind kind);
program::DType toProto(DType type);
program::MaskedRows toProto(MaskedRows rows);
program::Phase toProto(exec::Phase phase);
program::Stream toProto(exec::Stream stream);

/// None of what is unknown.
std::optional<DType> fromProto(program::DType type);

} // namespace weft

#endif // WEFT_COMPILER_EXECUTABLE_PROTOENUMS_H

#include "compiler/Executable/ProtoEnums.h"

using namespace weft;

program::ArenaKind weft::toProto(exec::ArenaKind kind) {
  switch (kind) {
  case exec::ArenaKind::Weights:
    return program::WEIGHTS;
  case exec::ArenaKind::State:
    return program::STATE;
  case exec::ArenaKind::Activations:
    return program::ACTIVATIONS;
  case exec::ArenaKind::Communication:
    return program::COMMUNICATION;
  case exec::ArenaKind::Workspace:
    return program::WORKSPACE;
  case exec::ArenaKind::Ports:
    return program::PORTS;
  case exec::ArenaKind::Host:
    return program::HOST;
  }
  llvm_unreachable("a kind outside its enum");
}

program::CollectiveKind weft::toProto(exec::CollectiveKind kind) {
  switch (kind) {
  case exec::CollectiveKind::AllReduce:
    return program::ALL_REDUCE;
  case exec::CollectiveKind::AllGather:
    return program::ALL_GATHER;
  case exec::CollectiveKind::ReduceScatter:
    return program::REDUCE_SCATTER;
  case exec::CollectiveKind::AllToAll:
    return program::ALL_TO_ALL;
  case exec::CollectiveKind::Permute:
    return program::PERMUTE;
  }
  llvm_unreachable("a kind outside its enum");
}

program::DType weft::toProto(DType type) {
  switch (type) {
  case DType::I1:
    return program::I1;
  case DType::I8:
    return program::I8;
  case DType::I16:
    return program::I16;
  case DType::I32:
    return program::I32;
  case DType::I64:
    return program::I64;
  case DType::U8:
    return program::U8;
  case DType::U16:
    return program::U16;
  case DType::U32:
    return program::U32;
  case DType::U64:
    return program::U64;
  case DType::F16:
    return program::F16;
  case DType::BF16:
    return program::BF16;
  case DType::F32:
    return program::F32;
  case DType::F64:
    return program::F64;
  }
  llvm_unreachable("an element type outside its enum");
}

program::MaskedRows weft::toProto(MaskedRows rows) {
  switch (rows) {
  case MaskedRows::Uniform:
    return program::MASKED_ROWS_UNIFORM;
  case MaskedRows::Zero:
    return program::MASKED_ROWS_ZERO;
  case MaskedRows::Nan:
    return program::MASKED_ROWS_NAN;
  }
  llvm_unreachable("a case outside its enum");
}

program::Phase weft::toProto(exec::Phase phase) {
  switch (phase) {
  case exec::Phase::Forward:
    return program::FORWARD;
  case exec::Phase::Backward:
    return program::BACKWARD;
  case exec::Phase::Weight:
    return program::WEIGHT;
  case exec::Phase::Update:
    return program::UPDATE;
  }
  llvm_unreachable("a phase outside its enum");
}

program::Stream weft::toProto(exec::Stream stream) {
  switch (stream) {
  case exec::Stream::Compute:
    return program::COMPUTE_STREAM;
  case exec::Stream::Communication:
    return program::COMMUNICATION_STREAM;
  case exec::Stream::Copy:
    return program::COPY_STREAM;
  }
  llvm_unreachable("a stream outside its enum");
}

std::optional<DType> weft::fromProto(program::DType type) {
  for (unsigned value = 0; value <= static_cast<unsigned>(DType::F64); ++value)
    if (toProto(static_cast<DType>(value)) == type)
      return static_cast<DType>(value);
  return std::nullopt;
}

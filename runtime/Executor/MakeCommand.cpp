//===- MakeCommand.cpp - instructions made ready for one rank -------------===//

#include "runtime/Executor/MakeCommand.h"

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Resolve.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Support/Error.h"

namespace weft::runtime {

namespace {

View resolve(const CommandContext &context, const program::Operand &operand) {
  return resolveView(context.program, operand, context.position);
}

LaunchCall resolve(const CommandContext &context, const program::Launch &launch) {
  LaunchCall call{launch.kernel(), {}, {}, launch.tiles(), launch.grain(), {}};
  for (const auto *operands : {&launch.inputs(), &launch.outputs()})
    for (const program::Operand &operand : *operands)
      call.operands.push_back(resolve(context, operand));
  for (const program::Affine &param : launch.params())
    call.params.push_back(context.position.evaluate(param));
  for (const program::Check &check : launch.checks())
    call.checks.push_back({check.message(), check.low(), check.high(), check.source()});
  return call;
}

/// An operand that may be absent.
std::optional<View> resolve(const CommandContext &context, bool isThere,
                            const program::Operand &operand) {
  return isThere ? std::optional(resolve(context, operand)) : std::nullopt;
}

AttentionCall resolve(const CommandContext &context, const program::Attention &attention) {
  AttentionCall call;
  call.query = resolve(context, attention.query());
  call.key = resolve(context, attention.key());
  call.value = resolve(context, attention.value());
  call.output = resolve(context, attention.output());
  call.mask = resolve(context, attention.has_mask(), attention.mask());
  call.bias = resolve(context, attention.has_bias(), attention.bias());
  call.logSums = resolve(context, attention.has_lse(), attention.lse());
  call.scale = attention.scale();
  if (attention.has_softcap())
    call.softcap = attention.softcap();
  if (attention.has_low())
    call.low = attention.low();
  if (attention.has_high())
    call.high = attention.high();
  if (!program::MaskedRows_IsValid(attention.masked_rows()))
    throwBadInput("attention with masked rows of kind {}", int(attention.masked_rows()));
  call.maskedRows = attention.masked_rows();
  return call;
}

AttentionBackwardCall resolve(const CommandContext &context,
                              const program::AttentionBackward &backward) {
  return {resolve(context, backward.attention()), resolve(context, backward.gradient()),
          resolve(context, backward.query_gradient()), resolve(context, backward.key_gradient()),
          resolve(context, backward.value_gradient())};
}

/// Whether an operand lies among the weights, which are read only.
bool isConstant(const CommandContext &context, const program::Operand &operand) {
  return context.program.arenas(static_cast<int>(operand.arena())).kind() == program::WEIGHTS;
}

std::unique_ptr<Command> makeCopy(const CommandContext &context, const program::Copy &copy,
                                  uint32_t token) {
  CopyCall call{resolve(context, copy.input()), resolve(context, copy.output())};
  if (token == 0)
    return context.device.makeCopy(std::move(call));
  return context.hostCopies.makeCopy(std::move(call), isOnHost(context.program, copy.output()),
                                     token);
}

std::optional<EpilogueCall> resolveEpilogue(const CommandContext &context,
                                            const program::Conv &conv) {
  if (!conv.has_epilogue())
    return std::nullopt;
  return EpilogueCall{resolve(context, conv.epilogue().launch()), conv.epilogue().tile(),
                      conv.epilogue().row()};
}

ConvCall resolve(const CommandContext &context, const program::Conv &conv) {
  return {resolve(context, conv.input()),
          resolve(context, conv.kernel()),
          resolve(context, conv.output()),
          {conv.strides().begin(), conv.strides().end()},
          {conv.low().begin(), conv.low().end()},
          {conv.high().begin(), conv.high().end()},
          {conv.dilations().begin(), conv.dilations().end()},
          conv.groups(),
          conv.kernel_gradient(),
          !conv.kernel_gradient() && isConstant(context, conv.kernel()),
          resolveEpilogue(context, conv)};
}

/// Whether the operands are what a collective of that kind and group has.
void check(const CollectiveCall &call) {
  int64_t in = call.input.getNumElements(), out = call.output.getNumElements();
  auto n = static_cast<int64_t>(call.group.size());
  bool fits = call.input.dtype == call.output.dtype && call.input.isContiguous() &&
              call.output.isContiguous();
  switch (call.kind) {
  case program::ALL_GATHER:
    fits &= out == in * n;
    break;
  case program::REDUCE_SCATTER:
    fits &= in == out * n;
    break;
  case program::ALL_TO_ALL:
    fits &= in == out && in % n == 0;
    break;
  case program::ALL_REDUCE:
  case program::PERMUTE:
    fits &= in == out;
    break;
  default:
    throwBadInput("unknown collective {}", int(call.kind));
  }
  if (!fits)
    throwBadInput("{} among {} ranks of operands that do not fit", runtime::getName(call.kind), n);
}

CollectiveCall resolve(const CommandContext &context, const program::Collective &collective) {
  const Position &position = context.position;
  const std::string &mesh = collective.mesh();
  CollectiveCall call;
  call.kind = collective.kind();
  call.reduction = collective.reduction();
  call.input = resolve(context, collective.input());
  call.output = resolve(context, collective.output());
  call.group = position.getGroup(collective.axes(), mesh);
  call.self = position.getCoordinate(collective.axes(), mesh);
  call.lane = context.lanes.get(collective);
  for (int64_t rank : call.group)
    if (rank < 0 || rank >= context.numRanks)
      throwBadInput("a collective with rank {}, which does not run", rank);
  if (call.kind == program::PERMUTE) {
    // The peer's coordinate along `to` is this one's along `from`, and the other way round.
    call.to = position.getMember(collective.to_axes(), call.self, mesh);
    call.from = position.getMember(collective.axes(),
                                   position.getCoordinate(collective.to_axes(), mesh), mesh);
  }
  check(call);
  return call;
}

/// The other side's ranks, in row-major order of the operand's leading dimensions.
template <typename Message>
MessageCall resolveMessage(const CommandContext &context, const program::Operand &operand,
                           const Message &message) {
  MessageCall call{
      resolve(context, operand), static_cast<size_t>(message.steps_size()), {}, message.tag()};
  if (call.peerDims > call.operand.shape.size() || call.tag < 1)
    throwBadInput("a message of tag {} with {} steps for {} dimensions", call.tag, call.peerDims,
                  call.operand.shape.size());
  View piece = call.operand;
  piece.shape.erase(piece.shape.begin(), piece.shape.begin() + message.steps_size());
  piece.strides.erase(piece.strides.begin(), piece.strides.begin() + message.steps_size());
  if (!piece.isContiguous())
    throwBadInput("a message that is not contiguous");
  const plan::Mesh &mesh = findMesh(context.executable, message.mesh());
  std::vector<int64_t> positions = {context.position.evaluate(message.peer())};
  for (int dim = 0; dim < message.steps_size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t position : positions)
      for (int64_t index = 0; index < call.operand.shape[dim]; ++index)
        next.push_back(position + index * message.steps(dim));
    positions = std::move(next);
  }
  for (int64_t position : positions)
    call.peers.push_back(getRankAt(mesh, position));
  return call;
}

MessageCall resolve(const CommandContext &context, const program::Send &send) {
  MessageCall call = resolveMessage(context, send.input(), send);
  if (context.position.getCoordinate(send.leaders()) != 0)
    call.peers.clear();
  return call;
}

MessageCall resolve(const CommandContext &context, const program::Receive &receive) {
  return resolveMessage(context, receive.output(), receive);
}

} // namespace

std::unique_ptr<Command> makeCommand(const CommandContext &context,
                                     const program::Instruction &instruction) {
  Device &device = context.device;
  uint32_t token = instruction.async().token(); // 0: none
  bool mayBeAsync = instruction.has_collective() || instruction.has_send() ||
                    instruction.has_receive() || instruction.has_copy();
  if (instruction.has_async() && (token == 0 || !mayBeAsync))
    throwBadInput("it is asynchronous with the token {}", token);
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch:
    return device.makeLaunch(resolve(context, instruction.launch()));
  case program::Instruction::kAttention:
    return device.makeAttention(resolve(context, instruction.attention()));
  case program::Instruction::kAttentionBackward:
    return device.makeAttentionBackward(resolve(context, instruction.attention_backward()));
  case program::Instruction::kGemm: {
    const program::Gemm &gemm = instruction.gemm();
    return device.makeGemm({resolve(context, gemm.a()), resolve(context, gemm.b()),
                            resolve(context, gemm.c()), gemm.accumulate()});
  }
  case program::Instruction::kConv:
    return device.makeConv(resolve(context, instruction.conv()));
  case program::Instruction::kCollective:
    return context.communicator.makeCollective(resolve(context, instruction.collective()), token);
  case program::Instruction::kCopy:
    return makeCopy(context, instruction.copy(), token);
  case program::Instruction::kFill:
    return device.makeFill(
        {resolve(context, instruction.fill().output()), instruction.fill().value()});
  case program::Instruction::kSend:
    return context.communicator.makeSend(resolve(context, instruction.send()), token);
  case program::Instruction::kReceive:
    return context.communicator.makeReceive(resolve(context, instruction.receive()), token);
  case program::Instruction::kWait: // copies are waited for in the segment that begins them
    if (uint32_t awaited = instruction.wait().token(); context.hostCopies.has(awaited))
      return context.hostCopies.makeWait(awaited);
    return context.communicator.makeWait(instruction.wait().token());
  default:
    throwBadInput("an instruction that this runtime does not know");
  }
}

} // namespace weft::runtime

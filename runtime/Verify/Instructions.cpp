//===- Instructions.cpp - is each instruction well formed? ----------------===//

#include "runtime/Program/Collectives.h"
#include "runtime/Program/Schedule.h"
#include "runtime/Verify/Attention.h"
#include "runtime/Verify/Shapes.h"

#include <algorithm>
#include <numeric>

namespace weft::runtime {

namespace {

int64_t count(const program::Operand &operand) {
  return std::accumulate(operand.shape().begin(), operand.shape().end(), int64_t{1},
                         std::multiplies<>());
}

bool isRowMajor(const program::Operand &operand) {
  int64_t expected = 1;
  for (int i = operand.shape_size(); i-- > 0; expected *= operand.shape(i))
    if (operand.shape(i) != 1 && operand.strides(i) != expected)
      return false;
  return true;
}

void check(ProgramContext &context, const program::Gemm &gemm) {
  Shape a = toShape(gemm.a().shape()), b = toShape(gemm.b().shape()), c = toShape(gemm.c().shape());
  checkSameDType(context, {&gemm.a(), &gemm.b(), &gemm.c()});
  size_t rank = a.size();
  bool fits = rank >= 2 && b.size() == rank && c.size() == rank &&
              std::equal(a.begin(), a.end() - 2, b.begin()) &&
              std::equal(a.begin(), a.end() - 2, c.begin()) && a[rank - 2] == c[rank - 2] &&
              b[rank - 1] == c[rank - 1] && a[rank - 1] == b[rank - 2];
  if (!fits)
    context.reasons.add("a product of {} and {} does not give {}", str(a), str(b), str(c));
}

void check(ProgramContext &context, const program::Launch &launch);

bool isSame(const program::Operand &a, const program::Operand &b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

/// Whether the elements fill a range of memory, each once.
bool isDense(const program::Operand &operand) {
  std::vector<std::pair<int64_t, int64_t>> dims; // stride and extent
  for (int i = 0; i < operand.shape_size(); ++i)
    if (operand.shape(i) != 1)
      dims.push_back({operand.strides(i), operand.shape(i)});
  std::sort(dims.begin(), dims.end());
  int64_t expected = 1;
  for (auto [stride, extent] : dims) {
    if (stride != expected)
      return false;
    expected *= extent;
  }
  return true;
}

/// What makes the elements of `output` anew: its tiles are exactly those of the output's memory.
void check(ProgramContext &context, const program::Epilogue &epilogue,
           const program::Operand &output) {
  const program::Launch &launch = epilogue.launch();
  check(context, launch);
  auto places = std::count_if(launch.inputs().begin(), launch.inputs().end(),
                              [&](const auto &input) { return isSame(input, output); });
  if (places != 1 || launch.outputs_size() != 1 || !isSame(launch.outputs(0), output))
    context.reasons.add("its epilogue does not take the place of its output");
  if (launch.checks_size() > 0)
    context.reasons.add("its epilogue makes checks");
  if (!isDense(output))
    context.reasons.add("its epilogue runs over an output with gaps: {} with strides {}",
                        str(toShape(output.shape())), str(toShape(output.strides())));
  int64_t elements = count(output), tile = epilogue.tile(), row = epilogue.row();
  bool fits = tile >= 1 && row >= tile && elements % row == 0 &&
              launch.tiles() == elements / row * ((row - 1) / tile + 1);
  if (!fits)
    context.reasons.add("{} tiles of {} elements in {} are not those of an output of {}",
                        launch.tiles(), tile, row, elements);
}

void check(ProgramContext &context, const program::Conv &conv) {
  Shape input = toShape(conv.input().shape()), kernel = toShape(conv.kernel().shape()),
        output = toShape(conv.output().shape());
  if (conv.kernel_gradient())
    std::swap(kernel, output);
  checkSameDType(context, {&conv.input(), &conv.kernel(), &conv.output()});
  size_t rank = input.size();
  int spatial = static_cast<int>(rank) - 2;
  bool fits = rank >= 3 && kernel.size() == rank && output.size() == rank &&
              conv.strides_size() == spatial && conv.low_size() == spatial &&
              conv.high_size() == spatial && conv.dilations_size() == spatial &&
              conv.groups() >= 1 && output[0] == input[0] && output[1] == kernel[0] &&
              kernel[0] % conv.groups() == 0 && input[1] == kernel[1] * conv.groups();
  for (int i = 0; fits && i < spatial; ++i) {
    int64_t room =
        input[i + 2] + conv.low(i) + conv.high(i) - (conv.dilations(i) * (kernel[i + 2] - 1) + 1);
    fits = conv.strides(i) >= 1 && room >= 0 && output[i + 2] == room / conv.strides(i) + 1;
  }
  if (!fits)
    context.reasons.add("a convolution of {} and {} does not give {}", str(input), str(kernel),
                        str(output));
  if (conv.has_epilogue() && conv.kernel_gradient())
    context.reasons.add("a kernel's gradient has an epilogue");
  else if (conv.has_epilogue())
    check(context, conv.epilogue(), conv.output());
}

void check(ProgramContext &context, const program::Copy &copy) {
  checkSameDType(context, {&copy.input(), &copy.output()});
  if (toShape(copy.input().shape()) != toShape(copy.output().shape()))
    context.reasons.add("a copy of {} does not give {}", str(toShape(copy.input().shape())),
                        str(toShape(copy.output().shape())));
}

void check(ProgramContext &context, const program::Fill &fill) {
  if (static_cast<int64_t>(fill.value().size()) != getElementSize(fill.output().dtype()))
    context.reasons.add("its value has {} bytes, an element {}", fill.value().size(),
                        getElementSize(fill.output().dtype()));
}

/// The sub-axes by name, for comparison.
std::vector<std::string> getNames(const google::protobuf::RepeatedPtrField<plan::AxisRef> &axes) {
  std::vector<std::string> names;
  for (const plan::AxisRef &axis : axes)
    names.push_back(getName(axis));
  return names;
}

void checkGroup(ProgramContext &context, const program::Collective &collective) {
  std::vector<std::string> names = getNames(collective.axes());
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end())
    context.reasons.add("an axis is named twice: {}", fmt::join(names, ", "));
  std::vector<std::string> to = getNames(collective.to_axes());
  std::sort(to.begin(), to.end());
  if (collective.kind() == program::PERMUTE ? to != names : !to.empty())
    context.reasons.add("a {} from axes [{}] goes to axes [{}]", getName(collective.kind()),
                        fmt::join(names, ", "), fmt::join(to, ", "));
}

void check(ProgramContext &context, const program::Collective &collective) {
  checkSameDType(context, {&collective.input(), &collective.output()});
  checkGroup(context, collective);
  int64_t ranks = countCoordinates(context, collective.mesh(), collective.axes());
  if (ranks == 0) {
    context.reasons.add("no mesh '{}' has the axes [{}]", collective.mesh(),
                        fmt::join(getNames(collective.axes()), ", "));
    return;
  }
  for (const program::Operand *operand : {&collective.input(), &collective.output()})
    if (!isRowMajor(*operand))
      context.reasons.add("a collective's operand is not contiguous: {} with strides {}",
                          str(toShape(operand->shape())), str(toShape(operand->strides())));
  int64_t input = count(collective.input()), output = count(collective.output());
  bool fits = collective.kind() == program::ALL_GATHER       ? output == input * ranks
              : collective.kind() == program::REDUCE_SCATTER ? output * ranks == input
              : collective.kind() == program::ALL_TO_ALL     ? output == input && input % ranks == 0
                                                             : output == input;
  if (!fits)
    context.reasons.add("a {} among {} ranks does not make {} elements of {}",
                        getName(collective.kind()), ranks, output, input);
}

/// Of a Send or a Receive. That both sides agree is checked in Messages.cpp.
template <typename Message>
void checkMessage(ProgramContext &context, const Message &message,
                  const program::Operand &operand) {
  const auto &meshes = context.executable.meshes();
  if (std::none_of(meshes.begin(), meshes.end(),
                   [&](const plan::Mesh &mesh) { return mesh.name() == message.mesh(); }))
    context.reasons.add("there is no mesh '{}'", message.mesh());
  int64_t least = 0, greatest = 0;
  if (!getExtremes(context, message.peer(), least, greatest))
    context.reasons.add("its peer depends on an axis that its mesh does not have");
  if (message.tag() == 0)
    context.reasons.add("a message without a tag");
  if (message.steps_size() > operand.shape_size())
    return context.reasons.add("{} steps for an operand of {} dimensions", message.steps_size(),
                               operand.shape_size());
  program::Operand piece = operand;
  for (auto *list : {piece.mutable_shape(), piece.mutable_strides()})
    list->erase(list->begin(), list->begin() + message.steps_size());
  if (!isRowMajor(piece))
    context.reasons.add("a message is not contiguous: {} with strides {}",
                        str(toShape(piece.shape())), str(toShape(piece.strides())));
}

void check(ProgramContext &context, const program::Send &send) {
  checkMessage(context, send, send.input());
  if (countCoordinates(context, "", send.leaders()) == 0)
    context.reasons.add("its mesh does not have the axes [{}]",
                        fmt::join(getNames(send.leaders()), ", "));
}

void check(ProgramContext &context, const program::Receive &receive) {
  checkMessage(context, receive, receive.output());
}

void check(ProgramContext &context, const program::Observe &observe) {
  auto ports = static_cast<uint32_t>(context.program.gradients_size());
  if (observe.port() >= ports)
    return context.reasons.add("it observes gradient {} of {}", observe.port(), ports);
  const program::Port &port = context.program.gradients(static_cast<int>(observe.port()));
  if (observe.input().SerializeAsString() != port.local().SerializeAsString())
    context.reasons.add("it observes something else than gradient '{}'", port.name());
}

void check(ProgramContext &context, const program::Launch &launch) {
  const auto &kernels = context.executable.kernels();
  if (!std::binary_search(kernels.begin(), kernels.end(), launch.kernel()))
    context.reasons.add("kernel '{}' is none of the executable's {}", launch.kernel(),
                        kernels.size());
  if (launch.tiles() < 0 || launch.grain() < 1)
    context.reasons.add("a launch of {} tiles, at least {} to a thread", launch.tiles(),
                        launch.grain());
  for (const program::Affine &param : launch.params()) {
    int64_t least = 0, greatest = 0;
    if (!getExtremes(context, param, least, greatest))
      context.reasons.add("a parameter depends on an axis that no mesh has");
  }
}

} // namespace

std::string describePlace(const program::Segment &segment, int index) {
  const program::Instruction &instruction = segment.instructions(index);
  std::string place = fmt::format("{}[{}] {}", segment.name(), index, getOpcode(instruction));
  if (!instruction.source().empty())
    place += fmt::format(" ({})", instruction.source());
  return place;
}

void checkOperand(ProgramContext &context, const program::Operand &operand, const char *role) {
  Reasons &reasons = context.reasons;
  if (operand.arena() >= static_cast<uint32_t>(context.program.arenas_size()))
    return reasons.add("{} lies in arena {} of {}", role, operand.arena(),
                       context.program.arenas_size());
  int64_t elementBytes = getElementSize(operand.dtype());
  if (elementBytes == 0)
    return reasons.add("{} has an unknown element type", role);
  if (operand.shape_size() != operand.strides_size())
    return reasons.add("{} has {} extents and {} strides", role, operand.shape_size(),
                       operand.strides_size());
  int64_t last = 0;
  bool overflows = false, empty = false;
  for (int i = 0; i < operand.shape_size(); ++i) {
    int64_t step = 0;
    if (operand.shape(i) < 0 || operand.strides(i) < 0)
      return reasons.add("{} has extent {} and stride {}", role, operand.shape(i),
                         operand.strides(i));
    empty |= operand.shape(i) == 0;
    overflows |= __builtin_mul_overflow(operand.shape(i) - 1, operand.strides(i), &step) ||
                 __builtin_add_overflow(last, step, &last);
  }
  overflows |=
      __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, elementBytes, &last);
  int64_t least = 0, greatest = 0;
  if (!getExtremes(context, operand.offset(), least, greatest))
    return reasons.add("{} depends on an axis that no mesh has", role);
  int64_t bytes = context.program.arenas(static_cast<int>(operand.arena())).bytes();
  if (empty)
    last = 0;
  if (overflows || least < 0 || greatest > bytes || last > bytes - greatest)
    return reasons.add("{} ends at byte {} + {} of arena {}, which has {}", role, greatest, last,
                       operand.arena(), bytes);
  if (operand.value() == UINT32_MAX)
    reasons.add("{} has the value {}, which stands for none", role, operand.value());
  bool aligned = operand.offset().constant() % elementBytes == 0;
  for (const program::Affine::Term &term : operand.offset().terms())
    aligned &= term.coefficient() % elementBytes == 0;
  if (!aligned)
    reasons.add("{} starts at byte {}, which is no multiple of its element's {}", role,
                operand.offset().constant(), elementBytes);
}

Accesses getAccesses(const program::Instruction &instruction) {
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch: {
    Accesses accesses;
    for (const program::Operand &operand : instruction.launch().inputs())
      accesses.reads.push_back(&operand);
    for (const program::Operand &operand : instruction.launch().outputs())
      accesses.writes.push_back(&operand);
    return accesses;
  }
  case program::Instruction::kAttention:
    return getAccesses(instruction.attention());
  case program::Instruction::kAttentionBackward:
    return getAccesses(instruction.attention_backward());
  case program::Instruction::kGemm: {
    const program::Gemm &gemm = instruction.gemm();
    Accesses accesses{{&gemm.a(), &gemm.b()}, {&gemm.c()}};
    return accesses;
  }
  case program::Instruction::kConv: {
    const program::Conv &conv = instruction.conv();
    Accesses accesses{{&conv.input(), &conv.kernel()}, {&conv.output()}};
    for (const program::Operand &input : conv.epilogue().launch().inputs())
      if (!isSame(input, conv.output()))
        accesses.reads.push_back(&input);
    return accesses;
  }
  case program::Instruction::kCollective:
    return {{&instruction.collective().input()}, {&instruction.collective().output()}};
  case program::Instruction::kCopy:
    return {{&instruction.copy().input()}, {&instruction.copy().output()}};
  case program::Instruction::kFill:
    return {{}, {&instruction.fill().output()}};
  case program::Instruction::kSend:
    return {{&instruction.send().input()}, {}};
  case program::Instruction::kReceive:
    return {{}, {&instruction.receive().output()}};
  case program::Instruction::kObserve:
    return {{&instruction.observe().input()}, {}};
  default:
    return {}; // a wait: see checkLifetimes
  }
}

/// Copies alone name the memory of the host.
static void checkHost(ProgramContext &context, const program::Instruction &instruction,
                      const Accesses &accesses) {
  if (instruction.has_copy())
    return;
  for (const auto *list : {&accesses.reads, &accesses.writes})
    for (const program::Operand *operand : *list)
      if (isOnHost(context.program, *operand))
        return context.reasons.add("a {} names the memory of the host", getOpcode(instruction));
}

/// Which instructions may be asynchronous, and how.
static void checkAsync(ProgramContext &context, const program::Instruction &instruction) {
  if (!instruction.has_async())
    return;
  bool communicates =
      instruction.has_collective() || instruction.has_send() || instruction.has_receive();
  bool isHostCopy =
      instruction.has_copy() && isOnHost(context.program, instruction.copy().input()) !=
                                    isOnHost(context.program, instruction.copy().output());
  if (!communicates && !isHostCopy)
    context.reasons.add("a {} cannot be asynchronous", getOpcode(instruction));
  program::Stream stream = instruction.async().stream();
  if (stream != (communicates ? program::COMMUNICATION_STREAM : program::COPY_STREAM))
    context.reasons.add("it is asynchronous on stream {}", int(stream));
  if (instruction.async().token() == 0)
    context.reasons.add("it is asynchronous and has no token");
}

void checkInstruction(ProgramContext &context, const program::Instruction &instruction) {
  size_t before = context.reasons.size();
  Accesses accesses = getAccesses(instruction);
  for (const program::Operand *operand : accesses.reads)
    checkOperand(context, *operand, "an input");
  for (const program::Operand *operand : accesses.writes)
    checkOperand(context, *operand, "an output");
  if (instruction.flops() < 0 || instruction.bytes_read() < 0 || instruction.bytes_written() < 0)
    context.reasons.add("its price is negative");
  checkHost(context, instruction, accesses);
  checkAsync(context, instruction);
  if (context.reasons.size() != before)
    return; // what follows needs sane operands
  switch (instruction.op_case()) {
  case program::Instruction::kLaunch:
    return check(context, instruction.launch());
  case program::Instruction::kAttention:
    return checkAttention(context, instruction.attention());
  case program::Instruction::kAttentionBackward:
    return checkAttention(context, instruction.attention_backward());
  case program::Instruction::kGemm:
    return check(context, instruction.gemm());
  case program::Instruction::kConv:
    return check(context, instruction.conv());
  case program::Instruction::kCollective:
    return check(context, instruction.collective());
  case program::Instruction::kCopy:
    return check(context, instruction.copy());
  case program::Instruction::kFill:
    return check(context, instruction.fill());
  case program::Instruction::kSend:
    return check(context, instruction.send());
  case program::Instruction::kReceive:
    return check(context, instruction.receive());
  case program::Instruction::kObserve:
    return check(context, instruction.observe());
  case program::Instruction::kWait:
    return;
  default:
    context.reasons.add("an unknown instruction");
  }
}

} // namespace weft::runtime

#include "compiler/Executable/Serialize.h"

#include "compiler/Executable/ProtoEnums.h"
#include "compiler/Plan/PlanEnums.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace weft;

program::DType weft::toProto(Type dtype) { return toProto(*getDType(dtype)); }

std::string weft::getElementBytes(Attribute value) {
  auto typed = cast<TypedAttr>(value);
  llvm::APInt bits = isa<FloatAttr>(value) ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                                           : cast<IntegerAttr>(value).getValue();
  int64_t bytes = exec::getElementBytes(typed.getType());
  uint64_t number = bits.getZExtValue();
  std::string result;
  for (int64_t i = 0; i < bytes; ++i)
    result.push_back(static_cast<char>(number >> (8 * i)));
  return result;
}

namespace {
using ScheduleItems = google::protobuf::RepeatedPtrField<program::ScheduleItem>;

/// Writes one program; weights are numbered in order of first use.
class ProgramWriter {
public:
  ProgramWriter(program::Program &proto, llvm::MapVector<StringAttr, uint32_t> &weightNumbers)
      : proto(proto), weightNumbers(weightNumbers) {}

  void write(exec::ProgramOp op);
  void write(exec::InstructionOpInterface op, program::Instruction *to);

private:
  using Affines = google::protobuf::RepeatedPtrField<program::Affine>;

  void write(exec::AffineAttr affine, program::Affine *to);
  void writeValid(ArrayAttr valid, Affines *to);
  void write(exec::OperandAttr operand, program::Operand *to);
  program::Port *addPort(exec::PortOp port);
  void write(exec::PortOp port);
  void write(exec::WeightBlockOp block);
  void write(exec::SegmentOp segment);
  template <typename Op> void writeScores(Op op, program::Attention *to);
  void write(exec::AttentionOp op, program::Attention *to);
  void write(exec::AttentionBackwardOp op, program::AttentionBackward *to);
  void write(exec::CollectiveOp op, program::Collective *to);
  void write(exec::ConvOp op, program::Conv *to);
  void write(exec::LaunchOp op, program::Launch *to);
  void write(exec::ScheduleEntryAttr entry, program::ScheduleEntry *to);
  void write(ArrayAttr schedule, ScheduleItems *to);
  template <typename Op, typename Message> void writeMessage(Op op, Message *to);

  program::Program &proto;
  llvm::MapVector<StringAttr, uint32_t> &weightNumbers;
  llvm::StringMap<uint32_t> segments;  ///< numbers by name
  llvm::StringMap<uint32_t> gradients; ///< numbers of ports by name
  std::map<std::pair<exec::ArenaKind, int64_t>, uint32_t> arenaNumbers; ///< by their first frames
  std::map<exec::ArenaKind, int64_t> begins; ///< of the arenas that are meant, if not 0
};
} // namespace

template <typename Range, typename Repeated> static void assign(Range &&range, Repeated *to) {
  for (auto value : range)
    to->Add(value);
}

template <typename Repeated> static void writeAxes(ArrayRef<exec::AxisAttr> axes, Repeated *to) {
  for (exec::AxisAttr axis : axes) {
    plan::AxisRef *ref = to->Add();
    ref->set_name(axis.getName().str());
    if (axis.getSize() != 0) {
      ref->set_pre(axis.getPre());
      ref->set_size(axis.getSize());
    }
  }
}

template <typename Repeated> static void writeAxes(ArrayAttr axes, Repeated *to) {
  writeAxes(ArrayRef(llvm::to_vector(axes.getAsRange<exec::AxisAttr>())), to);
}

void ProgramWriter::write(exec::AffineAttr affine, program::Affine *to) {
  to->set_constant(affine.getConstant());
  for (exec::TermAttr term : affine.getTerms()) {
    program::Affine::Term *part = to->add_terms();
    part->set_coefficient(term.getCoefficient());
    writeAxes(term.getAxes(), part->mutable_axes());
  }
}

/// How much of a padded block is of the tensor.
void ProgramWriter::writeValid(ArrayAttr valid, Affines *to) {
  if (valid)
    for (auto affine : valid.getAsRange<exec::AffineAttr>())
      write(affine, to->Add());
}

void ProgramWriter::write(exec::OperandAttr operand, program::Operand *to) {
  auto begin = begins.find(operand.getArena());
  auto arena =
      arenaNumbers.find({operand.getArena(), begin == begins.end() ? int64_t{0} : begin->second});
  if (arena != arenaNumbers.end()) // an instruction by itself lies nowhere
    to->set_arena(arena->second);
  write(operand.getOffset(), to->mutable_offset());
  to->set_dtype(toProto(operand.getDtype()));
  assign(operand.getShape(), to->mutable_shape());
  assign(operand.getStrides(), to->mutable_strides());
  to->set_value(operand.getValue());
}

program::Port *ProgramWriter::addPort(exec::PortOp port) {
  switch (port.getDirection()) {
  case exec::Direction::Input:
    return proto.add_inputs();
  case exec::Direction::Output:
    return proto.add_outputs();
  case exec::Direction::Gradient:
    gradients[port.getName()] = proto.gradients_size();
    return proto.add_gradients();
  }
  llvm_unreachable("a port of no direction");
}

void ProgramWriter::write(exec::PortOp port) {
  program::Port *to = addPort(port);
  to->set_name(port.getName().str());
  to->set_dtype(toProto(port.getLocal().getDtype()));
  assign(port.getShape(), to->mutable_shape());
  to->mutable_sharding()->set_mesh(port.getMesh().str());
  for (auto axes : port.getSharding().getAsRange<ArrayAttr>())
    writeAxes(axes, to->mutable_sharding()->add_dims()->mutable_axes());
  write(port.getLocal(), to->mutable_local());
  writeValid(port.getValidAttr(), to->mutable_valid());
  to->set_frame_dim(port.getAlong());
}

void ProgramWriter::write(exec::WeightBlockOp block) {
  program::WeightBlock *to = proto.add_weights();
  auto number = static_cast<uint32_t>(weightNumbers.size());
  to->set_weight(weightNumbers.insert({block.getWeightAttr().getAttr(), number}).first->second);
  write(block.getLocal(), to->mutable_local());
  write(block.getStart(), to->mutable_start());
  assign(block.getStrides(), to->mutable_strides());
  writeValid(block.getValidAttr(), to->mutable_valid());
}

/// What attention and its gradients have in common.
template <typename Op> void ProgramWriter::writeScores(Op op, program::Attention *to) {
  write(op.getQuery(), to->mutable_query());
  write(op.getKey(), to->mutable_key());
  write(op.getValue(), to->mutable_value());
  if (exec::OperandAttr mask = op.getMaskAttr())
    write(mask, to->mutable_mask());
  if (exec::OperandAttr bias = op.getBiasAttr())
    write(bias, to->mutable_bias());
  write(op.getOutput(), to->mutable_output());
  if (exec::OperandAttr lse = op.getLseAttr())
    write(lse, to->mutable_lse());
  to->set_scale(op.getScale().convertToDouble());
  if (std::optional<APFloat> softcap = op.getSoftcap())
    to->set_softcap(softcap->convertToDouble());
  if (std::optional<int64_t> low = op.getLow())
    to->set_low(*low);
  if (std::optional<int64_t> high = op.getHigh())
    to->set_high(*high);
  to->set_masked_rows(toProto(op.getMaskedRows()));
}

void ProgramWriter::write(exec::AttentionOp op, program::Attention *to) { writeScores(op, to); }

void ProgramWriter::write(exec::AttentionBackwardOp op, program::AttentionBackward *to) {
  writeScores(op, to->mutable_attention());
  write(op.getGradient(), to->mutable_gradient());
  write(op.getQueryGradient(), to->mutable_query_gradient());
  write(op.getKeyGradient(), to->mutable_key_gradient());
  write(op.getValueGradient(), to->mutable_value_gradient());
}

void ProgramWriter::write(exec::CollectiveOp op, program::Collective *to) {
  to->set_kind(toProto(op.getKind()));
  to->set_mesh(op.getMesh().str());
  writeAxes(op.getAxes(), to->mutable_axes());
  if (ArrayAttr axes = op.getToAxesAttr())
    writeAxes(axes, to->mutable_to_axes());
  to->set_reduction(toPlan(op.getReduction()));
  write(op.getInput(), to->mutable_input());
  write(op.getOutput(), to->mutable_output());
}

void ProgramWriter::write(exec::ConvOp op, program::Conv *to) {
  write(op.getInput(), to->mutable_input());
  write(op.getKernel(), to->mutable_kernel());
  write(op.getOutput(), to->mutable_output());
  assign(op.getStrides(), to->mutable_strides());
  assign(op.getLow(), to->mutable_low());
  assign(op.getHigh(), to->mutable_high());
  assign(op.getDilations(), to->mutable_dilations());
  to->set_groups(op.getGroups());
  to->set_kernel_gradient(op.getKernelGradient());
  exec::EpilogueAttr epilogue = op.getEpilogueAttr();
  if (!epilogue)
    return;
  program::Launch *launch = to->mutable_epilogue()->mutable_launch();
  launch->set_kernel(epilogue.getKernel().str());
  for (auto operand : epilogue.getInputs().getAsRange<exec::OperandAttr>())
    write(operand, launch->add_inputs());
  write(op.getOutput(), launch->add_outputs());
  for (auto param : epilogue.getParams().getAsRange<exec::AffineAttr>())
    write(param, launch->add_params());
  launch->set_tiles(epilogue.getTiles());
  launch->set_grain(1);
  to->mutable_epilogue()->set_tile(epilogue.getTile());
  to->mutable_epilogue()->set_row(epilogue.getRow());
}

void ProgramWriter::write(exec::LaunchOp op, program::Launch *to) {
  to->set_kernel(op.getKernel().str());
  for (auto operand : op.getInputs().getAsRange<exec::OperandAttr>())
    write(operand, to->add_inputs());
  for (auto operand : op.getOutputs().getAsRange<exec::OperandAttr>())
    write(operand, to->add_outputs());
  for (auto param : op.getParams().getAsRange<exec::AffineAttr>())
    write(param, to->add_params());
  to->set_tiles(op.getTiles());
  to->set_grain(op.getGrain());
  for (auto check : op.getChecks().getAsRange<exec::CheckAttr>()) {
    program::Check *part = to->add_checks();
    part->set_message(check.getMessage().str());
    part->set_low(check.getLow());
    part->set_high(check.getHigh());
    part->set_source(check.getSource().str());
  }
}

/// What sends and receives have in common.
template <typename Op, typename Message> void ProgramWriter::writeMessage(Op op, Message *to) {
  to->set_mesh(op.getMesh().str());
  write(op.getPeer(), to->mutable_peer());
  assign(op.getSteps(), to->mutable_steps());
  to->set_tag(op.getTag());
}

void ProgramWriter::write(exec::InstructionOpInterface op, program::Instruction *to) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](exec::AttentionOp op) { write(op, to->mutable_attention()); })
      .Case([&](exec::AttentionBackwardOp op) { write(op, to->mutable_attention_backward()); })
      .Case([&](exec::CollectiveOp op) { write(op, to->mutable_collective()); })
      .Case([&](exec::ConvOp op) { write(op, to->mutable_conv()); })
      .Case([&](exec::CopyOp op) {
        write(op.getInput(), to->mutable_copy()->mutable_input());
        write(op.getOutput(), to->mutable_copy()->mutable_output());
      })
      .Case([&](exec::FillOp op) {
        write(op.getOutput(), to->mutable_fill()->mutable_output());
        to->mutable_fill()->set_value(getElementBytes(op.getValue()));
      })
      .Case([&](exec::GemmOp op) {
        write(op.getA(), to->mutable_gemm()->mutable_a());
        write(op.getB(), to->mutable_gemm()->mutable_b());
        write(op.getC(), to->mutable_gemm()->mutable_c());
      })
      .Case([&](exec::LaunchOp op) { write(op, to->mutable_launch()); })
      .Case([&](exec::ObserveOp op) {
        write(op.getInput(), to->mutable_observe()->mutable_input());
        to->mutable_observe()->set_port(gradients.lookup(op.getPort()));
      })
      .Case([&](exec::ReceiveOp op) {
        write(op.getOutput(), to->mutable_receive()->mutable_output());
        writeMessage(op, to->mutable_receive());
      })
      .Case([&](exec::SendOp op) {
        write(op.getInput(), to->mutable_send()->mutable_input());
        writeMessage(op, to->mutable_send());
        writeAxes(op.getLeaders(), to->mutable_send()->mutable_leaders());
      })
      .Case([&](exec::WaitOp op) { to->mutable_wait()->set_token(op.getToken()); });
  if (exec::AsyncAttr async = op.getAsyncAttr()) {
    to->mutable_async()->set_stream(toProto(async.getStream()));
    to->mutable_async()->set_token(async.getToken());
  }
  exec::PriceAttr price = op.getPrice();
  to->set_source(price.getSource().str());
  to->set_flops(price.getFlops());
  to->set_bytes_read(price.getBytesRead());
  to->set_bytes_written(price.getBytesWritten());
  to->set_shape_class(price.getShapeClass().str());
}

void ProgramWriter::write(exec::SegmentOp segment) {
  program::Segment *to = proto.add_segments();
  to->set_name(segment.getSymName().str());
  for (auto op : segment.getBody().getOps<exec::InstructionOpInterface>())
    write(op, to->add_instructions());
}

static void write(exec::IndexAttr index, program::Index *to) {
  to->set_first(index.getFirst());
  assign(index.getSteps(), to->mutable_steps());
}

void ProgramWriter::write(exec::ScheduleEntryAttr entry, program::ScheduleEntry *to) {
  to->set_segment(segments.lookup(entry.getSegment().getValue()));
  to->set_phase(toProto(entry.getPhase()));
  ::write(entry.getMicrobatch(), to->mutable_microbatch());
  ::write(entry.getTokenSlice(), to->mutable_token_slice());
  for (exec::FrameAttr frame : entry.getFrames()) {
    auto arena = arenaNumbers.find({frame.getArena(), frame.getBegin()});
    if (arena == arenaNumbers.end()) // nothing lies in one
      continue;
    program::FrameBinding *binding = to->add_frames();
    binding->set_arena(arena->second);
    ::write(frame.getIndex(), binding->mutable_index());
  }
}

void ProgramWriter::write(ArrayAttr schedule, ScheduleItems *to) {
  for (Attribute item : schedule) {
    if (auto entry = dyn_cast<exec::ScheduleEntryAttr>(item)) {
      write(entry, to->Add()->mutable_entry());
      continue;
    }
    auto repeat = cast<exec::RepeatAttr>(item);
    program::Repeat *part = to->Add()->mutable_repeat();
    part->set_times(repeat.getTimes());
    write(repeat.getBody(), part->mutable_body());
  }
}

void ProgramWriter::write(exec::ProgramOp op) {
  for (auto arena : op.getBody().getOps<exec::ArenaOp>()) {
    arenaNumbers[{arena.getKind(), arena.getBegin()}] = proto.arenas_size();
    program::Arena *to = proto.add_arenas();
    to->set_kind(toProto(arena.getKind()));
    to->set_bytes(arena.getBytes());
    to->set_alignment(arena.getAlignment());
    to->set_frames(arena.getFrames());
  }
  for (auto port : op.getBody().getOps<exec::PortOp>()) // instructions name them
    write(port);
  llvm::DenseMap<StringAttr, exec::ScheduleEntryAttr> entries;
  exec::walkSchedule(op.getSchedule(), [&](exec::ScheduleEntryAttr entry) {
    entries[entry.getSegment().getAttr()] = entry;
  });
  for (Operation &member : op.getBody().front()) {
    if (auto segment = dyn_cast<exec::SegmentOp>(member)) {
      segments[segment.getSymName()] = proto.segments_size();
      if (exec::ScheduleEntryAttr entry = entries.lookup(segment.getSymNameAttr()))
        for (exec::FrameAttr frame : entry.getFrames())
          begins[frame.getArena()] = frame.getBegin();
      write(segment);
      begins.clear();
    } else if (auto block = dyn_cast<exec::WeightBlockOp>(member)) {
      write(block);
    }
  }
  write(op.getSchedule(), proto.mutable_schedule());
}

static void writeMesh(exec::MeshOp mesh, plan::Mesh *to) {
  to->set_name(mesh.getSymName().str());
  for (auto axis : mesh.getAxes().getAsRange<exec::MeshAxisAttr>()) {
    plan::Axis *part = to->add_axes();
    part->set_name(axis.getName().str());
    part->set_size(axis.getSize());
  }
  if (mesh.getDeviceOrder())
    assign(*mesh.getDeviceOrder(), to->mutable_device_order());
  to->set_first_device(mesh.getFirstRank());
}

static void writeWeight(exec::WeightOp weight, program::Weight *to) {
  to->set_name(weight.getSymName().str());
  to->set_dtype(toProto(weight.getDtype()));
  assign(weight.getShape(), to->mutable_shape());
  to->set_constant(weight.getConstant());
  if (auto splat = dyn_cast<SplatElementsAttr>(weight.getStorage()))
    to->set_splat(getElementBytes(splat.getSplatValue<Attribute>()));
}

/// What the phase that made the step says of it.
static void writeTraining(DictionaryAttr attribute, program::Training *to) {
  if (auto loss = attribute.getAs<StringAttr>("loss"))
    to->set_loss(loss.str());
  if (auto parameters = attribute.getAs<ArrayAttr>("parameters"))
    for (auto name : parameters.getAsRange<StringAttr>())
      to->add_parameters(name.str());
  if (auto labels = attribute.getAs<StringAttr>("labels"))
    to->set_labels(labels.str());
  auto microbatches = attribute.getAs<IntegerAttr>("microbatches");
  to->set_microbatches(microbatches ? microbatches.getInt() : 1);
}

void weft::serializeProgram(ModuleOp module, program::Executable &executable,
                            SmallVectorImpl<exec::WeightOp> &weights) {
  for (exec::MeshOp mesh : module.getOps<exec::MeshOp>())
    writeMesh(mesh, executable.add_meshes());
  if (auto training = module->getAttrOfType<DictionaryAttr>("weft.training"))
    writeTraining(training, executable.mutable_training());
  llvm::MapVector<StringAttr, uint32_t> weightNumbers;
  for (exec::ProgramOp op : module.getOps<exec::ProgramOp>()) {
    program::RankRange *ranks = executable.add_ranks();
    ranks->set_begin(op.getBegin());
    ranks->set_end(op.getEnd());
    ranks->set_rank_class(executable.classes_size());
    ProgramWriter(*executable.add_classes(), weightNumbers).write(op);
  }
  SymbolTable symbols(module);
  for (auto &[name, number] : weightNumbers) {
    auto weight = symbols.lookup<exec::WeightOp>(name);
    writeWeight(weight, executable.add_weights());
    weights.push_back(weight);
  }
}

void weft::serializeInstruction(exec::InstructionOpInterface op,
                                program::Instruction &instruction) {
  program::Program none;
  llvm::MapVector<StringAttr, uint32_t> weights;
  ProgramWriter(none, weights).write(op, &instruction);
}

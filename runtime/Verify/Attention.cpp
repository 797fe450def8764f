#include "runtime/Verify/Attention.h"

#include "runtime/Verify/Shapes.h"

namespace weft::runtime {

Accesses getAccesses(const program::Attention &attention) {
  Accesses accesses{{&attention.query(), &attention.key(), &attention.value()},
                    {&attention.output()}};
  if (attention.has_mask())
    accesses.reads.push_back(&attention.mask());
  if (attention.has_bias())
    accesses.reads.push_back(&attention.bias());
  if (attention.has_lse())
    accesses.writes.push_back(&attention.lse());
  return accesses;
}

/// What the attention wrote is read.
Accesses getAccesses(const program::AttentionBackward &backward) {
  Accesses accesses = getAccesses(backward.attention());
  accesses.reads.insert(accesses.reads.end(), accesses.writes.begin(), accesses.writes.end());
  accesses.reads.push_back(&backward.gradient());
  accesses.writes = {&backward.query_gradient(), &backward.key_gradient(),
                     &backward.value_gradient()};
  return accesses;
}

static void checkExtents(ProgramContext &context, const char *role, const program::Operand &operand,
                         const Shape &expected) {
  if (toShape(operand.shape()) != expected)
    context.reasons.add("attention's {} is {} where {} is needed", role,
                        str(toShape(operand.shape())), str(expected));
}

/// The runtime computes attention in f32.
static void checkFloats(ProgramContext &context, const program::Operand &operand) {
  if (!isFloat(operand.dtype()) || getElementSize(operand.dtype()) > 4)
    context.reasons.add("attention of {}", getName(operand.dtype()));
}

static void checkRows(ProgramContext &context, const char *role, const program::Operand &operand) {
  if (operand.shape(3) > 1 && operand.strides(3) != 1)
    context.reasons.add("attention whose {} has a stride of {} in its rows", role,
                        operand.strides(3));
}

static void checkElements(ProgramContext &context, const program::Attention &attention) {
  std::vector<const program::Operand *> floats{&attention.query(), &attention.key(),
                                               &attention.value(), &attention.output()};
  if (attention.has_bias())
    floats.push_back(&attention.bias());
  checkSameDType(context, floats);
  checkFloats(context, attention.query());
  if (attention.has_lse())
    checkFloats(context, attention.lse());
  if (attention.has_mask() && attention.mask().dtype() != program::I1)
    context.reasons.add("attention with a mask of {}", getName(attention.mask().dtype()));
}

/// What holds of attention, whether its output is written or read.
static void checkOperands(ProgramContext &context, const program::Attention &attention) {
  Shape query = toShape(attention.query().shape()), value = toShape(attention.value().shape());
  if (query.size() != 4 || value.size() != 4 || value[1] < 1 || query[1] % value[1] != 0)
    return context.reasons.add("attention of {} to {}", str(query), str(value));
  Shape scores = {query[0], query[1], query[2], value[2]};
  size_t before = context.reasons.size();
  checkExtents(context, "key", attention.key(), {query[0], value[1], value[2], query[3]});
  checkExtents(context, "value", attention.value(), {query[0], value[1], value[2], value[3]});
  checkExtents(context, "output", attention.output(), {query[0], query[1], query[2], value[3]});
  if (attention.has_mask())
    checkExtents(context, "mask", attention.mask(), scores);
  if (attention.has_bias())
    checkExtents(context, "bias", attention.bias(), scores);
  if (attention.has_lse())
    checkExtents(context, "lse", attention.lse(), {query[0], query[1], query[2]});
  if (!program::MaskedRows_IsValid(attention.masked_rows()))
    context.reasons.add("attention with masked rows of kind {}", int(attention.masked_rows()));
  if (context.reasons.size() == before)
    checkElements(context, attention);
}

void checkAttention(ProgramContext &context, const program::Attention &attention) {
  size_t before = context.reasons.size();
  checkOperands(context, attention);
  if (context.reasons.size() == before)
    checkRows(context, "output", attention.output());
}

void checkAttention(ProgramContext &context, const program::AttentionBackward &backward) {
  const program::Attention &attention = backward.attention();
  if (!attention.has_lse())
    context.reasons.add("gradients of attention without the logarithms of its sums");
  size_t before = context.reasons.size();
  checkOperands(context, attention);
  if (context.reasons.size() != before)
    return;
  struct {
    const char *role;
    const program::Operand &gradient, &of;
  } gradients[] = {{"gradient", backward.gradient(), attention.output()},
                   {"query gradient", backward.query_gradient(), attention.query()},
                   {"key gradient", backward.key_gradient(), attention.key()},
                   {"value gradient", backward.value_gradient(), attention.value()}};
  for (const auto &each : gradients) {
    checkExtents(context, each.role, each.gradient, toShape(each.of.shape()));
    checkSameDType(context, {&attention.query(), &each.gradient});
    if (context.reasons.size() == before && &each.gradient != &backward.gradient())
      checkRows(context, each.role, each.gradient);
  }
}

} // namespace weft::runtime

//===- CudnnDescriptors.cpp - descriptors of cuDNN's backend --------------===//

#include "test/cuda/CudnnDescriptors.h"

#include <cstring>
#include <memory>
#include <optional>
#include <set>

namespace weft::test::cudnn {

namespace {

constexpr int64_t numEngines = 3;
constexpr int64_t mostDims = CUDNN_DIM_MAX, mostSpatial = CUDNN_DIM_MAX - 2;

/// An attribute that a descriptor takes, and needs to be finalised.
struct Rule {
  cudnnBackendDescriptorType_t of;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t least, most; ///< values
};

constexpr auto tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
constexpr auto convolutionType = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
constexpr auto forward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto ofKernel = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
constexpr auto graph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
constexpr auto heuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
constexpr auto configuration = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
constexpr auto engineType = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
constexpr auto plan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
constexpr auto pack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
constexpr auto descriptorValue = CUDNN_TYPE_BACKEND_DESCRIPTOR;

/// Scales are floats or doubles: they are looked at apart.
constexpr Rule rules[] = {
    {tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1},
    {tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 1, mostDims},
    {tensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 1, mostDims},
    {tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, 1},
    {tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, 1},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, 1},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, 1},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, 1},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 1, mostSpatial},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 1, mostSpatial},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 1, mostSpatial},
    {convolutionType, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 1, mostSpatial},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1, 1},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1, 1},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, descriptorValue, 1, 1},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, descriptorValue, 1, 1},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, descriptorValue, 1, 1},
    {forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, descriptorValue, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, descriptorValue, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, descriptorValue, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, descriptorValue, 1, 1},
    {ofKernel, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, descriptorValue, 1, 1},
    {graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, 1},
    {graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, descriptorValue, 1, 1},
    {heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, descriptorValue, 1, 1},
    {heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, 1},
    {plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, 1},
    {plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, descriptorValue, 1, 1},
    {pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, 3},
    {pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, 3},
    {pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, 1},
};

const Rule *findRule(cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t name) {
  for (const Rule &rule : rules)
    if (rule.of == of && rule.name == name)
      return &rule;
  return nullptr;
}

bool isScale(cudnnBackendAttributeName_t name) {
  return name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA ||
         name == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA ||
         name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA ||
         name == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA;
}

int64_t getValueBytes(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4; // floats and enumerations
  }
}

struct Alive {
  std::mutex lock;
  std::map<cudnnBackendDescriptor_t, std::unique_ptr<Descriptor>> descriptors;
};

Alive &getAlive() {
  static auto *alive = new Alive;
  return *alive;
}

bool isRowMajor(const Tensor &tensor, std::vector<size_t> order) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0; expected *= tensor.shape[order[i]])
    if (tensor.shape[order[i]] != 1 && tensor.strides[order[i]] != expected)
      return false;
  return true;
}

/// Row-major, or channels last.
bool isPlain(const Tensor &tensor) {
  std::vector<size_t> order(tensor.shape.size()), last = {0};
  for (size_t dim = 0; dim < order.size(); ++dim)
    order[dim] = dim;
  last.insert(last.end(), order.begin() + 2, order.end());
  last.push_back(1);
  return isRowMajor(tensor, order) || isRowMajor(tensor, last);
}

} // namespace

std::string &getLastMessage() {
  thread_local std::string message;
  return message;
}

int64_t getElementBytes(cudnnDataType_t dtype) {
  switch (dtype) {
  case CUDNN_DATA_HALF:
  case CUDNN_DATA_BFLOAT16:
    return 2;
  case CUDNN_DATA_FLOAT:
    return 4;
  case CUDNN_DATA_DOUBLE:
    return 8;
  default:
    return 0;
  }
}

int64_t getWorkspaceBytes(int64_t engine) { return engine * 768; }

int64_t Tensor::getBytes() const {
  int64_t last = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    last += (shape[dim] - 1) * strides[dim];
  return (last + 1) * getElementBytes(dtype);
}

cudnnBackendDescriptor_t createDescriptor(cudnnBackendDescriptorType_t type) {
  if (type != configuration && type != engineType &&
      std::none_of(std::begin(rules), std::end(rules),
                   [&](const Rule &rule) { return rule.of == type; }))
    return nullptr;
  auto made = std::make_unique<Descriptor>(type);
  std::lock_guard guard(getAlive().lock);
  cudnnBackendDescriptor_t handle = made.get();
  getAlive().descriptors[handle] = std::move(made);
  return handle;
}

cudnnStatus_t destroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  std::lock_guard guard(getAlive().lock);
  if (getAlive().descriptors.erase(descriptor) == 0)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "what is destroyed is no descriptor");
  return CUDNN_STATUS_SUCCESS;
}

Descriptor *findDescriptor(cudnnBackendDescriptor_t descriptor) {
  std::lock_guard guard(getAlive().lock);
  auto at = getAlive().descriptors.find(descriptor);
  return at == getAlive().descriptors.end() ? nullptr : at->second.get();
}

cudnnStatus_t Descriptor::set(cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t valueType, int64_t count,
                              const void *given) {
  if (finalised)
    return fail(CUDNN_STATUS_NOT_INITIALIZED, "attribute {} is set after all", int(name));
  const Rule *rule = findRule(type, name);
  if (!rule)
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "descriptor {} has no attribute {}", int(type),
                int(name));
  if (valueType != rule->type && !(isScale(name) && valueType == CUDNN_TYPE_DOUBLE))
    return fail(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "attribute {} of type {} instead of {}",
                int(name), int(valueType), int(rule->type));
  if (count < rule->least || count > rule->most || !given)
    return fail(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "attribute {} with {} values", int(name),
                count);
  auto *bytes = static_cast<const std::byte *>(given);
  Value value{valueType, count, {bytes, bytes + count * getValueBytes(valueType)}};
  values[name] = value;
  if (valueType == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    if (const Descriptor *named = getNamed(name); !named || !named->finalised)
      return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                  "attribute {} names a descriptor that is not finalised", int(name));
  return CUDNN_STATUS_SUCCESS;
}

template <typename T> std::vector<T> Descriptor::getValues(cudnnBackendAttributeName_t name) const {
  const Value &value = values.at(name);
  std::vector<T> list(value.count);
  std::memcpy(list.data(), value.bytes.data(), value.bytes.size());
  return list;
}
template std::vector<void *> Descriptor::getValues(cudnnBackendAttributeName_t name) const;

const Descriptor *Descriptor::getNamed(cudnnBackendAttributeName_t name) const {
  return findDescriptor(getValues<cudnnBackendDescriptor_t>(name)[0]);
}

cudnnStatus_t Descriptor::get(cudnnBackendAttributeName_t name,
                              cudnnBackendAttributeType_t valueType, int64_t most, int64_t *count,
                              void *to) const {
  auto refuse = [&] {
    return fail(CUDNN_STATUS_BAD_PARAM, "descriptor {} has no attribute {} of type {} to read",
                int(type), int(name), int(valueType));
  };
  if (!finalised)
    return fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "descriptor {} is read too early", int(type));
  if (type == plan && name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE &&
      valueType == CUDNN_TYPE_INT64 && most >= 1) {
    *count = 1;
    *static_cast<int64_t *>(to) =
        getWorkspaceBytes(getNamed(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->engine);
    return CUDNN_STATUS_SUCCESS;
  }
  if (type == engineType && name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE &&
      valueType == CUDNN_TYPE_NUMERICAL_NOTE && most >= 1) {
    *count = engine < 2 ? 1 : 0;
    *static_cast<cudnnBackendNumericalNote_t *>(to) =
        engine == 0 ? CUDNN_NUMERICAL_NOTE_TENSOR_CORE : CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    return CUDNN_STATUS_SUCCESS;
  }
  bool isList = type == heuristics && name == CUDNN_ATTR_ENGINEHEUR_RESULTS;
  bool isEngine = type == configuration && name == CUDNN_ATTR_ENGINECFG_ENGINE;
  if (valueType != CUDNN_TYPE_BACKEND_DESCRIPTOR || !(isList || isEngine))
    return refuse();
  *count = isEngine ? 1 : numEngines;
  auto *into = static_cast<cudnnBackendDescriptor_t *>(to);
  for (int64_t i = 0; i < std::min(most, *count); ++i) {
    Descriptor *made = findDescriptor(into[i]);
    if (!made || made->type != (isEngine ? engineType : configuration))
      return refuse();
    made->engine = isEngine ? engine : i;
    made->finalised = true;
    made->values = values; // a configuration knows its graph
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::finalise() {
  for (const Rule &rule : rules)
    if (rule.of == type && !values.count(rule.name))
      return fail(CUDNN_STATUS_BAD_PARAM, "descriptor {} without attribute {}", int(type),
                  int(rule.name));
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  if (type == tensor)
    status = checkTensor();
  else if (type == convolutionType)
    status = checkConvolution();
  else if (type == forward || type == ofKernel)
    status = checkOperation();
  else if (type == plan)
    status = checkPlan();
  else if (type == pack)
    status = checkPack();
  finalised = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t Descriptor::checkTensor() const {
  auto shape = getValues<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  auto strides = getValues<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  auto isNone = [](int64_t number) { return number < 1; };
  if (shape.size() != strides.size() || std::any_of(shape.begin(), shape.end(), isNone) ||
      std::any_of(strides.begin(), strides.end(), isNone))
    return fail(CUDNN_STATUS_BAD_PARAM, "a tensor [{}] of strides [{}]", fmt::join(shape, ", "),
                fmt::join(strides, ", "));
  int64_t alignment = getInteger(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  if (int64_t bytes = getElementBytes(getValues<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)[0]);
      bytes == 0 || alignment % bytes != 0 || (alignment & (alignment - 1)) != 0)
    return fail(CUDNN_STATUS_BAD_PARAM, "a tensor of {} bytes an element, aligned to {}", bytes,
                alignment);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::checkConvolution() const {
  auto spatial = static_cast<size_t>(getInteger(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  for (auto [name, least] : {std::pair(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1),
                             {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1},
                             {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0},
                             {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0}}) {
    auto list = getValues<int64_t>(name);
    if (list.size() != spatial || *std::min_element(list.begin(), list.end()) < least)
      return fail(CUDNN_STATUS_BAD_PARAM, "attribute {} of a convolution: [{}]", int(name),
                  fmt::join(list, ", "));
  }
  auto mode = getValues<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE)[0];
  if (spatial < 2 || spatial > 3 || mode != CUDNN_CROSS_CORRELATION)
    return fail(CUDNN_STATUS_NOT_SUPPORTED, "a convolution of {} spatial dimensions", spatial);
  return CUDNN_STATUS_SUCCESS;
}

Tensor Descriptor::makeTensor() const {
  return {getValues<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)[0],
          getValues<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
          getValues<int64_t>(CUDNN_ATTR_TENSOR_STRIDES),
          getInteger(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT), getInteger(CUDNN_ATTR_TENSOR_UNIQUE_ID)};
}

/// Of an operation. False where what it names is not alive, or of another kind.
bool Descriptor::makeConvolution(Convolution &made) const {
  bool backward = type == ofKernel;
  const Descriptor *input = getNamed(backward ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X
                                              : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
  const Descriptor *kernel = getNamed(backward ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW
                                               : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
  const Descriptor *output = getNamed(backward ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY
                                               : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  const Descriptor *geometry =
      getNamed(backward ? CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC
                        : CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  for (const Descriptor *each : {input, kernel, output})
    if (!each || each->type != tensor)
      return false;
  if (!geometry || geometry->type != convolutionType)
    return false;
  made = {input->makeTensor(),
          kernel->makeTensor(),
          output->makeTensor(),
          geometry->getValues<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
          geometry->getValues<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
          geometry->getValues<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
          geometry->getValues<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS),
          backward};
  return true;
}

cudnnStatus_t Descriptor::checkOperation() const {
  Convolution made;
  if (!makeConvolution(made))
    return fail(CUDNN_STATUS_BAD_PARAM, "an operation of other descriptors than it takes");
  const std::vector<int64_t> &input = made.input.shape, &kernel = made.kernel.shape,
                             &output = made.output.shape;
  size_t rank = made.strides.size() + 2;
  bool fits = input.size() == rank && kernel.size() == rank && output.size() == rank &&
              made.input.dtype == made.output.dtype && made.kernel.dtype == made.output.dtype &&
              input[0] == output[0] && kernel[0] == output[1] && input[1] % kernel[1] == 0 &&
              kernel[0] % (input[1] / kernel[1]) == 0;
  for (size_t dim = 0; fits && dim < made.strides.size(); ++dim) {
    int64_t window = (kernel[dim + 2] - 1) * made.dilations[dim] + 1;
    int64_t room = input[dim + 2] + made.low[dim] + made.high[dim] - window;
    fits = room >= 0 && output[dim + 2] == room / made.strides[dim] + 1;
  }
  std::set<int64_t> ids = {made.input.id, made.kernel.id, made.output.id};
  if (!fits || ids.size() != 3)
    return fail(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "operands [{}], [{}], [{}] do not fit",
                fmt::join(input, ", "), fmt::join(kernel, ", "), fmt::join(output, ", "));
  return CUDNN_STATUS_SUCCESS;
}

/// Whether the engine takes the problem.
cudnnStatus_t Descriptor::checkPlan() const {
  const Descriptor *chosen = getNamed(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Descriptor *of = chosen->getNamed(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  const Descriptor *operation = of ? of->getNamed(CUDNN_ATTR_OPERATIONGRAPH_OPS) : nullptr;
  Convolution made;
  if (!operation || !operation->makeConvolution(made))
    return fail(CUDNN_STATUS_BAD_PARAM, "a plan of a graph that is not alive");
  if (!isPlain(made.input) || !isPlain(made.kernel) || !isPlain(made.output))
    return fail(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "engine {} takes no such layout",
                chosen->engine);
  if (made.low != made.high)
    return fail(CUDNN_STATUS_NOT_SUPPORTED_PADDING, "engine {} takes no such pads", chosen->engine);
  if (chosen->engine == 2 && made.kernelGradient && made.input.shape[1] != made.kernel.shape[1])
    return fail(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "engine 2 takes no groups");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::checkPack() const {
  auto ids = getValues<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  if (std::set<int64_t>(ids.begin(), ids.end()).size() != ids.size())
    return fail(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "a pack that names a tensor twice");
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t Descriptor::describe(const Descriptor &addresses, Convolution &made,
                                   int64_t &number) const {
  const Descriptor *chosen = getNamed(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Descriptor *of = chosen ? chosen->getNamed(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH) : nullptr;
  const Descriptor *operation = of ? of->getNamed(CUDNN_ATTR_OPERATIONGRAPH_OPS) : nullptr;
  if (!operation || !operation->makeConvolution(made))
    return fail(CUDNN_STATUS_BAD_PARAM, "a plan of a graph that is not alive");
  number = chosen->engine;
  auto ids = addresses.getValues<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto pointers = addresses.getValues<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (Tensor *each : {&made.input, &made.kernel, &made.output}) {
    auto at = std::find(ids.begin(), ids.end(), each->id);
    if (at == ids.end())
      return fail(CUDNN_STATUS_BAD_PARAM, "a pack without tensor {}", each->id);
    each->data = pointers[at - ids.begin()];
    if (reinterpret_cast<uintptr_t>(each->data) % each->alignment != 0)
      return fail(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "tensor {} at {} not aligned to {}",
                  each->id, each->data, each->alignment);
  }
  return CUDNN_STATUS_SUCCESS;
}

} // namespace weft::test::cudnn

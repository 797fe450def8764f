//===- ConvPlan.cpp - a convolution as a graph of cuDNN -------------------===//
//
//   tensors, convolution → operation → operation graph → heuristics → engine configurations
//   an engine configuration → execution plan;  plan + variant pack (addresses) → work on a stream
//
// The library lists configurations by how fast it expects them to be, and says in notes what they
// do to numbers. The first is taken that is precise enough, repeats bit for bit and needs little
// workspace; where there is none, the first that takes more memory, and at last one whose sums have
// no fixed order: that is still a right result, and the only one.
//
//===----------------------------------------------------------------------===//

#include "runtime/Cuda/ConvPlan.h"

#include "runtime/Device/View.h"
#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

namespace {

constexpr int64_t modestWorkspace = int64_t{256} << 20; // bytes; faster engines seldom need more
constexpr int64_t packedAlignment = 256;                // bytes, of allocations

/// Numbers by which the variant pack names the tensors.
constexpr int64_t inputId = 1, kernelId = 2, outputId = 3;

cudnnDataType_t getDataType(DType dtype) {
  switch (dtype) {
  case program::F16:
    return CUDNN_DATA_HALF;
  case program::BF16:
    return CUDNN_DATA_BFLOAT16;
  case program::F32:
    return CUDNN_DATA_FLOAT;
  case program::F64:
    return CUDNN_DATA_DOUBLE;
  default:
    throwBadInput("a convolution of {}, which cuDNN does not compute", getName(dtype));
  }
}

CudnnDescriptor makeTensor(const ConvTensor &tensor, DType dtype, int64_t id) {
  CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, getDataType(dtype));
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.shape);
  made.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, tensor.alignment);
  made.finalise();
  return made;
}

CudnnDescriptor makeConvolution(const ConvProblem &problem) {
  CudnnDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  cudnnDataType_t sums = problem.dtype == program::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sums);
  made.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, static_cast<int64_t>(problem.strides.size()));
  made.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, problem.strides);
  made.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, problem.low);
  made.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, problem.high);
  made.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, problem.dilations);
  made.finalise();
  return made;
}

/// Sets result = alpha · convolution + beta · result to alpha 1 and beta 0.
void setScales(CudnnDescriptor &operation, DType dtype, cudnnBackendAttributeName_t alpha,
               cudnnBackendAttributeName_t beta) {
  if (dtype == program::F64) {
    operation.set(alpha, CUDNN_TYPE_DOUBLE, 1.0);
    operation.set(beta, CUDNN_TYPE_DOUBLE, 0.0);
  } else {
    operation.set(alpha, CUDNN_TYPE_FLOAT, 1.0f);
    operation.set(beta, CUDNN_TYPE_FLOAT, 0.0f);
  }
}

/// All descriptors of the graph that is the operation alone, the graph the last.
std::vector<CudnnDescriptor> makeGraph(const ConvProblem &problem, cudnnHandle_t handle) {
  std::vector<CudnnDescriptor> parts;
  parts.push_back(makeTensor(problem.input, problem.dtype, inputId));
  parts.push_back(makeTensor(problem.kernel, problem.dtype, kernelId));
  parts.push_back(makeTensor(problem.output, problem.dtype, outputId));
  parts.push_back(makeConvolution(problem));
  CudnnDescriptor operation(problem.kernelGradient
                                ? CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR
                                : CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  if (problem.kernelGradient) {
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, parts[0]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, parts[1]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, parts[2]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, parts[3]);
    setScales(operation, problem.dtype, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
  } else {
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, parts[0]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, parts[1]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, parts[2]);
    operation.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, parts[3]);
    setScales(operation, problem.dtype, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
  }
  operation.finalise();
  CudnnDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.finalise();
  parts.push_back(std::move(operation));
  parts.push_back(std::move(graph));
  return parts;
}

/// Adds the configurations of one list of the library's, the best first; none where it has none.
void addConfigurations(const CudnnDescriptor &graph, cudnnBackendHeurMode_t mode,
                       std::vector<CudnnDescriptor> &to) {
  CudnnDescriptor list(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  list.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  list.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (list.tryToFinalise() != CUDNN_STATUS_SUCCESS)
    return;
  int64_t count = list.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                            /*values=*/nullptr);
  std::vector<CudnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i)
    raw.push_back(found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  count =
      list.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, raw.data());
  std::move(found.begin(), found.begin() + std::min<int64_t>(count, found.size()),
            std::back_inserter(to));
}

/// What a configuration's engine does to numbers.
std::vector<cudnnBackendNumericalNote_t> getNotes(const CudnnDescriptor &configuration) {
  CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  configuration.read(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &raw);
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  int64_t count = engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                              static_cast<int64_t>(notes.size()), notes.data());
  notes.resize(std::min<int64_t>(count, notes.size()));
  return notes;
}

bool isPrecise(const std::vector<cudnnBackendNumericalNote_t> &notes, DType dtype) {
  return std::none_of(notes.begin(), notes.end(), [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE: // they multiply f32 as tensor floats of 10 bits
      return dtype == program::F32;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_FFT: // an infinity would be in every element that is near it
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return true;
    default:
      return false;
    }
  });
}

bool repeats(const std::vector<cudnnBackendNumericalNote_t> &notes) {
  return std::find(notes.begin(), notes.end(), CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) ==
         notes.end();
}

struct FinishedPlan {
  CudnnDescriptor plan;
  int64_t workspaceBytes;
};

/// None where the configuration cannot be had after all; `reason` is why.
std::optional<FinishedPlan> finish(const CudnnDescriptor &configuration, cudnnHandle_t handle,
                                   std::string &reason) {
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (cudnnStatus_t status = plan.tryToFinalise(); status != CUDNN_STATUS_SUCCESS) {
    reason = describe(status);
    return std::nullopt;
  }
  int64_t bytes = plan.getInteger(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return FinishedPlan{std::move(plan), bytes};
}

/// Tries configurations in their order, the better kinds first.
std::optional<FinishedPlan> choose(const std::vector<CudnnDescriptor> &configurations, DType dtype,
                                   cudnnHandle_t handle, std::string &reason) {
  std::optional<FinishedPlan> large, unordered;
  for (const CudnnDescriptor &configuration : configurations) {
    std::vector<cudnnBackendNumericalNote_t> notes = getNotes(configuration);
    if (!isPrecise(notes, dtype) || (!repeats(notes) && unordered))
      continue;
    std::optional<FinishedPlan> plan = finish(configuration, handle, reason);
    if (!plan)
      continue;
    if (!repeats(notes))
      unordered = std::move(plan);
    else if (plan->workspaceBytes <= modestWorkspace)
      return plan;
    else if (!large || plan->workspaceBytes < large->workspaceBytes)
      large = std::move(plan);
  }
  return large ? std::move(large) : std::move(unordered);
}

} // namespace

ConvTensor ConvTensor::makePacked(std::vector<int64_t> shape) {
  std::vector<int64_t> strides = getRowMajorStrides(shape);
  return {std::move(shape), std::move(strides), packedAlignment};
}

std::optional<ConvPlan> ConvPlan::make(const CudaContext &context, const ConvProblem &problem,
                                       std::string &reason) {
  getDataType(problem.dtype); // throws for those that no layout helps
  std::shared_ptr<CudnnHandle> handle = getCudnn(context);
  std::vector<CudnnDescriptor> parts, configurations;
  reason = "no engine is precise enough";
  try {
    parts = makeGraph(problem, handle->get());
    addConfigurations(parts.back(), CUDNN_HEUR_MODE_A, configurations);
    addConfigurations(parts.back(), CUDNN_HEUR_MODE_FALLBACK, configurations);
  } catch (const Error &error) { // a graph that is refused as it is
    reason = error.what();
    return std::nullopt;
  }
  std::optional<FinishedPlan> plan = choose(configurations, problem.dtype, handle->get(), reason);
  if (!plan)
    return std::nullopt;
  std::move(configurations.begin(), configurations.end(), std::back_inserter(parts));
  return ConvPlan(std::move(handle), std::move(parts), std::move(plan->plan), plan->workspaceBytes);
}

void ConvPlan::enqueue(const Addresses &addresses, CUstream stream) {
  auto known = packs.find(addresses);
  if (known == packs.end()) {
    CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    std::vector<int64_t> ids = {inputId, kernelId, outputId};
    std::array<void *, 4> pointers;
    for (size_t i = 0; i < pointers.size(); ++i)
      pointers[i] = reinterpret_cast<void *>(addresses[i]);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             static_cast<int64_t>(ids.size()), pointers.data());
    pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, pointers.back());
    pack.finalise();
    known = packs.emplace(addresses, std::move(pack)).first;
  }
  check(cudnnSetStream(handle->get(), stream), "cudnnSetStream");
  check(cudnnBackendExecute(handle->get(), plan.get(), known->second.get()), "cudnnBackendExecute");
}

} // namespace weft::runtime

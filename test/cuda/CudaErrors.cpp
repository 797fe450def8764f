//===- CudaErrors.cpp - names of errors -----------------------------------===//

#include "test/cuda/Failure.h"

namespace {

struct ErrorName {
  CUresult code;
  const char *name, *text;
};

#define WEFT_ERROR(code, text) {code, #code, text}
constexpr ErrorName errorNames[] = {
    WEFT_ERROR(CUDA_SUCCESS, "no error"),
    WEFT_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    WEFT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    WEFT_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    WEFT_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    WEFT_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    WEFT_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    WEFT_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    WEFT_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
               "no kernel image is available for execution on the device"),
    WEFT_ERROR(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    WEFT_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    WEFT_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    WEFT_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    WEFT_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    WEFT_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    WEFT_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    WEFT_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    WEFT_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    WEFT_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef WEFT_ERROR

const ErrorName *find(CUresult code) {
  for (const ErrorName &each : errorNames)
    if (each.code == code)
      return &each;
  return nullptr;
}

} // namespace

CUresult cuGetErrorName(CUresult code, const char **name) {
  const ErrorName *found = find(code);
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text) {
  const ErrorName *found = find(code);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

# Finds what the device `cuda` is built on: CUDA's driver interface, cuBLASLt, cuDNN and NCCL. No nvcc: kernels of the
# device's own are made by clang++, and those of programs by the compiler. Sets
#   WEFT_CUDA_FOUND      whether all of it is there
#   WEFT_CUDA_MISSING    what is not, for a message
#   WEFT_CUDA_CLANG      a clang++ that makes PTX, and
#   WEFT_CUDA_PTX_FLAGS  how
#   WEFT_CUDA_INCLUDES   folders of headers
#   WEFT_CUDA_LIBRARIES  full paths
#   WEFT_CUDA_RUNPATH    folders of the libraries, but for the driver's: its stub is for linking alone

set(WEFT_CUDA_HINTS ${CUDAToolkit_ROOT} $ENV{CUDAToolkit_ROOT} $ENV{CUDA_PATH} /usr/local/cuda)
set(WEFT_CUDA_FOUND TRUE)
set(WEFT_CUDA_MISSING "")
set(WEFT_CUDA_INCLUDES "")
set(WEFT_CUDA_LIBRARIES "")
set(WEFT_CUDA_RUNPATH "")

foreach(header cuda.h cublasLt.h cudnn.h nccl.h)
  string(MAKE_C_IDENTIFIER "WEFT_CUDA_INCLUDE_${header}" variable)
  find_path(${variable} ${header} HINTS ${WEFT_CUDA_HINTS} PATH_SUFFIXES include targets/x86_64-linux/include)
  mark_as_advanced(${variable})
  if(${variable})
    list(APPEND WEFT_CUDA_INCLUDES ${${variable}})
  else()
    list(APPEND WEFT_CUDA_MISSING ${header})
  endif()
endforeach()
list(REMOVE_DUPLICATES WEFT_CUDA_INCLUDES)

# The stub of libcuda first: the driver itself need not be installed where Weft is built.
find_library(WEFT_CUDA_LIBRARY_cuda cuda HINTS ${WEFT_CUDA_HINTS} PATH_SUFFIXES lib64/stubs lib/stubs lib64 lib)
foreach(library cublasLt cudnn nccl)
  find_library(WEFT_CUDA_LIBRARY_${library} ${library} HINTS ${WEFT_CUDA_HINTS} PATH_SUFFIXES lib64 lib)
endforeach()
foreach(library cuda cublasLt cudnn nccl)
  set(found ${WEFT_CUDA_LIBRARY_${library}})
  mark_as_advanced(WEFT_CUDA_LIBRARY_${library})
  if(NOT found)
    list(APPEND WEFT_CUDA_MISSING lib${library}.so)
    continue()
  endif()
  list(APPEND WEFT_CUDA_LIBRARIES ${found})
  if(NOT library STREQUAL "cuda")
    get_filename_component(folder ${found} DIRECTORY)
    list(APPEND WEFT_CUDA_RUNPATH ${folder})
  endif()
endforeach()
list(REMOVE_DUPLICATES WEFT_CUDA_RUNPATH)

# The newest first: those before 18 have no attribute for kernels.
find_program(WEFT_CUDA_CLANG NAMES clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++
             HINTS ${LLVM_TOOLS_BINARY_DIR} DOC "clang++ that makes PTX")
# The version of PTX that programs' kernels have too (compiler/Kernel/KernelTarget.cpp): clang would take that of a toolkit that
# it finds, which drivers may be too old for, or one that is too old for the chip.
set(WEFT_CUDA_PTX_FLAGS --target=nvptx64-nvidia-cuda -march=sm_80 --cuda-path=${CMAKE_BINARY_DIR} --cuda-feature=+ptx83 -std=c++20)
if(WEFT_CUDA_CLANG)
  set(kernel ${CMAKE_BINARY_DIR}/CMakeFiles/WeftCudaKernel.cpp)
  file(WRITE ${kernel} "__attribute__((nvptx_kernel)) void kernel() {}\n")
  execute_process(COMMAND ${WEFT_CUDA_CLANG} ${WEFT_CUDA_PTX_FLAGS} -S ${kernel} -o - OUTPUT_VARIABLE ptx ERROR_QUIET)
endif()
if(NOT WEFT_CUDA_CLANG OR NOT ptx MATCHES "[.]entry")
  list(APPEND WEFT_CUDA_MISSING "clang++ that makes PTX")
endif()

if(WEFT_CUDA_MISSING)
  set(WEFT_CUDA_FOUND FALSE)
  list(JOIN WEFT_CUDA_MISSING ", " WEFT_CUDA_MISSING)
endif()

# Finds MLIR 22 and declares how TableGen files become headers.

if(NOT MLIR_DIR AND EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
  set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir)
endif()
find_package(MLIR REQUIRED CONFIG) # its version file refuses a version argument
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Weft needs MLIR 22, found ${LLVM_VERSION}: set MLIR_DIR")
endif()
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITIONS_LIST})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

# The headers of MLIR that nearly every file reads: parsed once a build tree, they are most of what a small file costs.
set(WEFT_MLIR_HEADERS
  <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/DialectImplementation.h>
  <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/IR/SymbolTable.h>
  <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/Pass.h>
  <mlir/Pass/PassManager.h>)
# And what everything above the dialects reads.
set(WEFT_IR_HEADERS ${WEFT_MLIR_HEADERS} <dialects/Dist/IR/DistDialect.h> <dialects/Weft/IR/WeftDialect.h>)

# weft_tablegen(TARGET FILE.td [OUT -gen-flag…]…): generates the pairs and names them as TARGET.
function(weft_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(arguments ${ARGN})
  while(arguments)
    list(POP_FRONT arguments out flags)
    separate_arguments(flags)
    mlir_tablegen(${out} ${flags})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# Compiler settings and the functions that declare Weft's libraries and tools.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET default)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# An installed prefix may be moved: it finds its own modules beside itself, and LLVM where the package lies.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(WEFT_CCACHE ccache)
if(WEFT_CCACHE) # what it must be told to keep files that use precompiled headers
  set(WEFT_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${WEFT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${WEFT_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WEFT_LAUNCHER})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
find_program(WEFT_MOLD mold)
if(WEFT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Werror)
if(WEFT_SANITIZE)
  # vptr would need the type information of every class of LLVM, some of which its package hides.
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize=vptr)
endif()
if(WEFT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# weft_precompiled_headers(NAME HEADERS … [DEPENDS …]): headers that libraries share, parsed once, after DEPENDS are made.
function(weft_precompiled_headers name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} STATIC ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# weft_library(NAME SOURCES … [LINK …] [DEPENDS …] [PRECOMPILED …]): a static library of the compiler; links libMLIR and
# libLLVM, is built after the generated dialect headers in DEPENDS, and reads WeftIRHeaders or PRECOMPILED first.
function(weft_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED WeftIRHeaders)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
endfunction()

# weft_plain_library(NAME SOURCES … [LINK …] [PRECOMPILED …]): a static library that must not see MLIR (the runtime, pure
# algorithms).
function(weft_plain_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()

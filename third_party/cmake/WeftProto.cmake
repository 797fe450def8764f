# weft_proto_library(NAME FILE.proto…): C++ classes of protobuf files, named and imported by their path from the root.
function(weft_proto_library name)
  set(generated)
  foreach(proto ${ARGN})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${proto})
    string(REGEX REPLACE "\\.proto$" "" stem ${path})
    set(outputs ${PROJECT_BINARY_DIR}/${stem}.pb.cc ${PROJECT_BINARY_DIR}/${stem}.pb.h)
    add_custom_command(
      OUTPUT ${outputs}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${PROJECT_BINARY_DIR} ${path}
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      DEPENDS ${PROJECT_SOURCE_DIR}/${path}
      VERBATIM)
    list(APPEND generated ${outputs})
  endforeach()
  add_library(${name} STATIC ${generated})
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
endfunction()

# weft_proto_library(NAME FILE.proto…): C++ classes of protobuf files, named and imported by their path from the root.
# NAMEHeaders is for who uses their enumerations alone: a module, since a process may hold the classes only once.
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
  add_custom_target(${name}Files DEPENDS ${generated})
  add_library(${name}Headers INTERFACE)
  target_include_directories(${name}Headers SYSTEM INTERFACE ${PROJECT_BINARY_DIR})
  target_link_libraries(${name}Headers INTERFACE protobuf::libprotobuf)
  add_dependencies(${name}Headers ${name}Files)
  add_library(${name} STATIC ${generated})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC ${name}Headers)
endfunction()

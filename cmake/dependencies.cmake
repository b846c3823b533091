# The libraries that Spindle uses; Debian 12's packages are the reference, `conan.txt` names the same.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(tl-expected REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)

# Debian ships Asio as headers, without a CMake package; Conan brings one.
find_package(asio QUIET)
if(NOT TARGET asio::asio)
  find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
  add_library(asio::asio INTERFACE IMPORTED)
  target_include_directories(asio::asio INTERFACE ${ASIO_INCLUDE_DIR})
endif()
# Asio 1.22 looks for std::aligned_alloc before it has included a header of the standard library: whether a source finds it
# depends on what that includes first, and memory that one source takes from malloc another gives to operator delete.
set_property(TARGET asio::asio APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS ASIO_STANDALONE ASIO_NO_DEPRECATED
                                               ASIO_DISABLE_STD_ALIGNED_ALLOC)

# Editing of the line at the prompt of spuser; without it the terminal's own has to do.
find_path(LIBEDIT_INCLUDE_DIR histedit.h)
find_library(LIBEDIT_LIBRARY edit)

if(SPINDLE_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
if(SPINDLE_BENCH)
  find_package(benchmark REQUIRED)
endif()

# Adds the generated code of `.proto` files to `target`. Generated code answers to its generator's warnings, not ours.
function(spindle_protobuf target)
  set(generated_dir ${CMAKE_BINARY_DIR}/generated)
  foreach(proto IN LISTS ARGN)
    cmake_path(REMOVE_EXTENSION proto OUTPUT_VARIABLE stem)
    add_custom_command(
      OUTPUT ${generated_dir}/${stem}.pb.cc ${generated_dir}/${stem}.pb.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${generated_dir}
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${generated_dir} ${PROJECT_SOURCE_DIR}/${proto}
      DEPENDS ${proto}
      VERBATIM)
    target_sources(${target} PRIVATE ${generated_dir}/${stem}.pb.cc ${generated_dir}/${stem}.pb.h)
  endforeach()
  target_include_directories(${target} SYSTEM PUBLIC ${generated_dir})
  target_link_libraries(${target} PUBLIC protobuf::libprotobuf)
endfunction()

# What every target of the project is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# No NDEBUG: assertions stay on in every build. No vectors of neighbouring members: a load of two that were just written
# one by one waits for both writes, and most of what is handed on here was just written (docs/performance.md).
# `Sanitize` is for the trees with sanitizers, and the one for coverage: -O1 is their fastest way to results, compilation
# included.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -fno-tree-slp-vectorize")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -D_GLIBCXX_ASSERTIONS")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these settings, and the option below, to be cached.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

add_library(spindle_options INTERFACE)
target_include_directories(spindle_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(spindle_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Nobody replaces our functions at run time: GCC may inline them within a file, as Clang does anyway.
  target_compile_options(spindle_options INTERFACE -fno-semantic-interposition)
endif()

if(SPINDLE_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees uninitialized members in the standard library's own code once it is instrumented.
    target_compile_options(spindle_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  add_compile_options(-fsanitize=${SPINDLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SPINDLE_SANITIZE})
  if(SPINDLE_SANITIZE MATCHES thread)
    # The thread sanitizer does not know fences. Those of Asio stand beside its locks.
    add_compile_definitions(ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
if(SPINDLE_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
if(SPINDLE_FUZZ)
  # Everything counts its branches for the fuzzer; only the fuzz targets link the fuzzer's main(). What is not
  # inlined pays for its sanitizers in each call, and a fuzzer runs for longer than it takes to compile.
  add_compile_options(-O2 -fsanitize=fuzzer-no-link
                      -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/uncounted.txt)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

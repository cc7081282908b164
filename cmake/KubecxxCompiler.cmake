# SPDX-License-Identifier: Apache-2.0
# Warnings and sanitizers for the project's own targets. They do not propagate to consumers of the
# libraries.

add_library(kubecxx_compiler INTERFACE)
# Headers that are not installed: #include "<folder>/<name>.hpp" from src/, "testkit/<folder>/<name>.hpp" from testkit/.
target_include_directories(kubecxx_compiler INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/testkit/include)
target_compile_options(kubecxx_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of these in inlined standard library code.
  target_compile_options(kubecxx_compiler INTERFACE
    -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  # Installed archives must also be usable with other compilers.
  target_compile_options(kubecxx_compiler INTERFACE -ffat-lto-objects)
endif()
if(KUBECXX_WERROR)
  target_compile_options(kubecxx_compiler INTERFACE -Werror)
endif()
if(KUBECXX_SANITIZE)
  target_compile_options(kubecxx_compiler INTERFACE
    -fsanitize=${KUBECXX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kubecxx_compiler INTERFACE -fsanitize=${KUBECXX_SANITIZE})
endif()
if(KUBECXX_BUILD_FUZZERS)
  target_compile_options(kubecxx_compiler INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Uses ccache, if it is installed, to speed up rebuilds of the same sources.
find_program(KUBECXX_CCACHE ccache)
if(KUBECXX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${KUBECXX_CCACHE})
endif()

# kubecxx_c_program(<target>): a C program that only depends on libkubecxx.so and its header.
function(kubecxx_c_program target)
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -pedantic)
  if(KUBECXX_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_link_libraries(${target} PRIVATE kube::c Threads::Threads)
  if(KUBECXX_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${KUBECXX_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PRIVATE -fsanitize=${KUBECXX_SANITIZE})
  endif()
endfunction()

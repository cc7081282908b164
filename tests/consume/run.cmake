# SPDX-License-Identifier: Apache-2.0
# Installs the build into a folder, then builds and runs a project that uses it, with CMake and with
# pkg-config, and the project shown in README.md. Called by CTest: cmake -DBUILD=... -DSOURCE=...
# -DREADME=... -DWORK=... -DCXX=... -P run.cmake
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# The installed package must not contain paths of this machine; other machines have their libraries
# elsewhere.
file(GLOB exports ${WORK}/prefix/${LIBDIR}/cmake/kubecxx/*.cmake)
foreach(file IN LISTS exports)
  file(STRINGS ${file} absolute REGEX "[\"; ]/[a-z]+/")
  if(absolute)
    message(FATAL_ERROR "${file} has absolute paths: ${absolute}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G Ninja
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consume)
message(STATUS "${output}")

find_program(pkg_config pkg-config)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${WORK}/prefix/${LIBDIR}/pkgconfig)
  run(${pkg_config} --cflags --libs kubecxx-testkit)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${CXX} ${SOURCE}/main.cpp -I${WORK}/build/kubegen/consume -o ${WORK}/by-pkg-config ${flags})
  run(${WORK}/by-pkg-config)
endif()

# A project in C that uses only the shared library.
if(EXISTS ${WORK}/prefix/${LIBDIR}/libkubecxx.so)
  run(${CMAKE_COMMAND} -S ${SOURCE}/c -B ${WORK}/build-c -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${WORK}/build-c)
  run(${WORK}/build-c/consume_c)
  message(STATUS "${output}")
  if(pkg_config)
    run(${pkg_config} --cflags --libs kubecxx-c)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(cc -std=c99 -Wall -Wextra -pedantic -Werror ${SOURCE}/c/main.c -o ${WORK}/c-by-pkg-config ${flags}
      -Wl,-rpath,${WORK}/prefix/${LIBDIR})
    run(${WORK}/c-by-pkg-config)
  endif()
endif()

run(sh ${SOURCE}/readme.sh ${README} ${WORK}/prefix ${WORK}/readme ${CXX} ${SOURCE}/foo.yaml)
message(STATUS "${output}")

foreach(compiler ${CXX} clang++)
  run(sh ${SOURCE}/headers.sh ${WORK}/prefix ${WORK}/headers ${compiler})
  message(STATUS "${output}")
endforeach()
run(sh ${SOURCE}/headers.sh ${WORK}/prefix ${WORK}/headers ${CXX} alone)
message(STATUS "${output}")

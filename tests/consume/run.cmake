# SPDX-License-Identifier: Apache-2.0
# Installs the build into a folder of its own, then builds and runs a project that uses it, by CMake and
# by pkg-config. Called by CTest: cmake -DBUILD=... -DSOURCE=... -DWORK=... -DCXX=... -P run.cmake
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
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

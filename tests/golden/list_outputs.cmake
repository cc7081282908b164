# SPDX-License-Identifier: Apache-2.0
# Checks that the file names which the build reads from the schema are those that kubegen writes.
#
#   cmake -DKUBEGEN=<program> -DPROJECT_SOURCE_DIR=<dir> -P list_outputs.cmake

cmake_minimum_required(VERSION 3.25)

set(PROJECT_BINARY_DIR "")
include("${PROJECT_SOURCE_DIR}/cmake/KubecxxGenerate.cmake")
kubecxx_generated_api_files(headers sources)

execute_process(
  COMMAND "${KUBEGEN}" --schema "${KUBECXX_SCHEMA}" --list-outputs
  OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n$" "" output "${output}")
string(REPLACE "\n" ";" actual "${output}")

set(expected ${headers} ${sources})
list(TRANSFORM expected REPLACE "^${KUBECXX_GENERATED_DIR}/" "")
list(SORT actual)
list(SORT expected)
if(NOT "${actual}" STREQUAL "${expected}")
  message(FATAL_ERROR "kubegen writes\n${actual}\nbut the build expects\n${expected}")
endif()

# SPDX-License-Identifier: Apache-2.0
#
# Runs kubegen as part of a build.
#
#   kubecxx_generate(<target> CRDS <file>... [NAMESPACE <ns>] [HEADER <name>])
#
# Generates one header from CustomResourceDefinitions and adds its folder to the include path of
# <target>. HEADER defaults to the name of the first file, with .hpp; NAMESPACE to one derived from
# the API group. The header is regenerated when a file or kubegen itself changes.
#
#   kubecxx_generate(my-controller CRDS crds/foo.yaml NAMESPACE acme HEADER foo.hpp)
#   // in my-controller: #include "foo.hpp", then acme::v1alpha1::Foo

include_guard(GLOBAL)

# Finds the program: built by this project, or imported with the package.
function(_kubecxx_find_kubegen variable)
  if(TARGET kubegen)
    set(${variable} kubegen PARENT_SCOPE)
  elseif(TARGET kube::kubegen)
    set(${variable} kube::kubegen PARENT_SCOPE)
  else()
    message(FATAL_ERROR "kubecxx: the target kubegen or kube::kubegen is missing")
  endif()
endfunction()

function(kubecxx_generate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;HEADER" "CRDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kubecxx_generate: unknown arguments \"${arg_UNPARSED_ARGUMENTS}\"")
  endif()
  if(NOT TARGET ${target})
    message(FATAL_ERROR "kubecxx_generate: \"${target}\" is not a target")
  endif()
  if(NOT arg_CRDS)
    message(FATAL_ERROR "kubecxx_generate: CRDS needs at least one file")
  endif()
  _kubecxx_find_kubegen(kubegen)

  set(files)
  foreach(file IN LISTS arg_CRDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  if(NOT arg_HEADER)
    list(GET files 0 first)
    get_filename_component(arg_HEADER "${first}" NAME_WLE)
    string(APPEND arg_HEADER ".hpp")
  endif()
  set(options)
  if(arg_NAMESPACE)
    list(APPEND options --namespace "${arg_NAMESPACE}")
  endif()

  set(folder "${CMAKE_CURRENT_BINARY_DIR}/kubegen/${target}")
  set(header "${folder}/${arg_HEADER}")
  string(MAKE_C_IDENTIFIER "${arg_HEADER}" id)
  set(stamp "${folder}/${id}.stamp")
  # kubegen does not touch a header whose content is unchanged, so that nothing is recompiled. The
  # stamp records that kubegen has run.
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS "${header}"
    COMMAND ${kubegen} ${files} -o "${header}" ${options}
    COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
    DEPENDS ${kubegen} ${files}
    COMMENT "Generating ${arg_HEADER}"
    VERBATIM)
  add_custom_target(${target}_${id} DEPENDS "${stamp}")
  add_dependencies(${target} ${target}_${id})

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${folder}>")
  else()
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
  endif()
endfunction()

# Generates the built-in API. Only used by this project's own build.
#
#   kubecxx_generated_api(<headers> <sources>)
#
# Sets the two variables to the files that kubegen generates from the schema in
# KUBECXX_GENERATED_DIR, and adds the target kubecxx_api_files, which generates them. A target that
# compiles or includes them must depend on it. The names are needed before kubegen is built, so they
# are read from the schema; `kubegen --list-outputs` prints the same list, and a test compares the
# two.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../schema")
  get_filename_component(KUBECXX_SCHEMA
    "${CMAKE_CURRENT_LIST_DIR}/../schema/kubernetes-1.36.json" ABSOLUTE)
  set(KUBECXX_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
endif()

# Determines only the names of the files.
function(kubecxx_generated_api_files headers_variable sources_variable)
  file(READ "${KUBECXX_SCHEMA}" schema)
  # Not string(JSON): it would parse the whole document for each of some hundred values.
  set(pattern "\"name\": *\"([a-z0-9]+)\",[ \n]*\"version\": *\"([a-z0-9]+)\"")
  string(REGEX MATCHALL "${pattern}" groups "${schema}")
  if(NOT groups)
    message(FATAL_ERROR "kubecxx: no API groups in ${KUBECXX_SCHEMA}")
  endif()

  set(include_dir "${KUBECXX_GENERATED_DIR}/include/kube/api")
  set(headers "${include_dir}/all.hpp" "${include_dir}/chain.hpp" "${include_dir}/registry.hpp")
  set(sources "${KUBECXX_GENERATED_DIR}/src/registry.cpp")
  foreach(group IN LISTS groups)
    string(REGEX MATCH "${pattern}" _ "${group}")
    list(APPEND headers "${include_dir}/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.hpp")
    list(APPEND sources "${KUBECXX_GENERATED_DIR}/src/${CMAKE_MATCH_1}_${CMAKE_MATCH_2}.cpp")
  endforeach()
  set(${headers_variable} ${headers} PARENT_SCOPE)
  set(${sources_variable} ${sources} PARENT_SCOPE)
endfunction()

function(kubecxx_generated_api headers_variable sources_variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${KUBECXX_SCHEMA}")
  kubecxx_generated_api_files(headers sources)
  # kubegen does not touch files whose content is unchanged; the stamp records that it has run.
  set(stamp "${KUBECXX_GENERATED_DIR}/api.stamp")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${headers} ${sources}
    COMMAND kubegen --schema "${KUBECXX_SCHEMA}" --out "${KUBECXX_GENERATED_DIR}"
    COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
    DEPENDS kubegen "${KUBECXX_SCHEMA}"
    COMMENT "Generating the Kubernetes API"
    VERBATIM)
  add_custom_target(kubecxx_api_files DEPENDS "${stamp}")

  set(${headers_variable} ${headers} PARENT_SCOPE)
  set(${sources_variable} ${sources} PARENT_SCOPE)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: headers, libraries, libkubecxx.so, kubegen, a CMake package and pkg-config files.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kubecxx)

install(TARGETS kube_core kube_client kube_runtime kube_kube
  EXPORT kubecxx-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS kubegen EXPORT kubecxx-targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(KUBECXX_BUILD_TESTKIT)
  install(TARGETS kube_testkit EXPORT kubecxx-testkit-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kubecxx-testkit-targets NAMESPACE kube:: DESTINATION ${package_dir})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/testkit/include/kube
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endif()
if(KUBECXX_BUILD_C)
  # A separate export: C programs need none of the packages that the C++ libraries need.
  install(TARGETS kube_c EXPORT kubecxx-c-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kubecxx-c-targets NAMESPACE kube:: DESTINATION ${package_dir})
  install(FILES ${PROJECT_SOURCE_DIR}/include/kube/c/kubecxx.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kube/c)
endif()
if(TARGET kubecxx)
  install(TARGETS kubecxx RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kube
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${KUBECXX_GENERATED_DIR}/include/kube
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT kubecxx-targets NAMESPACE kube:: DESTINATION ${package_dir})

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/kubecxx-config.cmake.in
  ${PROJECT_BINARY_DIR}/kubecxx-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/kubecxx-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/kubecxx-config.cmake
  ${PROJECT_BINARY_DIR}/kubecxx-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindNghttp2.cmake
  ${PROJECT_SOURCE_DIR}/cmake/KubecxxGenerate.cmake
  DESTINATION ${package_dir})

# Relative to the location of the file, so that the installed tree can be moved.
file(RELATIVE_PATH KUBECXX_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(packages kubecxx)
if(KUBECXX_BUILD_TESTKIT)
  list(APPEND packages kubecxx-testkit)
endif()
if(KUBECXX_BUILD_C)
  list(APPEND packages kubecxx-c)
endif()
foreach(package IN LISTS packages)
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

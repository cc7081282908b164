# SPDX-License-Identifier: Apache-2.0
# Finds nghttp2 and defines the target nghttp2::nghttp2, like the CMake package of newer versions,
# which Debian 12 does not ship. Installed next to the package configuration, so that no path of the
# build machine is recorded in it.
include(FindPackageHandleStandardArgs)

find_package(nghttp2 CONFIG QUIET)
if(TARGET nghttp2::nghttp2)
  find_package_handle_standard_args(Nghttp2 CONFIG_MODE)
  return()
endif()

find_path(Nghttp2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(Nghttp2_LIBRARY nghttp2)
mark_as_advanced(Nghttp2_INCLUDE_DIR Nghttp2_LIBRARY)
find_package_handle_standard_args(Nghttp2
  REQUIRED_VARS Nghttp2_LIBRARY Nghttp2_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install the package libnghttp2-dev")
if(Nghttp2_FOUND)
  add_library(nghttp2::nghttp2 UNKNOWN IMPORTED)
  set_target_properties(nghttp2::nghttp2 PROPERTIES
    IMPORTED_LOCATION "${Nghttp2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Nghttp2_INCLUDE_DIR}")
endif()

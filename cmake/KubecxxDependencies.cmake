# SPDX-License-Identifier: Apache-2.0
# Dependencies of the library, all packaged by Debian 12: `make deps` installs them.

function(kubecxx_require_header header package out)
  find_path(${out} ${header})
  if(NOT ${out})
    message(FATAL_ERROR "${header} is missing: install the package ${package} (or run `make deps`)")
  endif()
endfunction()

find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Nghttp2 REQUIRED)
if(KUBECXX_BUILD_TESTKIT)
  find_package(SQLite3 REQUIRED)
endif()
kubecxx_require_header(protozero/varint.hpp libprotozero-dev KUBECXX_PROTOZERO)
kubecxx_require_header(boost/unordered/unordered_flat_map.hpp libboost1.81-dev KUBECXX_BOOST)
kubecxx_require_header(xxhash.h libxxhash-dev KUBECXX_XXHASH)

// SPDX-License-Identifier: Apache-2.0
#include <kube/transport/transport.hpp>

#include <strings.h>

namespace kube {

const std::string* find_header(const Headers& headers, std::string_view name) noexcept {
  for (const Header& header : headers) {
    if (header.name.size() == name.size() &&
        ::strncasecmp(header.name.data(), name.data(), name.size()) == 0) {
      return &header.value;
    }
  }
  return nullptr;
}

}  // namespace kube

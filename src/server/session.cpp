// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>

namespace kube::server {

void sanitize(Headers& headers) {
  for (Header& header : headers) {
    std::ranges::replace_if(
        header.value, [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  }
}

}  // namespace kube::server

// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/base64url.hpp"

#include <kube/codec/base64.hpp>

#include <algorithm>

namespace kube::testkit::detail {

std::string base64url_encode(std::string_view bytes) {
  std::string text = base64_encode(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  std::string padded{text};
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  padded.append((4 - padded.size() % 4) % 4, '=');
  return base64_decode(padded);
}

}  // namespace kube::testkit::detail

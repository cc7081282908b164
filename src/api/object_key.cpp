// SPDX-License-Identifier: Apache-2.0
#include <kube/api/object_key.hpp>

#include <stdexcept>

namespace kube {

ObjectKey ObjectKey::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {{}, std::string{text}};
  if (text.find('/', slash + 1) != std::string_view::npos) {
    throw std::invalid_argument("expected \"namespace/name\", found \"" + std::string{text} + '"');
  }
  return {std::string{text.substr(0, slash)}, std::string{text.substr(slash + 1)}};
}

}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#include <kube/base/secret_text.hpp>

#include <algorithm>

#include <string.h>

namespace kube {

void wipe(std::string& text) noexcept {
  text.resize(text.capacity());  // does not allocate
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

void SecretText::grow(std::string_view more) {
  if (more.size() > capacity() - size()) {
    SecretText larger;
    larger.reserve(std::max(size() + more.size(), capacity() * 2));
    larger.append(*this);
    swap(larger);
  }
  append(more);
}

}  // namespace kube

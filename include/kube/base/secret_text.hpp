// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube {

/// Overwrites the whole capacity of `text`, then empties it.
void wipe(std::string& text) noexcept;

/// A std::string for tokens, passwords and keys that overwrites its memory before releasing it. Use
/// grow() instead of append() and +=, which leave the secret in the old memory when they
/// reallocate.
class SecretText : public std::string {
 public:
  SecretText() = default;
  // Implicit: a secret is set and compared like any text.
  SecretText(std::string&& text) noexcept : std::string(std::move(text)) { wipe(text); }
  SecretText(const std::string& text) : std::string(text) {}
  SecretText(std::string_view text) : std::string(text) {}
  SecretText(const char* text) : std::string(text) {}
  SecretText(const SecretText&) = default;
  SecretText(SecretText&& other) noexcept : std::string(std::move(other)) { wipe(other); }
  SecretText& operator=(const SecretText& other) {
    SecretText copy{other};
    swap(copy);
    return *this;
  }
  SecretText& operator=(SecretText&& other) noexcept {
    if (this == &other) return *this;
    swap(other);
    wipe(other);
    return *this;
  }
  ~SecretText() { wipe(*this); }

  /// Appends `more`. Overwrites the old memory before releasing it if a reallocation is needed.
  void grow(std::string_view more);
};

}  // namespace kube

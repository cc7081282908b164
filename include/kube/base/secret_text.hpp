// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kube {

/// Overwrites all memory of `text`, also what is behind its end, and empties it.
void wipe(std::string& text) noexcept;

/// A text that is overwritten before its memory is given back: a token, a password, a key. It is a std::string, with one
/// more function for text that grows: append() and += leave the bytes in the memory that they leave behind.
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

  /// Appends; memory that becomes too small is overwritten before it is given back.
  void grow(std::string_view more);
};

}  // namespace kube

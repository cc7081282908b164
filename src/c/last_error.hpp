// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/c/kubecxx.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kube::c {

/// An error with a code that corresponds to no exception of the library.
class Failure : public std::runtime_error {
 public:
  Failure(int code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Records that this thread's call succeeded.
void clear_last_error() noexcept;
/// Records the exception being handled as this thread's error, and returns its code.
int note_current_exception() noexcept;

/// Calls `function`, and converts exceptions into a code and a message.
template <typename Function>
int guarded(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
  } catch (...) {
    return note_current_exception();
  }
  clear_last_error();
  return KUBECXX_OK;
}

/// Checks an argument that must not be null.
template <typename T>
[[nodiscard]] T& required(T* argument, const char* name) {
  if (argument == nullptr) throw std::invalid_argument(std::string{name} + " is null");
  return *argument;
}

/// Checks an output that must not be null, and sets it to null.
template <typename T>
[[nodiscard]] T*& output(T** argument, const char* name) {
  T*& result = required(argument, name);
  result = nullptr;
  return result;
}

/// Throws std::invalid_argument if the size is not 0 but the data is null.
[[nodiscard]] inline std::string_view view(kubecxx_string string, const char* name) {
  if (string.data == nullptr && string.size > 0) {
    throw std::invalid_argument(std::string{name} + " has a size, but its data is null");
  }
  return {string.data, string.size};
}
[[nodiscard]] inline std::string copy(kubecxx_string string, const char* name) {
  return std::string{view(string, name)};
}
[[nodiscard]] inline kubecxx_string lend(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

}  // namespace kube::c

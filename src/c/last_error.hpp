// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/c/kubecxx.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace kube::c {

/// An error with a code that no exception of the library stands for.
class Failure : public std::runtime_error {
 public:
  Failure(int code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Notes that the call of this thread succeeded.
void clear_last_error() noexcept;
/// Notes the exception that is being handled as the error of this thread, and returns its code.
int note_current_exception() noexcept;

/// Calls `function`, and turns what it throws into a code and a message.
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

/// An argument that must not be null.
template <typename T>
[[nodiscard]] T& required(T* argument, const char* name) {
  if (argument == nullptr) throw std::invalid_argument(std::string{name} + " is null");
  return *argument;
}

/// An output that must not be null; it is set to null first.
template <typename T>
[[nodiscard]] T*& output(T** argument, const char* name) {
  T*& result = required(argument, name);
  result = nullptr;
  return result;
}

/// Throws std::invalid_argument if there is a size, but no text.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <exception>
#include <string>
#include <string_view>

/// User code may throw anything. The cache calls it through these functions, so that callers only
/// need to handle std::exception.
namespace kube::detail {

/// Represents a thrown value that is not a std::exception. Needs no memory, so it can be reported
/// even without any.
class ForeignException final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "an exception that is not a std::exception was thrown";
  }
};

/// For a catch (...) block: calls `handle(const std::exception&)` with the exception being handled.
template <typename Handle>
void with_current_exception(const Handle& handle) {
  try {
    throw;
  } catch (const std::exception& error) {
    handle(error);
  } catch (...) {
    handle(ForeignException{});
  }
}

/// Calls user code. Converts a thrown value that is not a std::exception into an Error with the
/// name of the function.
template <typename Call>
decltype(auto) call_user(std::string_view name, const Call& call) {
  try {
    return call();
  } catch (const std::exception&) {
    throw;
  } catch (...) {
    throw Error(std::string{name} + ": " + ForeignException{}.what());
  }
}

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <exception>
#include <string>
#include <string_view>

/// What user code may throw: anything. The cache calls it through these, so that each caller needs to know
/// std::exception only.
namespace kube::detail {

/// Stands for a thrown value that is no std::exception. Needs no memory, so that it can be reported when there is none.
class ForeignException final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "something that is no std::exception was thrown";
  }
};

/// For a catch (...) block: calls `handle(const std::exception&)` with the exception that is being handled.
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

/// Calls user code. What it throws that is no std::exception becomes an Error, which names what was called.
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

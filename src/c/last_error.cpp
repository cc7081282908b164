// SPDX-License-Identifier: Apache-2.0
#include "last_error.hpp"

#include "base/fork.hpp"
#include <kube/api/errors.hpp>
#include <kube/codec/error.hpp>
#include <kube/config/config.hpp>
#include <kube/transport/error.hpp>

#include <new>
#include <system_error>

namespace kube::c {

namespace {

struct LastError {
  int code = KUBECXX_OK;
  int http_status = 0;
  std::string message{};
  std::string reason{};
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

int code_of(const ApiError& error) noexcept {
  if (is_not_found(error)) return KUBECXX_ERROR_NOT_FOUND;
  if (is_already_exists(error)) return KUBECXX_ERROR_ALREADY_EXISTS;
  if (is_conflict(error)) return KUBECXX_ERROR_CONFLICT;
  return KUBECXX_ERROR_API;
}

int code_of(const TransportError& error) noexcept {
  switch (error.kind()) {
    case TransportError::Kind::kTimeout:
      return KUBECXX_ERROR_TIMEOUT;
    case TransportError::Kind::kCanceled:
      return KUBECXX_ERROR_CANCELED;
    default:
      return KUBECXX_ERROR_TRANSPORT;
  }
}

/// Throws std::bad_alloc.
LastError describe_current_exception() {
  try {
    throw;
  } catch (const Failure& error) {
    return {.code = error.code(), .message = error.what()};
  } catch (const ApiError& error) {
    return {.code = code_of(error),
            .http_status = error.code(),
            .message = error.what(),
            .reason = std::string{error.reason()}};
  } catch (const TransportError& error) {
    return {.code = code_of(error), .message = error.what()};
  } catch (const CodecError& error) {
    return {.code = KUBECXX_ERROR_CODEC, .message = error.what()};
  } catch (const ConfigError& error) {
    return {.code = KUBECXX_ERROR_CONFIG, .message = error.what()};
  } catch (const detail::ForkedError& error) {
    return {.code = KUBECXX_ERROR_FORKED, .message = error.what()};
  } catch (const std::invalid_argument& error) {
    return {.code = KUBECXX_ERROR_INVALID_ARGUMENT, .message = error.what()};
  } catch (const std::logic_error& error) {
    return {.code = KUBECXX_ERROR_MISUSE, .message = error.what()};
  } catch (const std::system_error& error) {
    return {.code = KUBECXX_ERROR_SYSTEM, .message = error.what()};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return {.code = KUBECXX_ERROR_OTHER, .message = error.what()};
  } catch (...) {
    return {.code = KUBECXX_ERROR_OTHER, .message = "an exception of unknown type"};
  }
}

}  // namespace

void clear_last_error() noexcept {
  LastError& error = last_error();
  error.code = KUBECXX_OK;
  error.http_status = 0;
  error.message.clear();
  error.reason.clear();
}

int note_current_exception() noexcept {
  LastError& error = last_error();
  try {
    error = describe_current_exception();
  } catch (...) {
    clear_last_error();
    error.code = KUBECXX_ERROR_NO_MEMORY;
    error.message = "out of memory";  // fits the small-string buffer: no allocation
  }
  return error.code;
}

}  // namespace kube::c

int kubecxx_error_code() { return kube::c::last_error().code; }
kubecxx_string kubecxx_error_message() { return kube::c::lend(kube::c::last_error().message); }
int kubecxx_error_http_status() { return kube::c::last_error().http_status; }
kubecxx_string kubecxx_error_reason() { return kube::c::lend(kube::c::last_error().reason); }

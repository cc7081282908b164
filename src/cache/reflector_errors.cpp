// SPDX-License-Identifier: Apache-2.0
#include "reflector_errors.hpp"

#include <kube/api/errors.hpp>
#include <kube/transport/error.hpp>

#include <algorithm>
#include <string_view>

namespace kube::detail {
namespace {

const ApiError* api(const std::exception& error) noexcept {
  return dynamic_cast<const ApiError*>(&error);
}
bool is_transport(const std::exception& error, TransportError::Kind kind) noexcept {
  const auto* transport = dynamic_cast<const TransportError*>(&error);
  return transport != nullptr && transport->kind() == kind;
}

}  // namespace

bool is_expired(const std::exception& error) noexcept {
  const ApiError* e = api(error);
  return e != nullptr && (is_resource_expired(*e) || is_gone(*e));
}

bool is_too_large_version(const std::exception& error) noexcept {
  constexpr std::string_view kText = "Too large resource version";
  const ApiError* e = api(error);
  if (e == nullptr) return false;
  if (has_cause(*e, meta::v1::cause_type::kResourceVersionTooLarge)) return true;
  const auto& details = e->status().details;
  if (!is_timeout(*e) || !details) return false;
  return std::any_of(details->causes.begin(), details->causes.end(),
                     [&](const auto& cause) { return cause.message == kText; }) ||
         e->status().message.view().find(kText) != std::string_view::npos;
}

bool is_throttled(const std::exception& error) noexcept {
  const ApiError* e = api(error);
  return e != nullptr && is_too_many_requests(*e);
}

bool is_refused(const std::exception& error) noexcept {
  return is_throttled(error) || is_transport(error, TransportError::Kind::kConnect);
}

bool is_internal(const std::exception& error) noexcept {
  const ApiError* e = api(error);
  return e != nullptr && is_internal_error(*e);
}

bool is_end_of_stream(const std::exception& error) noexcept {
  return is_transport(error, TransportError::Kind::kConnectionLost) ||
         is_transport(error, TransportError::Kind::kTimeout);
}

}  // namespace kube::detail

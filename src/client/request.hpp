// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/url.hpp"
#include <kube/api/group_version.hpp>
#include <kube/client/options.hpp>
#include <kube/transport/transport.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// Adds the parameters of the options that are set.
void add_options(Query& query, const GetOptions& options);
void add_options(Query& query, const ListOptions& options);
void add_options(Query& query, const CreateOptions& options);
void add_options(Query& query, const PatchOptions& options);
void add_options(Query& query, const LogOptions& options);

/// Whether objects of a resource are namespaced.
enum class Scope : std::uint8_t { kCluster, kNamespaced, kUnknown };

/// The object or collection that a URL names.
struct Place {
  GroupVersionResource resource = {};
  Scope scope = Scope::kUnknown;
  std::string namespace_ = {};
  std::string name = {};
  std::string subresource = {};
};

/// Returns the path of `place`. Throws std::invalid_argument if a part is not a valid path segment,
/// or if an object of a namespaced kind has no namespace.
[[nodiscard]] std::string path_of(const Place& place, std::string_view method);

/// Throws std::invalid_argument if the name is empty.
void require_name(std::string_view name);

/// A request before it is sent.
struct Request {
  enum class Kind : std::uint8_t { kOrdinary, kWatch };

  std::string method = "GET";
  /// Path without the server's prefix, percent-encoded.
  std::string path = {};
  Query query = {};
  std::string accept = {};
  std::string content_type = {};
  std::string body = {};
  Headers headers = {};
  Kind kind = Kind::kOrdinary;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  /// Timeout for an attempt that the server itself should end earlier.
  std::optional<std::chrono::milliseconds> ends_within = std::nullopt;
  /// Key of the token bucket, if each group version has its own.
  std::string limiter = {};
  /// For messages.
  GroupResource resource = {};
  std::string name = {};
};

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/group_version.hpp>
#include <kube/client/options.hpp>
#include <kube/transport/transport.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// The part of a URL behind the question mark, in the order of the keys.
class Query {
 public:
  void add(std::string_view key, std::string_view value) { values_.emplace(key, value); }
  /// Only if there is something to say.
  void add_text(std::string_view key, std::string_view value) {
    if (!value.empty()) add(key, value);
  }
  void add_flag(std::string_view key, bool value) {
    if (value) add(key, "true");
  }
  void add_number(std::string_view key, std::optional<std::int64_t> value) {
    if (value) add(key, std::to_string(*value));
  }
  void add(const GetOptions& options);
  void add(const ListOptions& options);
  void add(const CreateOptions& options);
  void add(const PatchOptions& options);
  void add(const LogOptions& options);
  /// "?a=b&c=d", or empty.
  [[nodiscard]] std::string str() const;

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

/// Whether objects of a resource live in namespaces.
enum class Scope : std::uint8_t { kCluster, kNamespaced, kUnknown };

/// Which object or collection a URL names.
struct Place {
  GroupVersionResource resource = {};
  Scope scope = Scope::kUnknown;
  std::string namespace_ = {};
  std::string name = {};
  std::string subresource = {};
};

/// The path of `place`. Throws std::invalid_argument for what no server can answer: a part that is no
/// path segment, or an object of a namespaced kind without a namespace.
[[nodiscard]] std::string path_of(const Place& place, std::string_view method);

/// Throws std::invalid_argument if the name is empty.
void require_name(std::string_view name);

/// The content type of a patch.
[[nodiscard]] std::string_view media_type_of(PatchType type);

/// A request before it is sent.
struct Request {
  enum class Kind : std::uint8_t { kOrdinary, kWatch };

  std::string method = "GET";
  /// Behind the prefix of the server, encoded.
  std::string path = {};
  Query query = {};
  std::string accept = {};
  std::string content_type = {};
  std::string body = {};
  Headers headers = {};
  Kind kind = Kind::kOrdinary;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  /// When to give up a try that the server should have ended before.
  std::optional<std::chrono::milliseconds> ends_within = std::nullopt;
  /// Which token bucket it draws from, if each group version has its own.
  std::string limiter = {};
  /// For messages.
  GroupResource resource = {};
  std::string name = {};
};

}  // namespace kube::detail

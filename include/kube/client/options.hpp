// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// Options of the verbs of Resource. Every field is optional; fields that are not set are not sent.
namespace kube {

/// Options of Resource::get() and find().
struct GetOptions {
  /// "0" accepts any state that the server has cached; empty requests the newest.
  std::string resource_version = {};
};

/// Selects objects and their state. A watch starts after `resource_version`.
struct ListOptions {
  /// "app=web,tier!=cache"; labels::Selector::to_string() formats one.
  std::string label_selector = {};
  /// "spec.nodeName=node-7"; field_selectors::Selector::to_string() formats one.
  std::string field_selector = {};
  std::string resource_version = {};
  /// "Exact" or "NotOlderThan"; see meta::v1::resource_version_match.
  std::string resource_version_match = {};
  /// Time limit for the server. A watch ends after it.
  std::optional<std::chrono::seconds> timeout = std::nullopt;
  /// Objects per page; 0 requests all at once.
  std::int64_t limit = 0;
  /// Token of the previous page, to fetch the next one.
  std::string continue_token = {};
  /// Watches: also send bookmarks, which only carry the current resource version.
  bool allow_watch_bookmarks = false;
  /// Watches: start with the existing objects, followed by a bookmark.
  std::optional<bool> send_initial_events = std::nullopt;
  /// Alpha in Kubernetes.
  std::string shard_selector = {};
};

/// How all pages of a list are fetched.
struct PagerOptions {
  /// Objects per page unless the ListOptions have a limit.
  std::int64_t page_size = 500;
  /// If a continue token has expired (410), start again with one unpaged request.
  bool full_list_if_expired = true;
};

/// Options of create() and update().
struct CreateOptions {
  /// Validates the request without storing anything.
  bool dry_run = false;
  std::string field_manager = {};
  /// How to treat unknown fields: "Ignore", "Warn" or "Strict".
  std::string field_validation = {};
};
using UpdateOptions = CreateOptions;

/// The format of a patch.
enum class PatchType {
  kJson,            ///< RFC 6902: a list of operations
  kMerge,           ///< RFC 7386: members replace members, null removes
  kStrategicMerge,  ///< merges lists by key; built-in types only
  kApply,           ///< server-side apply
};

/// Options of patch().
struct PatchOptions {
  bool dry_run = false;
  std::string field_manager = {};
  std::string field_validation = {};
  /// Only for kApply: take ownership of fields that other managers own.
  std::optional<bool> force = std::nullopt;
};

/// Options of server-side apply. The object contains exactly the fields that its manager wants to
/// own.
struct ApplyOptions {
  /// Required: the name of the manager, at most 128 printable characters.
  std::string field_manager = {};
  /// Take ownership of fields that other managers own, instead of failing with a conflict.
  bool force = false;
  bool dry_run = false;
  std::string field_validation = {};
};

/// Options of delete_() and delete_collection().
struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
  /// Precondition: delete only if the object has this UID and this resource version.
  std::string uid = {};
  std::string resource_version = {};
  /// How to treat dependents: "Orphan", "Background" or "Foreground".
  std::string propagation_policy = {};
  /// Deprecated way to say "Orphan"; not together with propagation_policy.
  std::optional<bool> orphan_dependents = std::nullopt;
  bool dry_run = false;
};

/// Selects the lines of a container's log.
struct LogOptions {
  /// May be empty if the pod has only one container.
  std::string container = {};
  /// Wait for further lines until the container terminates.
  bool follow = false;
  /// The log of the previous instance of the container.
  bool previous = false;
  std::optional<std::chrono::seconds> since = std::nullopt;
  std::optional<std::chrono::system_clock::time_point> since_time = std::nullopt;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines = std::nullopt;
  std::optional<std::int64_t> limit_bytes = std::nullopt;
  /// "All", "Stdout" or "Stderr".
  std::string stream = {};
};

/// How much of each object the rows of a Table contain.
enum class TableObjects { kNone, kMetadata, kObject };

}  // namespace kube

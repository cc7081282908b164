// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// @file
/// Options of the verbs of Resource. Every field is optional; fields that are not set are not sent.
namespace kube {

/// Options of Resource::get() and find().
struct GetOptions {
  /// "0" accepts any state that the server has cached; empty requests the newest.
  std::string resource_version = {};
};

/// Options of list() and watch(): selects objects and their state.
struct ListOptions {
  /// "app=web,tier!=cache"; labels::Selector::to_string() formats one.
  std::string label_selector = {};
  /// "spec.nodeName=node-7"; field_selectors::Selector::to_string() formats one.
  std::string field_selector = {};
  /// Lists: the state to read. Empty requests the newest, "0" any state that the server has cached.
  /// Watches: the version after which events are sent.
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
  /// Selects one shard of the objects. Alpha in Kubernetes.
  std::string shard_selector = {};
};

/// How all pages of a list are fetched.
struct PagerOptions {
  /// Objects per page unless the ListOptions have a limit.
  std::int64_t page_size = 500;
  /// If a continue token has expired (410), start again with one unpaged request.
  bool full_list_if_expired = true;
};

/// Options of create().
struct CreateOptions {
  /// Validates the request without storing anything.
  bool dry_run = false;
  /// The name under which changed fields are recorded in managedFields. If empty, the server
  /// derives it from the User-Agent.
  std::string field_manager = {};
  /// How to treat unknown fields: "Ignore", "Warn" or "Strict".
  std::string field_validation = {};
};
/// Options of update() and update_status(): those of create().
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
  /// See CreateOptions.
  bool dry_run = false;
  /// See CreateOptions.
  std::string field_manager = {};
  /// See CreateOptions.
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
  /// See CreateOptions.
  bool dry_run = false;
  /// See CreateOptions.
  std::string field_validation = {};
};

/// Options of delete_() and delete_collection().
struct DeleteOptions {
  /// Time for the object to terminate. 0 deletes immediately; if not set, the default of the kind.
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
  /// Precondition: delete only the object with this UID.
  std::string uid = {};
  /// Precondition: delete only this version of the object.
  std::string resource_version = {};
  /// How to treat dependents: "Orphan", "Background" or "Foreground".
  std::string propagation_policy = {};
  /// Deprecated way to say "Orphan"; not together with propagation_policy.
  std::optional<bool> orphan_dependents = std::nullopt;
  /// See CreateOptions.
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
  /// Only lines of the last `since`.
  std::optional<std::chrono::seconds> since = std::nullopt;
  /// Only lines since this time. At most one of `since` and `since_time` may be set.
  std::optional<std::chrono::system_clock::time_point> since_time = std::nullopt;
  /// Begin each line with its RFC 3339 time.
  bool timestamps = false;
  /// Only the last lines.
  std::optional<std::int64_t> tail_lines = std::nullopt;
  /// End the log after this many bytes, even within a line.
  std::optional<std::int64_t> limit_bytes = std::nullopt;
  /// Only one output of the container: "Stdout" or "Stderr". Empty and "All" select both.
  std::string stream = {};
};

/// How much of each object the rows of a Table contain.
enum class TableObjects { kNone, kMetadata, kObject };

}  // namespace kube

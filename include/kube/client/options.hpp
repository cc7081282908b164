// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

/// What the verbs of Resource take. Any field may be left out; what is not set is not sent.
namespace kube {

struct GetOptions {
  /// "0" is content with any state the server has at hand; empty asks for the newest.
  std::string resource_version = {};
};

/// Which objects, and in which state. Also for watches, which start behind `resource_version`.
struct ListOptions {
  /// "app=web,tier!=cache"; labels::Selector::to_string() writes it.
  std::string label_selector = {};
  /// "spec.nodeName=node-7"; field_selectors::Selector::to_string() writes it.
  std::string field_selector = {};
  std::string resource_version = {};
  /// "Exact" or "NotOlderThan"; see meta::v1::resource_version_match.
  std::string resource_version_match = {};
  /// How long the server shall take at most; a watch ends then.
  std::optional<std::chrono::seconds> timeout = std::nullopt;
  /// Objects per answer; 0 asks for all at once.
  std::int64_t limit = 0;
  /// Where an answer that was cut short goes on.
  std::string continue_token = {};
  /// For watches: events that only tell the version reached.
  bool allow_watch_bookmarks = false;
  /// For watches: begin with the objects that exist, then a bookmark.
  std::optional<bool> send_initial_events = std::nullopt;
  /// Alpha in Kubernetes.
  std::string shard_selector = {};
};

/// How all pages of a list are fetched.
struct PagerOptions {
  /// Objects per page unless the ListOptions have a limit.
  std::int64_t page_size = 500;
  /// If the server has forgotten where a list went on (410), begin again with one answer for all.
  bool full_list_if_expired = true;
};

struct CreateOptions {
  /// Checks everything and stores nothing.
  bool dry_run = false;
  std::string field_manager = {};
  /// What to do about unknown fields: "Ignore", "Warn" or "Strict".
  std::string field_validation = {};
};
using UpdateOptions = CreateOptions;

enum class PatchType {
  kJson,            ///< RFC 6902: a list of operations
  kMerge,           ///< RFC 7386: members replace members, null removes
  kStrategicMerge,  ///< knows which lists are maps; built-in types only
  kApply,           ///< server-side apply
};

struct PatchOptions {
  bool dry_run = false;
  std::string field_manager = {};
  std::string field_validation = {};
  /// For kApply only: take over fields that others manage.
  std::optional<bool> force = std::nullopt;
};

/// Server-side apply: the object says what its manager wants, and no more.
struct ApplyOptions {
  /// Required: who wants it, at most 128 printable characters.
  std::string field_manager = {};
  /// Take over fields that others manage, instead of failing with a conflict.
  bool force = false;
  bool dry_run = false;
  std::string field_validation = {};
};

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
  /// Only if the object still is this one, in this state.
  std::string uid = {};
  std::string resource_version = {};
  /// What becomes of what it owns: "Orphan", "Background" or "Foreground".
  std::string propagation_policy = {};
  /// Older way to say "Orphan"; not together with propagation_policy.
  std::optional<bool> orphan_dependents = std::nullopt;
  bool dry_run = false;
};

/// Which lines of a container's log.
struct LogOptions {
  /// May be left out if the pod has only one.
  std::string container = {};
  /// Wait for further lines until the container ends.
  bool follow = false;
  /// Of the container that ran before this one.
  bool previous = false;
  std::optional<std::chrono::seconds> since = std::nullopt;
  std::optional<std::chrono::system_clock::time_point> since_time = std::nullopt;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines = std::nullopt;
  std::optional<std::int64_t> limit_bytes = std::nullopt;
  /// "All", "Stdout" or "Stderr".
  std::string stream = {};
};

/// How much of each object a Table carries.
enum class TableObjects { kNone, kMetadata, kObject };

}  // namespace kube

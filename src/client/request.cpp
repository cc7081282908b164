// SPDX-License-Identifier: Apache-2.0
#include "request.hpp"

#include "base/text.hpp"
#include <kube/api/time.hpp>
#include <kube/api/validation.hpp>

#include <algorithm>
#include <stdexcept>

namespace kube::detail {

namespace {

/// Characters allowed unencoded in a path segment besides letters and digits (RFC 3986).
constexpr std::string_view kSegment = "!$&'()*+,;=:@";

void append_segment(std::string& path, const char* what, std::string_view segment) {
  if (segment == "." || segment == ".." || segment.find_first_of("/%") != std::string_view::npos) {
    throw std::invalid_argument(
        std::string{what} + ' ' + quoted(segment) +
        " cannot stand in a URL: it may be neither '.' nor '..' and may not "
        "have '/' or '%' in it");
  }
  path += '/';
  path += percent_encode(segment, kSegment);
}

void check_namespace(const Place& place, std::string_view method) {
  if (place.scope != Scope::kNamespaced || !place.namespace_.empty()) return;
  if (method == "POST" || !place.name.empty()) {
    throw std::invalid_argument(place.resource.resource +
                                " live in namespaces, and none was given; name one, as in "
                                "client.resource<T>(\"default\")");
  }
}

/// Adds a parameter unless its value is empty.
void add_text(Query& query, std::string_view name, std::string_view value) {
  if (!value.empty()) query.add(name, value);
}
void add_flag(Query& query, std::string_view name, bool value) {
  if (value) query.add(name, "true");
}
void add_number(Query& query, std::string_view name, std::optional<std::int64_t> value) {
  if (value) query.add(name, std::to_string(*value));
}

}  // namespace

std::string path_of(const Place& place, std::string_view method) {
  check_namespace(place, method);
  std::string path;
  if (place.resource.group.empty()) {
    path = "/api";
  } else {
    path = "/apis";
    append_segment(path, "group", place.resource.group);
  }
  append_segment(path, "version", place.resource.version);
  if (!place.namespace_.empty() && place.scope != Scope::kCluster) {
    path += "/namespaces";
    append_segment(path, "namespace", place.namespace_);
  }
  append_segment(path, "resource", lower_case(place.resource.resource));
  if (!place.name.empty()) append_segment(path, "name", place.name);
  if (!place.subresource.empty()) append_segment(path, "subresource", place.subresource);
  return path;
}

void require_name(std::string_view name) {
  if (name.empty()) throw std::invalid_argument("the object needs a name (metadata.name) for that");
}

void add_options(Query& query, const GetOptions& options) {
  add_text(query, "resourceVersion", options.resource_version);
}

void add_options(Query& query, const ListOptions& options) {
  add_text(query, "labelSelector", options.label_selector);
  add_text(query, "fieldSelector", options.field_selector);
  add_text(query, "resourceVersion", options.resource_version);
  add_text(query, "resourceVersionMatch", options.resource_version_match);
  add_flag(query, "allowWatchBookmarks", options.allow_watch_bookmarks);
  if (options.timeout) {
    add_number(query, "timeoutSeconds", options.timeout->count());
    if (options.timeout->count() > 0) query.add("timeout", Duration{*options.timeout}.str());
  }
  if (options.limit != 0) add_number(query, "limit", options.limit);
  add_text(query, "continue", options.continue_token);
  if (options.send_initial_events) {
    query.add("sendInitialEvents", *options.send_initial_events ? "true" : "false");
  }
  add_text(query, "shardSelector", options.shard_selector);
}

void add_options(Query& query, const CreateOptions& options) {
  if (options.dry_run) query.add("dryRun", "All");
  add_text(query, "fieldManager", options.field_manager);
  add_text(query, "fieldValidation", options.field_validation);
}

void add_options(Query& query, const PatchOptions& options) {
  add_options(query,
              CreateOptions{options.dry_run, options.field_manager, options.field_validation});
  if (options.force) query.add("force", *options.force ? "true" : "false");
}

void add_options(Query& query, const LogOptions& options) {
  add_text(query, "container", options.container);
  add_flag(query, "follow", options.follow);
  add_flag(query, "previous", options.previous);
  if (options.since) add_number(query, "sinceSeconds", options.since->count());
  if (options.since_time) query.add("sinceTime", Time{*options.since_time}.str());
  add_flag(query, "timestamps", options.timestamps);
  add_number(query, "tailLines", options.tail_lines);
  add_number(query, "limitBytes", options.limit_bytes);
  add_text(query, "stream", options.stream);
}

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
// The verbs get, list and watch.
#include "testkit/rest/rest.hpp"

#include <kube/api/time.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/requests/timeout.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::chrono::seconds kVersionPatience{3};

IncludeObject include_object(const Query& query) {
  const std::string_view text = query.text("includeObject");
  if (text.empty() || text == "Metadata") return IncludeObject::kMetadata;
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  throw bad_request(fmt::format("unrecognized includeObject value: \"{}\"", text));
}

/// Real servers do not cache Event objects, which affects some responses.
bool is_event(const Resource& resource) {
  return resource.plural == "events" && !resource.is_custom();
}

ApiError expired_token(const ContinueToken& token) {
  meta::v1::Status status =
      expired(
          "The provided continue parameter is too old to display a consistent list result. "
          "Start again without it, or use the token of this answer to go on with the latest "
          "state.")
          .status();
  status.metadata.continue_ = ContinueToken{-1, token.start}.encode(false);
  return ApiError{std::move(status)};
}

/// Returns the error for a field selector with an unsupported field; empty for kinds with the usual
/// text.
std::string unsupported_field_text(const Resource& resource, std::string_view field) {
  const std::string id = resource.id();
  if (id == "jobs.batch") return fmt::format("field label \"{}\" not supported for Job", field);
  if (resource.group == "resource.k8s.io" && resource.plural == "resourceslices") {
    return fmt::format("field label not supported for {}, Kind={}: {}", resource.api_version(),
                       resource.kind, field);
  }
  if (!has_own_selectable_fields(resource)) return {};
  return fmt::format("field label not supported: {}", field);
}

}  // namespace

std::string_view RestRequest::header(std::string_view header_name) const {
  const std::string* value = find_header(http.headers, header_name);
  return value == nullptr ? std::string_view{} : std::string_view{*value};
}

AccessRequest RestRequest::access_for(std::string needed_verb) const {
  const bool is_namespace = resource->id() == "namespaces";
  return {.user = user,
          .verb = std::move(needed_verb),
          .group = resource->group,
          .version = resource->version,
          .resource = resource->plural,
          .subresource = subresource,
          .namespace_ = is_namespace ? name : namespace_,
          .name = name,
          .path = {}};
}

void RestRequest::warn(std::string text) {
  if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
}

void RestRequest::choose_output(const Offer& offer) {
  const bool pretty = output.pretty;
  output = negotiate(header("Accept"), offer);
  output.pretty = pretty;
}

ServerResponse make_response(int status, std::string_view content_type, std::string body) {
  ServerResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", std::string{content_type}});
  response.body = std::move(body);
  return response;
}

std::optional<Clock::Duration> parse_request_timeout(const Query& query) {
  const std::string_view text = query.text("timeout");
  if (text.empty()) return std::nullopt;
  try {
    const auto length = Duration::parse(text).length();
    if (length.count() < 0) return std::nullopt;
    return std::chrono::duration_cast<Clock::Duration>(length);
  } catch (const std::invalid_argument& error) {
    throw bad_request(
        fmt::format("invalid timeout specified in the request URL: {}", error.what()));
  }
}

ObjectEncoder Rest::encoder(const RestRequest& request) const {
  return {services_.codec, *request.resource, request.output, include_object(request.url.query),
          services_.clock.wall_now()};
}

ServerResponse Rest::respond(const RestRequest& request, int status, const StoredObject& object) {
  return make_response(
      status, request.output.content_type(),
      encoder(request).object(as_served(services_.codec, *request.resource, object)));
}

Scope Rest::scope_of(const RestRequest& request, const ListOptions& options) {
  std::string namespace_ = request.namespace_;
  const auto wanted = options.fields.requires_exact("metadata.namespace");
  if (request.resource->namespaced && namespace_.empty() && wanted) namespace_ = *wanted;
  Scope scope;
  if (!namespace_.empty()) scope.prefix = namespace_ + '/';
  const auto name = options.fields.requires_exact("metadata.name");
  if (name && (!request.resource->namespaced || !namespace_.empty())) {
    scope.key = key_of(namespace_, *name);
  }
  return scope;
}

Selection Rest::selection_of(const Resource& resource, const ListOptions& options) {
  const auto known = selectable_fields(resource);
  std::vector<field_selectors::Requirement> terms;
  for (const field_selectors::Requirement& term : options.fields.requirements()) {
    const auto found = std::ranges::find(
        known, term.field, [](const auto& pair) -> const std::string& { return pair.first; });
    if (found == known.end()) {
      if (const std::string text = unsupported_field_text(resource, term.field); !text.empty()) {
        throw bad_request(text);
      }
      throw bad_request(fmt::format(
          "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
          term.field));
    }
    terms.push_back({found->second, term.op, term.value});
  }
  return {options.labels, field_selectors::Selector{std::move(terms)}};
}

void Rest::await_version(const RestRequest& request, std::uint64_t version) {
  if (services_.store.revision() >= version) return;
  const std::optional<Clock::Duration> timeout = parse_request_timeout(request.url.query);
  const bool short_of_time =
      !request.url.query.flag("watch") && timeout && *timeout < kVersionPatience;
  const Clock::TimePoint deadline =
      services_.clock.now() + (short_of_time ? *timeout : Clock::Duration{kVersionPatience});
  if (services_.store.wait_for(version, deadline, services_.stopping.get_token())) return;
  if (short_of_time) throw RequestTimeout{};
  throw too_large_version(version, services_.store.revision());
}

ServerResponse Rest::get(RestRequest& request) {
  request.choose_output({.custom = request.resource->is_custom()});
  const std::string_view text = request.url.query.text("resourceVersion");
  if (!text.empty()) {
    const std::optional<std::uint64_t> version = parse_version(text);
    if (!version && is_event(*request.resource)) {
      throw bad_request(fmt::format("invalid resource version \"{}\": not a number", text));
    }
    if (!version) throw malformed_version(text);
    await_version(request, *version);
  }
  const StoredObject object = services_.store.get(*request.resource->collection, request.key());
  if (!object) throw not_found(request.resource->group_resource(), request.name);
  return respond(request, 200, object);
}

ListPage Rest::read_page(const RestRequest& request, const ListOptions& options) {
  const Selection selection = selection_of(*request.resource, options);
  Store::ListQuery query{.scope = scope_of(request, options)};
  std::size_t limit = options.limit;
  std::optional<ContinueToken> token;
  if (!options.continue_text.empty()) {
    token = ContinueToken::decode(options.continue_text);
    if (options.version.value_or(0) != 0) {
      throw bad_request("specifying resource version is not allowed when using continue");
    }
    if (options.version) limit = 0;
    query.start = query.scope.prefix + token->start;
    // The remaining objects determine the next page, whatever their names.
    query.scope.key.reset();
    if (token->revision > 0) query.exactly = static_cast<std::uint64_t>(token->revision);
  } else if (options.version == 0) {
    limit = 0;
  } else if (options.match == ListOptions::Match::kExact ||
             (options.match == ListOptions::Match::kUnset && limit > 0 && !query.scope.key)) {
    query.exactly = options.version;
  }
  await_version(request, std::max(query.exactly.value_or(0), options.version.value_or(0)));
  if (selection.is_everything()) query.limit = limit;
  Store::ListResult found = services_.store.list(*request.resource->collection, query);
  if (found.expired) {
    if (token) throw expired_token(*token);
    throw expired("The resourceVersion for the provided list is too old.");
  }
  ListPage page;
  page.revision = found.revision;
  bool more = found.remaining > 0;
  if (more) page.remaining = static_cast<std::int64_t>(found.remaining);
  std::string last;
  for (auto& [key, object] : found.objects) {
    // More objects remain, whether or not they match.
    if (limit != 0 && page.objects.size() == limit) {
      more = true;
      break;
    }
    if (!selection.matches(object)) continue;
    page.objects.push_back(as_served(services_.codec, *request.resource, object));
    last = key;
  }
  if (more) {
    last.erase(0, query.scope.prefix.size());
    page.continue_ = ContinueToken{static_cast<std::int64_t>(page.revision), last + '\0'}.encode();
  }
  return page;
}

ServerResponse Rest::list(RestRequest& request) {
  request.choose_output({.custom = request.resource->is_custom()});
  const ListOptions options = ListOptions::parse(request.url.query, false);
  const ObjectEncoder encode = encoder(request);
  return make_response(200, request.output.content_type(),
                       encode.list(read_page(request, options)));
}

ServerResponse Rest::watch(RestRequest& request) {
  // A transform that does not apply to streams is refused last.
  request.choose_output({.custom = request.resource->is_custom()});
  std::optional<ApiError> refusal;
  try {
    request.choose_output({.custom = request.resource->is_custom(), .watch = true});
  } catch (const ApiError& error) {
    refusal = error;
  }
  const ListOptions options = ListOptions::parse(request.url.query, true);
  WatchPlan plan{.resource = request.resource,
                 .output = request.output,
                 .include = include_object(request.url.query),
                 .selection = selection_of(*request.resource, options),
                 .bookmarks = options.bookmarks};
  if (!options.version_text.empty() && !options.version) {
    throw malformed_version(options.version_text);
  }
  if (refusal) throw ApiError{*refusal};
  ServerResponse response = make_response(200,
                                          request.output.format == Format::kProtobuf
                                              ? "application/vnd.kubernetes.protobuf;stream=watch"
                                              : "application/json",
                                          "");
  if (request.output.transform == Transform::kPartialList) {
    response.stream = empty_watch();
    return response;
  }
  const std::uint64_t version = options.version.value_or(0);
  plan.initial = options.send_initial.value_or(version == 0);
  plan.duration =
      options.timeout_seconds > 0
          ? std::chrono::seconds{std::min<std::int64_t>(options.timeout_seconds, 1 << 30)}
          : std::chrono::seconds{1800 + services_.ids.below(1800)};
  try {
    if (plan.initial) await_version(request, version);
    std::optional<std::uint64_t> after;
    if (!plan.initial && version != 0) after = version;
    Store::WatchStart start = services_.store.watch(
        *request.resource->collection, scope_of(request, options), after, plan.initial);
    if (start.expired) {
      throw expired(is_event(*request.resource)
                        ? "The resourceVersion for the provided watch is too old."
                        : fmt::format("too old resource version: {} ({})", version, start.floor));
    }
    plan.after = plan.initial ? 0 : after.value_or(start.revision);
    response.stream = std::make_unique<WatchStream>(services_, std::move(plan), std::move(start));
  } catch (const ApiError& error) {
    response.stream = failing_watch(request.output, error.status());
  }
  return response;
}

}  // namespace kube::testkit::detail

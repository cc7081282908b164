// SPDX-License-Identifier: Apache-2.0
#include <kube/client/discovery.hpp>

#include "rest_client.hpp"

#include "base/text.hpp"

#include <kube/api/apidiscovery/v2.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>

#include <algorithm>
#include <optional>

namespace kube {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view kAccept =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

std::vector<std::string> texts(const List<String>& list) {
  std::vector<std::string> result;
  result.reserve(list.size());
  for (const String& text : list) result.push_back(text.str());
  return result;
}

/// Returns whether a Content-Type denotes aggregated discovery; the order of parameters is free.
bool is_aggregated(std::string_view content_type) {
  bool has_group = false;
  bool has_kind = false;
  for (std::size_t at = content_type.find(';'); at != std::string_view::npos;) {
    const std::size_t end = std::min(content_type.find(';', at + 1), content_type.size());
    std::string_view parameter = content_type.substr(at + 1, end - at - 1);
    parameter.remove_prefix(std::min(parameter.find_first_not_of(' '), parameter.size()));
    has_group |= parameter == "g=apidiscovery.k8s.io";
    has_kind |= parameter == "as=APIGroupDiscoveryList";
    at = content_type.find(';', end);
  }
  return has_group && has_kind;
}

GroupVersionKind kind_of(const Box<meta::v1::GroupVersionKind>& kind, const GroupVersion& in) {
  if (!kind) return {in.group, in.version, ""};
  return {kind->version.empty() ? in.group : kind->group.str(),
          kind->version.empty() ? in.version : kind->version.str(), kind->kind.str()};
}

/// Collects the responses of one discovery.
class Sweep {
 public:
  Sweep(std::shared_ptr<detail::RestClient> rest, std::stop_token stop)
      : rest_(std::move(rest)), stop_(std::move(stop)) {}

  DiscoveredApi run() {
    try {
      root("/api");
    } catch (const ApiError& error) {
      // An extension API server has no core group.
      if (!is_not_found(error)) throw;
    }
    root("/apis");
    return std::move(api_);
  }

 private:
  struct Answer {
    std::string content_type;
    std::string body;
  };

  Answer ask(std::string path) {
    detail::Request request;
    request.path = std::move(path);
    request.accept = kAccept;
    request.limiter = "discovery";
    request.timeout = 32s;
    if (rest_->config().timeout > 0ms) request.timeout = rest_->config().timeout;
    const std::unique_ptr<detail::PolledStream> stream = rest_->send(request, stop_);
    const std::string* type = find_header(stream->head().headers, "Content-Type");
    Answer answer{type == nullptr ? std::string{} : *type, {}};
    if (detail::format_of(answer.content_type, Format::kJson) != Format::kJson) {
      throw detail::unexpected_answer(request, stream->head(),
                                      "expected JSON, the answer is " + answer.content_type);
    }
    answer.body = rest_->read_body(request, *stream, stop_);
    return answer;
  }

  void root(const std::string& path) {
    const Answer answer = ask(path);
    if (is_aggregated(answer.content_type)) {
      aggregated(*decode_json<apidiscovery::v2::APIGroupDiscoveryList>(answer.body));
    } else if (path == "/api") {
      const Ref<meta::v1::APIVersions> versions = decode_json<meta::v1::APIVersions>(answer.body);
      DiscoveredGroup group;
      for (const String& version : versions->versions) legacy_version(group, {"", version.str()});
      api_.groups.push_back(std::move(group));
    } else {
      const Ref<meta::v1::APIGroupList> groups = decode_json<meta::v1::APIGroupList>(answer.body);
      for (const meta::v1::APIGroup& group : groups->groups) legacy_group(group);
    }
  }

  void aggregated(const apidiscovery::v2::APIGroupDiscoveryList& list) {
    for (const apidiscovery::v2::APIGroupDiscovery& found : list.items) {
      DiscoveredGroup group{found.metadata.name.str(), {}};
      for (const apidiscovery::v2::APIVersionDiscovery& version : found.versions) {
        const GroupVersion name{group.name, version.version.str()};
        if (version.freshness == apidiscovery::v2::discovery_freshness::kStale) {
          api_.failures.push_back({name, "the server has no fresh description of it"});
          continue;
        }
        group.versions.push_back({name.version, {}});
        for (const apidiscovery::v2::APIResourceDiscovery& resource : version.resources) {
          // Without a kind, it is only the parent of subresources.
          if (!resource.response_kind) continue;
          group.versions.back().resources.push_back(resource_of(resource, name));
        }
      }
      api_.groups.push_back(std::move(group));
    }
  }

  static DiscoveredResource resource_of(const apidiscovery::v2::APIResourceDiscovery& found,
                                        const GroupVersion& in) {
    DiscoveredResource resource{
        .resource = in.with_resource(found.resource.view()),
        .kind = kind_of(found.response_kind, in),
        .singular = found.singular_resource.str(),
        .namespaced = found.scope == apidiscovery::v2::resource_scope::kNamespace,
        .verbs = texts(found.verbs),
        .short_names = texts(found.short_names),
        .categories = texts(found.categories)};
    for (const apidiscovery::v2::APISubresourceDiscovery& sub : found.subresources) {
      resource.subresources.push_back(
          {sub.subresource.str(), kind_of(sub.response_kind, in), texts(sub.verbs)});
    }
    return resource;
  }

  void legacy_group(const meta::v1::APIGroup& found) {
    DiscoveredGroup group{found.name.str(), {}};
    const std::string preferred = found.preferred_version.version.str();
    if (!preferred.empty()) legacy_version(group, {group.name, preferred});
    for (const meta::v1::GroupVersionForDiscovery& version : found.versions) {
      if (version.version != preferred) legacy_version(group, {group.name, version.version.str()});
    }
    api_.groups.push_back(std::move(group));
  }

  void legacy_version(DiscoveredGroup& group, const GroupVersion& name) {
    try {
      const Answer answer = ask((name.group.empty() ? "/api/" : "/apis/") +
                                detail::percent_encode(to_string(name), "/"));
      DiscoveredVersion version{name.version, {}};
      const Ref<meta::v1::APIResourceList> list =
          decode_json<meta::v1::APIResourceList>(answer.body);
      for (const meta::v1::APIResource& found : list->resources) {
        legacy_resource(version, found, name);
      }
      group.versions.push_back(std::move(version));
    } catch (const ApiError& error) {
      api_.failures.push_back({name, error.what()});
    } catch (const CodecError& error) {
      api_.failures.push_back({name, error.what()});
    }
  }

  static void legacy_resource(DiscoveredVersion& version, const meta::v1::APIResource& found,
                              const GroupVersion& in) {
    const GroupVersionKind kind{found.version.empty() ? in.group : found.group.str(),
                                found.version.empty() ? in.version : found.version.str(),
                                found.kind.str()};
    const std::string name = found.name.str();
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) {
      version.resources.push_back({.resource = in.with_resource(name),
                                   .kind = kind,
                                   .singular = found.singular_name.str(),
                                   .namespaced = found.namespaced,
                                   .verbs = texts(found.verbs),
                                   .short_names = texts(found.short_names),
                                   .categories = texts(found.categories)});
      return;
    }
    for (DiscoveredResource& resource : version.resources) {
      if (resource.resource.resource == name.substr(0, slash)) {
        resource.subresources.push_back({name.substr(slash + 1), kind, texts(found.verbs)});
      }
    }
  }

  std::shared_ptr<detail::RestClient> rest_;
  std::stop_token stop_;
  DiscoveredApi api_;
};

}  // namespace

std::string DiscoveredApi::failure_text() const {
  std::string text;
  for (const Failure& failure : failures) {
    if (!text.empty()) text += "; ";
    text += to_string(failure.group_version) + ": " + failure.problem;
  }
  return text;
}

DiscoveredApi Discovery::sweep(std::stop_token stop) const {
  return Sweep{detail::Inside::core(client_), std::move(stop)}.run();
}

DiscoveredApi Discovery::fetch(std::stop_token stop) const {
  DiscoveredApi api = sweep(stop);
  if (!api.failures.empty()) api = sweep(std::move(stop));
  return api;
}

ServerVersion Discovery::server_version(std::stop_token stop) const {
  const Ref<Value> document = decode_json<Value>(client_.raw().get("/version", std::move(stop)));
  const auto text = [&](const char* key) {
    const Value& value = (*document)[key];
    return value.is_string() ? std::string{value.as_string()} : std::string{};
  };
  return {text("major"),     text("minor"),     text("gitVersion"), text("gitCommit"),
          text("buildDate"), text("goVersion"), text("platform")};
}

ServerHealth Discovery::health(std::string_view path, std::stop_token stop) const {
  try {
    return {true,
            client_.raw()
                .send({.path = std::string{path}, .query = {{"verbose", ""}}}, std::move(stop))
                .body};
  } catch (const ApiError& error) {
    if (error.code() < 500) throw;
    const auto& details = error.status().details;
    const bool has_text = details && !details->causes.empty();
    return {false, has_text ? details->causes.front().message.str() : std::string{error.what()}};
  }
}

}  // namespace kube

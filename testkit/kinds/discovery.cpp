// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/discovery.hpp"

#include <kube/api/apidiscovery/v2.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/codec/base64.hpp>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "testkit/kinds/openapi.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

std::string http_date(Clock::WallTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                     kMonths[static_cast<std::size_t>(parts.tm_mon)], 1900 + parts.tm_year,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Value texts(const std::vector<std::string>& strings) {
  Value list = Value::array();
  for (const std::string& text : strings) list.push_back(text);
  return list;
}

std::vector<std::string> verbs_of(const Resource& resource) {
  if (!resource.is_custom()) return resource.verbs;
  if (resource.custom->terminating) return {"delete", "deletecollection", "get", "list", "watch"};
  return resource.verbs;
}

Value group_version(const std::string& group, const std::string& version) {
  return Value::object(
      {{"groupVersion", group.empty() ? version : group + '/' + version}, {"version", version}});
}

Value group_value(const Catalog& catalog, const std::string& group) {
  Value versions = Value::array();
  for (const auto& [version, resources] : catalog.versions(group)) {
    versions.push_back(group_version(group, version));
  }
  const Value preferred = std::as_const(versions)[0];
  return Value::object(
      {{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", preferred}});
}

std::string storage_hash(const Resource& resource) {
  constexpr std::size_t kSize = 8;
  const std::string text =
      fmt::format("{}/{}/{}", resource.group, resource.storage_version, resource.kind);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return base64_encode({reinterpret_cast<const char*>(digest), kSize});
}

Value resource_list(const Catalog& catalog, const std::string& group, const std::string& version) {
  Value list = Value::array();
  for (const auto& [plural, resource] : catalog.versions(group).find(version)->second) {
    Value entry = Value::object({{"name", plural},
                                 {"singularName", resource->singular},
                                 {"namespaced", resource->namespaced},
                                 {"kind", resource->kind},
                                 {"verbs", texts(verbs_of(*resource))}});
    if (!resource->short_names.empty()) entry["shortNames"] = texts(resource->short_names);
    if (!resource->categories.empty()) entry["categories"] = texts(resource->categories);
    if (resource->collection != nullptr) entry["storageVersionHash"] = storage_hash(*resource);
    list.push_back(std::move(entry));
    for (const Subresource& sub : resource->subresources) {
      Value part = Value::object({{"name", plural + '/' + sub.name},
                                  {"singularName", ""},
                                  {"namespaced", resource->namespaced},
                                  {"kind", sub.kind},
                                  {"verbs", texts(sub.verbs)}});
      if (sub.kind != resource->kind && !(sub.group == group && sub.version == version) &&
          !sub.version.empty()) {
        part["group"] = sub.group;
        part["version"] = sub.version;
      }
      list.push_back(std::move(part));
    }
  }
  return Value::object({{"groupVersion", group.empty() ? version : group + '/' + version},
                        {"resources", std::move(list)}});
}

Value response_kind(const Resource& resource, const std::string& group, const std::string& version,
                    const std::string& kind) {
  const bool own = !resource.is_custom() && group == resource.group && version == resource.version;
  return Value::object(
      {{"group", own ? "" : group}, {"version", own ? "" : version}, {"kind", kind}});
}

Value discovery_resource(const Resource& resource) {
  Value entry = Value::object(
      {{"resource", resource.plural},
       {"responseKind", response_kind(resource, resource.group, resource.version, resource.kind)},
       {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
       {"singularResource", resource.singular},
       {"verbs", texts(verbs_of(resource))}});
  if (!resource.short_names.empty()) entry["shortNames"] = texts(resource.short_names);
  if (!resource.categories.empty()) entry["categories"] = texts(resource.categories);
  Value subresources = Value::array();
  for (const Subresource& sub : resource.subresources) {
    const bool own = sub.version.empty();
    subresources.push_back(Value::object(
        {{"subresource", sub.name},
         {"responseKind", response_kind(resource, own ? resource.group : sub.group,
                                        own ? resource.version : sub.version, sub.kind)},
         {"verbs", texts(sub.verbs)}}));
  }
  if (subresources.size() > 0) entry["subresources"] = std::move(subresources);
  return entry;
}

Value aggregated(const Catalog& catalog, bool core) {
  Value items = Value::array();
  for (const std::string& group : catalog.groups()) {
    if (group.empty() != core) continue;
    Value versions = Value::array();
    for (const auto& [version, resources] : catalog.versions(group)) {
      Value list = Value::array();
      for (const auto& [plural, resource] : resources)
        list.push_back(discovery_resource(*resource));
      versions.push_back(Value::object(
          {{"version", version}, {"resources", std::move(list)}, {"freshness", "Current"}}));
    }
    Value metadata = Value::object();
    if (!group.empty()) metadata["name"] = group;
    items.push_back(
        Value::object({{"metadata", std::move(metadata)}, {"versions", std::move(versions)}}));
  }
  return Value::object({{"items", std::move(items)}});
}

template <typename T>
ServerResponse legacy(Services& services, const Output& output, const Value& value,
                      bool core = false) {
  const StoredObject typed = services.codec.from_value(type_of<T>(), value);
  if (!core || output.format == Format::kProtobuf) {
    return make_response(200, output.content_type(), encode_as(output, typed.type(), typed.data()));
  }
  // These two documents have no apiVersion, for historical reasons.
  constexpr std::string_view kVersion = R"("apiVersion":"v1",)";
  std::string json = typed.json();
  if (const std::size_t at = json.find(kVersion); at != std::string::npos) {
    json.erase(at, kVersion.size());
  }
  return make_response(200, output.content_type(), finish_json(output, std::move(json)));
}

ServerResponse aggregated_response(Services& services, const ServerRequest& request,
                                   const Output& output, bool core) {
  const Value value = aggregated(*services.catalog(), core);
  const std::string etag = '"' + etag_hash(json_text(value)) + '"';
  const std::string* known = find_header(request.headers, "If-None-Match");
  ServerResponse response;
  if (known != nullptr && *known == etag) {
    response.status = 304;
  } else {
    const StoredObject typed =
        services.codec.from_value(type_of<apidiscovery::v2::APIGroupDiscoveryList>(), value);
    response = make_response(200,
                             fmt::format("{};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                                         output.content_type()),
                             encode_as(output, typed.type(), typed.data()));
  }
  response.headers.push_back({"ETag", etag});
  response.headers.push_back({"Vary", "Accept"});
  response.headers.push_back({"Cache-Control", "public"});
  return response;
}

std::string_view accept_of(const ServerRequest& request) {
  const std::string* accept = find_header(request.headers, "Accept");
  return accept == nullptr ? std::string_view{} : std::string_view{*accept};
}

Value addresses(const ServerRequest& request) {
  const std::string* host = find_header(request.headers, "Host");
  return Value::array({Value::object(
      {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", host == nullptr ? "" : *host}})});
}

std::string root_paths(const Catalog& catalog) {
  std::vector<std::string> paths{"/.well-known/openid-configuration",
                                 "/api",
                                 "/api/v1",
                                 "/apis",
                                 "/healthz",
                                 "/livez",
                                 "/openapi/v2",
                                 "/openapi/v3",
                                 "/readyz",
                                 "/version"};
  for (const std::string& group : catalog.groups()) {
    if (group.empty()) continue;
    paths.push_back("/apis/" + group);
    for (const auto& [version, resources] : catalog.versions(group)) {
      paths.push_back("/apis/" + group + '/' + version);
    }
  }
  std::ranges::sort(paths);
  return json_text(Value::object({{"paths", texts(paths)}}));
}

std::vector<Value> established_definitions(Services& services) {
  std::vector<Value> definitions;
  const Store::ListResult found = services.store.list(
      services.store.collection({"apiextensions.k8s.io", "customresourcedefinitions"}), {});
  for (const auto& [key, object] : found.objects) {
    Value definition = *object.value();
    for (const Value& condition : definition.get_array("status.conditions")) {
      if (condition["type"] == Value{"Established"} && condition["status"] == Value{"True"}) {
        definitions.push_back(definition);
        break;
      }
    }
  }
  return definitions;
}

ServerResponse not_modified_or(const ServerRequest& request, const std::string& hash,
                               ServerResponse response) {
  const std::string etag = '"' + hash + '"';
  const std::string* known = find_header(request.headers, "If-None-Match");
  if (known != nullptr && *known == etag) {
    response = ServerResponse{.status = 304};
  }
  response.headers.push_back({"ETag", etag});
  response.headers.push_back({"Vary", "Accept"});
  return response;
}

}  // namespace

std::optional<ServerResponse> serve_discovery(Services& services, const ServerRequest& request,
                                              const RequestUrl& url, bool pretty) {
  const std::vector<std::string>& parts = url.segments;
  const std::shared_ptr<const Catalog> catalog = services.catalog();
  const auto negotiated = [&](bool with_aggregation) {
    Output output =
        negotiate(accept_of(request), {.transforms = false, .discovery = with_aggregation});
    output.pretty = pretty;
    return output;
  };
  if (parts.empty()) {
    return make_response(200, "application/json", indent_json(root_paths(*catalog)));
  }
  if (parts[0] != "api" && parts[0] != "apis") return std::nullopt;
  const bool core = parts[0] == "api";
  if (parts.size() == 1) {
    const Output output = negotiated(true);
    if (output.transform == Transform::kDiscovery) {
      return aggregated_response(services, request, output, core);
    }
    if (core) {
      return legacy<meta::v1::APIVersions>(
          services, output,
          Value::object({{"versions", Value::array({"v1"})},
                         {"serverAddressByClientCIDRs", addresses(request)}}),
          true);
    }
    Value groups = Value::array();
    for (const std::string& group : catalog->groups()) {
      if (!group.empty()) groups.push_back(group_value(*catalog, group));
    }
    return legacy<meta::v1::APIGroupList>(services, output,
                                          Value::object({{"groups", std::move(groups)}}));
  }
  const std::string group = core ? "" : parts[1];
  if (!core && parts.size() == 2) {
    if (!catalog->has_group(group)) return std::nullopt;
    return legacy<meta::v1::APIGroup>(services, negotiated(false), group_value(*catalog, group));
  }
  if (parts.size() != (core ? 2U : 3U) || !catalog->has_version(group, parts.back())) {
    return std::nullopt;
  }
  return legacy<meta::v1::APIResourceList>(services, negotiated(false),
                                           resource_list(*catalog, group, parts.back()), core);
}

std::optional<ServerResponse> serve_openapi(Services& services, const ServerRequest& request,
                                            const RequestUrl& url, bool pretty) {
  if (url.path == "/openapi/v2") {
    const std::vector<Value> definitions = established_definitions(services);
    const Value document = openapi_v2(definitions);
    bool protobuf = false;
    for (const MediaType& clause : parse_accept(accept_of(request))) {
      if (clause.type == "application/json" || clause.type == "*/*") break;
      if (clause.type.starts_with("application/com.github.proto-openapi.spec.v2")) {
        protobuf = true;
        break;
      }
    }
    std::string json = json_text(document);
    const std::string hash = etag_hash(json);
    Output output;
    output.pretty = pretty;
    return not_modified_or(
        request, hash,
        protobuf ? make_response(200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                                 openapi_v2_protobuf(document))
                 : make_response(200, "application/json", finish_json(output, std::move(json))));
  }
  if (!url.path.starts_with("/openapi/v3")) return std::nullopt;
  const std::vector<Value> definitions = established_definitions(services);
  const std::vector<OpenApiDocument> documents = openapi_v3_documents(definitions);
  if (url.segments.size() == 2) {
    return make_response(200, "text/plain; charset=utf-8", openapi_v3_index(documents));
  }
  const std::string path = url.path.substr(std::string_view{"/openapi/v3/"}.size());
  const auto found = std::ranges::find(documents, path, &OpenApiDocument::path);
  if (found == documents.end()) return std::nullopt;
  const std::string_view wanted = url.query.text("hash");
  if (!wanted.empty() && wanted != found->hash) {
    ServerResponse moved = make_response(301, "text/plain; charset=utf-8", "");
    moved.headers.push_back(
        {"Location", fmt::format("/openapi/v3/{}?hash={}", found->path, found->hash)});
    return moved;
  }
  ServerResponse response = make_response(200, "application/json", found->json);
  if (!wanted.empty()) {
    response.headers.push_back({"Cache-Control", "public, immutable"});
    response.headers.push_back(
        {"Expires", http_date(services.clock.wall_now() + std::chrono::hours{8760})});
  }
  return not_modified_or(request, found->hash, std::move(response));
}

}  // namespace kube::testkit::detail

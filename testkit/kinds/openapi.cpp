// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/openapi.hpp"

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/kinds/openapi_schema.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <map>

namespace kube::testkit::detail {

namespace {

Value info() {
  return Value::object(
      {{"title", "Kubernetes"},
       {"version", fmt::format("v{}", text_member(builtin_facts(), "kubernetes"))}});
}

/// The paths of one document and the schemas that they refer to.
struct Document {
  explicit Document(OpenApiVersion api_version) : version(api_version), schemas(api_version) {}
  OpenApiVersion version;
  Value paths = Value::object();
  OpenApiSchemas schemas;
};

template <typename Set>
Set texts(const Value& list) {
  Set set;
  if (!list.is_array()) return set;
  for (const Value& text : list.as_array()) set.emplace(text.as_string());
  return set;
}

/// Returns the name of the kind's type in the facts, "autoscaling/v1.Scale"; empty if there is
/// none.
std::string type_of_kind(std::string_view group, std::string_view version, std::string_view kind) {
  for (const Value& facts : builtin_facts()["groups"].as_array()) {
    if (text_member(facts, "group") != group || text_member(facts, "version") != version) continue;
    for (const Value& type : facts["types"].as_array()) {
      if (text_member(type, "name") == kind)
        return fmt::format("{}/{}.{}", text_member(facts, "name"), version, kind);
    }
  }
  return {};
}

void add_builtin(Document& document, const Value& group) {
  using Verbs = decltype(OpenApiResource::verbs);
  const std::string_view version = text_member(group, "version");
  for (const Value& fact : group["resources"].as_array()) {
    if (!is_true_member(fact, "served_by_default")) continue;
    const std::string type =
        fmt::format("{}/{}.{}", text_member(group, "name"), version, text_member(fact, "kind"));
    OpenApiResource resource;
    resource.group = text_member(group, "group");
    resource.version = version;
    resource.kind = text_member(fact, "kind");
    resource.plural = text_member(fact, "plural");
    resource.namespaced = is_true_member(fact, "namespaced");
    resource.verbs = texts<Verbs>(fact["verbs"]);
    resource.reference = document.schemas.reference(type);
    if (const std::string_view list_kind = text_member(fact, "list_kind"); !list_kind.empty()) {
      resource.list_reference = document.schemas.list_reference(type, list_kind);
    }
    add_paths(document.paths, resource, document.version);
    if (!fact["subresources"].is_array()) continue;
    for (const Value& part : fact["subresources"].as_array()) {
      OpenApiSubresource subresource;
      subresource.name = text_member(part, "name");
      subresource.group = text_member(part, "group");
      subresource.version = text_member(part, "version");
      subresource.kind = text_member(part, "kind");
      subresource.verbs = texts<Verbs>(part["verbs"]);
      const std::string part_type =
          type_of_kind(subresource.group, subresource.version, subresource.kind);
      if (!part_type.empty()) subresource.reference = document.schemas.reference(part_type);
      add_subresource_path(document.paths, resource, subresource, document.version);
    }
  }
}

void add_custom(Document& document, const Value& definition, const Value& version) {
  const Value& names = definition["spec"]["names"];
  OpenApiResource resource;
  resource.group = text_member(definition["spec"], "group");
  resource.version = text_member(version, "name");
  resource.kind = text_member(names, "kind");
  resource.plural = text_member(names, "plural");
  resource.namespaced = text_member(definition["spec"], "scope") == "Namespaced";
  resource.verbs = {"create", "delete", "deletecollection", "get",
                    "list",   "patch",  "update",           "watch"};
  resource.reference = document.schemas.custom_reference(
      resource.group, resource.version, resource.kind, version["schema"]["openAPIV3Schema"]);
  std::string list_kind{text_member(names, "listKind")};
  if (list_kind.empty()) list_kind = resource.kind + "List";
  resource.list_reference = document.schemas.custom_list_reference(resource.group, resource.version,
                                                                   resource.kind, list_kind);
  add_paths(document.paths, resource, document.version);
  const Value& subresources = version["subresources"];
  if (member(subresources, "status") != nullptr) {
    add_subresource_path(document.paths, resource,
                         {"status",
                          resource.group,
                          resource.version,
                          resource.kind,
                          {"get", "patch", "update"},
                          resource.reference},
                         document.version);
  }
  if (member(subresources, "scale") != nullptr) {
    add_subresource_path(document.paths, resource,
                         {"scale",
                          "autoscaling",
                          "v1",
                          "Scale",
                          {"get", "patch", "update"},
                          document.schemas.reference("autoscaling/v1.Scale")},
                         document.version);
  }
}

/// Calls `visit(definition, version)` for every served version.
template <typename Visit>
void for_each_served(std::span<const Value> definitions, Visit visit) {
  for (const Value& definition : definitions) {
    if (!definition["spec"]["versions"].is_array()) continue;
    for (const Value& version : definition["spec"]["versions"].as_array()) {
      if (is_true_member(version, "served")) visit(definition, version);
    }
  }
}

OpenApiDocument finished(std::string path, Document& document) {
  Value made = Value::object();
  made["components"] = Value::object({{"schemas", document.schemas.all()}});
  made["info"] = info();
  made["openapi"] = "3.0.0";
  made["paths"] = std::move(document.paths);
  std::string json = encode_json(made);
  std::string hash = etag_hash(json);
  return {std::move(path), std::move(json), std::move(hash)};
}

bool serves_something(const Value& group) {
  return std::ranges::any_of(group["resources"].as_array(), [](const Value& resource) {
    return is_true_member(resource, "served_by_default");
  });
}

const std::vector<OpenApiDocument>& builtin_documents() {
  static const std::vector<OpenApiDocument> kDocuments = [] {
    std::vector<OpenApiDocument> made;
    for (const Value& group : builtin_facts()["groups"].as_array()) {
      if (!serves_something(group)) continue;
      const std::string_view name = text_member(group, "group");
      const std::string_view version = text_member(group, "version");
      Document document{OpenApiVersion::kV3};
      add_builtin(document, group);
      made.push_back(finished(
          name.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", name, version),
          document));
    }
    return made;
  }();
  return kDocuments;
}

}  // namespace

std::vector<OpenApiDocument> openapi_v3_documents(std::span<const Value> definitions) {
  std::map<std::string, Document> custom;
  for_each_served(definitions, [&](const Value& definition, const Value& version) {
    const std::string path = fmt::format("apis/{}/{}", text_member(definition["spec"], "group"),
                                         text_member(version, "name"));
    add_custom(custom.try_emplace(path, OpenApiVersion::kV3).first->second, definition, version);
  });
  std::vector<OpenApiDocument> documents = builtin_documents();
  for (auto& [path, document] : custom) documents.push_back(finished(path, document));
  std::ranges::sort(documents, {}, &OpenApiDocument::path);
  return documents;
}

std::string openapi_v3_index(std::span<const OpenApiDocument> documents) {
  Value paths = Value::object();
  for (const OpenApiDocument& document : documents) {
    paths[document.path]["serverRelativeURL"] =
        fmt::format("/openapi/v3/{}?hash={}", document.path, document.hash);
  }
  return encode_json(Value::object({{"paths", std::move(paths)}}));
}

Value openapi_v2(std::span<const Value> definitions) {
  Document document{OpenApiVersion::kV2};
  for (const Value& group : builtin_facts()["groups"].as_array()) add_builtin(document, group);
  for_each_served(definitions, [&](const Value& definition, const Value& version) {
    add_custom(document, definition, version);
  });
  Value made = Value::object();
  made["definitions"] = document.schemas.all();
  made["info"] = info();
  made["paths"] = std::move(document.paths);
  made["swagger"] = "2.0";
  return made;
}

std::string etag_hash(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha512(), nullptr);
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02X}", digest[i]);
  return text;
}

}  // namespace kube::testkit::detail

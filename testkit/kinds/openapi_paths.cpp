// SPDX-License-Identifier: Apache-2.0
#include "testkit/kinds/openapi_schema.hpp"
#include "testkit/values/value_edit.hpp"

#include <fmt/format.h>

#include <span>

namespace kube::testkit::detail {

namespace {

Value parameter(std::string_view name, std::string_view in, std::string_view type,
                OpenApiVersion version) {
  Value made = Value::object({{"in", in}, {"name", name}});
  if (in == "path") made["required"] = true;
  if (version == OpenApiVersion::kV3) {
    made["schema"] = Value::object({{"type", type}});
  } else {
    made["type"] = type;
  }
  made["uniqueItems"] = true;
  return made;
}

struct Parameter {
  const char* name;
  const char* type;
};

constexpr Parameter kRead[] = {{"pretty", "string"}};
constexpr Parameter kList[] = {{"allowWatchBookmarks", "boolean"},
                               {"continue", "string"},
                               {"fieldSelector", "string"},
                               {"labelSelector", "string"},
                               {"limit", "integer"},
                               {"resourceVersion", "string"},
                               {"resourceVersionMatch", "string"},
                               {"sendInitialEvents", "boolean"},
                               {"timeoutSeconds", "integer"},
                               {"watch", "boolean"}};
constexpr Parameter kWrite[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
constexpr Parameter kPatch[] = {{"dryRun", "string"},
                                {"fieldManager", "string"},
                                {"fieldValidation", "string"},
                                {"force", "boolean"}};
constexpr Parameter kDelete[] = {{"dryRun", "string"},
                                 {"gracePeriodSeconds", "integer"},
                                 {"orphanDependents", "boolean"},
                                 {"propagationPolicy", "string"}};

struct Action {
  const char* verb;    ///< in discovery
  const char* method;  ///< HTTP method
  const char* name;    ///< x-kubernetes-action
  std::span<const Parameter> parameters;
  const char* content_type = nullptr;  ///< of the request body
};

constexpr Action kCollectionActions[] = {
    {"list", "get", "list", kList},
    {"create", "post", "post", kWrite, "application/json"},
    {"deletecollection", "delete", "deletecollection", kDelete},
};
constexpr Action kObjectActions[] = {
    {"get", "get", "get", kRead},
    {"update", "put", "put", kWrite, "application/json"},
    {"patch", "patch", "patch", kPatch, "application/merge-patch+json"},
    {"delete", "delete", "delete", kDelete},
    {"create", "post", "post", kWrite, "application/json"},  // for subresources
};

struct Kind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
};

Value operation(const Action& action, const Kind& kind, std::string_view where,
                const Value& reference, OpenApiVersion version) {
  Value made = Value::object();
  Value parameters = Value::array();
  for (const Parameter& one : action.parameters)
    parameters.push_back(parameter(one.name, "query", one.type, version));
  Value response = Value::object({{"description", "OK"}});
  const bool v3 = version == OpenApiVersion::kV3;
  const auto content = [&](std::string_view type) {
    return Value::object({{type, Value::object({{"schema", reference}})}});
  };
  made["operationId"] = fmt::format("{}{}", action.name, where);
  if (!reference.is_absent()) {
    if (v3) {
      response["content"] = content("application/json");
    } else {
      response["schema"] = reference;
    }
    if (action.content_type != nullptr && v3) {
      made["requestBody"] =
          Value::object({{"content", content(action.content_type)}, {"required", true}});
    } else if (action.content_type != nullptr) {
      parameters.push_back(Value::object(
          {{"in", "body"}, {"name", "body"}, {"required", true}, {"schema", reference}}));
    }
  }
  made["parameters"] = std::move(parameters);
  made["responses"] = Value::object({{"200", std::move(response)}});
  made["x-kubernetes-action"] = action.name;
  made["x-kubernetes-group-version-kind"] =
      Value::object({{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}});
  return made;
}

/// Adds the operations of one path, restricted to `verbs`; adds nothing if there are none.
template <typename Actions, typename Verbs>
void add_path(Value& paths, const std::string& path, const Actions& actions, const Verbs& verbs,
              const Kind& kind, const Value& reference, const Value& list_reference,
              OpenApiVersion version) {
  Value item = Value::object();
  std::string where;
  for (const char c : path) where += c == '/' || c == '.' || c == '{' || c == '}' ? '_' : c;
  for (const Action& action : actions) {
    if (!verbs.contains(action.verb)) continue;
    const bool is_list = std::string_view{action.verb} == "list";
    item[action.method] =
        operation(action, kind, where, is_list ? list_reference : reference, version);
  }
  if (item.size() == 0) return;
  Value parameters = Value::array();
  for (const char* name : {"namespace", "name"}) {
    if (path.find(fmt::format("{{{}}}", name)) != std::string::npos) {
      parameters.push_back(parameter(name, "path", "string", version));
    }
  }
  if (parameters.size() > 0) item["parameters"] = std::move(parameters);
  paths[path] = std::move(item);
}

std::string collection_path(const OpenApiResource& resource, bool in_namespace) {
  return fmt::format("{}/{}/{}{}", resource.group.empty() ? "/api" : "/apis/" + resource.group,
                     resource.version, in_namespace ? "namespaces/{namespace}/" : "",
                     resource.plural);
}

}  // namespace

void add_paths(Value& paths, const OpenApiResource& resource, OpenApiVersion version) {
  const Kind kind{resource.group, resource.version, resource.kind};
  const std::string path = collection_path(resource, resource.namespaced);
  add_path(paths, path, kCollectionActions, resource.verbs, kind, resource.reference,
           resource.list_reference, version);
  if (resource.namespaced) {
    std::set<std::string, std::less<>> everywhere;
    if (resource.verbs.contains("list")) everywhere.insert("list");
    add_path(paths, collection_path(resource, false), kCollectionActions, everywhere, kind,
             resource.reference, resource.list_reference, version);
  }
  std::set<std::string, std::less<>> single = resource.verbs;
  single.erase("create");
  add_path(paths, path + "/{name}", kObjectActions, single, kind, resource.reference, {}, version);
}

void add_subresource_path(Value& paths, const OpenApiResource& parent,
                          const OpenApiSubresource& subresource, OpenApiVersion version) {
  const Kind kind{subresource.group, subresource.version, subresource.kind};
  add_path(paths, collection_path(parent, parent.namespaced) + "/{name}/" + subresource.name,
           kObjectActions, subresource.verbs, kind, subresource.reference, {}, version);
}

}  // namespace kube::testkit::detail

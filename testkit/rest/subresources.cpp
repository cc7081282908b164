// SPDX-License-Identifier: Apache-2.0
// Subresources other than parts of the object.
#include "testkit/rest/rest.hpp"

#include <kube/api/authentication/v1.hpp>
#include <kube/api/autoscaling/v1.hpp>
#include <kube/api/label_selector.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/api/policy/v1.hpp>
#include <kube/api/time.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>

#include <utility>

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/kinds/conversion.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/body.hpp"
#include "testkit/rest/disruption_budgets.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/apply.hpp"
#include "testkit/values/duplicate_fields.hpp"
#include "testkit/values/json_patch.hpp"
#include "testkit/values/merge_patch.hpp"
#include "testkit/values/strategic_merge.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

/// Returns a Resource for a kind that only subresources accept, for decoding and encoding.
template <typename T>
ResourcePtr pseudo_resource(const char* group, const char* version = "v1") {
  Resource resource;
  resource.group = group;
  resource.version = version;
  resource.kind = T::kube_type.name;
  resource.type = &type_of<T>();
  resource.storage_type = resource.type;
  resource.printer =
      std::make_shared<const TablePrinter>(TablePrinter::for_builtin(group, resource.kind));
  resource.schema = builtin_schema(group, "v1", resource.kind);
  return std::make_shared<const Resource>(std::move(resource));
}

/// Replaces or adds the condition of that type.
void set_condition(Value& object, std::string_view type, std::string_view reason,
                   std::string_view message, const std::string& now) {
  Value kept = Value::array();
  const Value& conditions = std::as_const(object)["status"]["conditions"];
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]["type"] != Value{type}) kept.push_back(conditions[i]);
  }
  kept.push_back(Value::object({{"type", type},
                                {"status", "True"},
                                {"lastProbeTime", nullptr},
                                {"lastTransitionTime", now},
                                {"reason", reason},
                                {"message", message}}));
  object["status"]["conditions"] = std::move(kept);
}

const ResourcePtr& scale_resource() {
  static const ResourcePtr kScale = pseudo_resource<autoscaling::v1::Scale>("autoscaling");
  return kScale;
}

/// The paths of a resource's replica counts and selector, without the leading dot.
struct ScalePaths {
  std::string spec_replicas;
  std::string status_replicas = "status.replicas";
  std::string selector = {};
};

ScalePaths scale_paths(const Resource& resource) {
  if (!resource.is_custom()) return {replicas_path(resource)};
  return {replicas_path(resource), without_dot(resource.custom->status_replicas_path),
          without_dot(resource.custom->label_selector_path)};
}

std::string selector_text(ObjectCodec& codec, const Resource& resource, const ScalePaths& paths,
                          const Value& object) {
  if (resource.is_custom()) {
    if (paths.selector.empty()) return {};
    const Value* found = object.find(paths.selector);
    return found != nullptr && found->is_string() ? std::string{found->as_string()} : std::string{};
  }
  Value selector = object["spec"]["selector"];
  if (selector.is_absent()) return {};
  if (resource.kind == "ReplicationController") {
    selector = Value::object({{"matchLabels", std::move(selector)}});
  }
  const StoredObject typed = codec.from_value(type_of<meta::v1::LabelSelector>(), selector);
  const auto& given = *reinterpret_cast<const meta::v1::LabelSelector*>(typed.data());
  auto text = labels::Selector::from_valid_set(given.match_labels);
  const meta::v1::LabelSelector others{.match_expressions = given.match_expressions};
  const labels::Selector expressions = to_selector(others);
  for (const labels::Requirement& one : expressions.requirements()) text = text.with(one);
  return text.to_string();
}

Value scale_of(ObjectCodec& codec, const Resource& resource, const Value& object) {
  const ScalePaths paths = scale_paths(resource);
  const Value* replicas = object.find(paths.spec_replicas);
  if (replicas == nullptr && resource.is_custom()) {
    throw internal_error(
        fmt::format("the spec replicas field \".{}\" does not exist", paths.spec_replicas));
  }
  Value metadata = Value::object();
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (!object["metadata"][field].is_absent()) metadata[field] = object["metadata"][field];
  }
  Value spec = Value::object();
  if (replicas != nullptr) spec["replicas"] = *replicas;
  Value status = Value::object();
  const Value* now = object.find(paths.status_replicas);
  status["replicas"] = 0;
  if (now != nullptr) status["replicas"] = *now;
  const std::string selector = selector_text(codec, resource, paths, object);
  if (!selector.empty()) status["selector"] = selector;
  return Value::object({{"kind", "Scale"},
                        {"apiVersion", "autoscaling/v1"},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)},
                        {"status", std::move(status)}});
}

ServerResponse success(const RestRequest& request, int code) {
  meta::v1::Status status;
  status.status = "Success";
  if (code != 200) status.code = code;
  Output plain = request.output;
  plain.transform = Transform::kNone;
  return make_response(code, plain.content_type(), encode_as(plain, status));
}

/// Returns the version of an Eviction. Both versions have the same fields, and the server accepts
/// either. Searches the text regardless of its format, which is checked when it is decoded.
const char* eviction_version(std::string_view body) {
  return body.find("policy/v1beta1") != std::string_view::npos ? "v1beta1" : "v1";
}

}  // namespace

ServerResponse Rest::scale(RestRequest& request) {
  const Resource& resource = *request.resource;
  request.choose_output({.custom = resource.is_custom()});
  const auto answer = [&](const StoredObject& parent) {
    const Value value = *as_served(services_.codec, resource, parent).value();
    const StoredObject scale = services_.codec.from_value(
        *scale_resource()->type, scale_of(services_.codec, resource, value));
    const ObjectEncoder encode{services_.codec, *scale_resource(), request.output,
                               IncludeObject::kMetadata, services_.clock.wall_now()};
    return make_response(200, request.output.content_type(), encode.object(scale));
  };
  if (request.verb == "get") {
    const StoredObject parent = services_.store.get(*resource.collection, request.key());
    if (!parent) throw not_found(resource.group_resource(), request.name);
    return answer(parent);
  }
  const bool is_patch = request.verb == "patch";
  if (is_patch &&
      parse_media_type(request.header("Content-Type")).type == "application/apply-patch+yaml") {
    return answer(apply_scale(request).object);
  }
  const WriteOptions options =
      WriteOptions::parse(request.url.query, is_patch ? "PatchOptions" : "UpdateOptions");
  Value body;
  const std::string type = parse_media_type(request.header("Content-Type")).type;
  if (is_patch) {
    if (type != "application/merge-patch+json" && type != "application/json-patch+json" &&
        type != "application/strategic-merge-patch+json") {
      throw unsupported_media_type("application/json-patch+json, application/merge-patch+json");
    }
    body = *services_.codec.value_from_json(request.http.body);
  } else {
    body = decode_body(request, *scale_resource(), options);
    if (metadata_text(body, "name") != request.name) {
      throw bad_request("the name of the object does not match the name on the URL");
    }
    set_namespace(request, body);
  }
  const Written written = update_object(
      request, options,
      [&](const Value& live) {
        // An update needs no existing Scale.
        Value scale = is_patch ? scale_of(services_.codec, resource, live) : Value{};
        if (!is_patch) {
          scale = body;
        } else if (type == "application/json-patch+json") {
          scale = json_patch(std::move(scale), body);
        } else if (type == "application/merge-patch+json") {
          scale = merge_patch(std::move(scale), body);
        } else {
          scale = strategic_merge(std::move(scale), body, schema_of(*scale_resource()));
        }
        if (is_patch) {
          DroppedFields dropped{.unknown = unknown_fields(*scale_resource()->schema, scale)};
          if (type != "application/json-patch+json") {
            dropped.duplicate = duplicate_fields(request.http.body);
          }
          report_fields(request, options, dropped, [&](const std::string& problem) {
            return invalid(GroupKind{}, "", invalid_value("patch", request.http.body, problem));
          });
        }
        const auto replicas = scale.get_integer("spec.replicas").value_or(0);
        if (replicas < 0) {
          throw invalid(
              {"autoscaling", "Scale"}, request.name,
              invalid_value("spec.replicas", replicas, "must be greater than or equal to 0"));
        }
        Value next = live;
        next.at_path(scale_paths(resource).spec_replicas) = replicas;
        const std::string version = metadata_text(scale, "resourceVersion");
        if (!version.empty()) next["metadata"]["resourceVersion"] = version;
        return next;
      },
      false, false);
  return answer(written.object);
}

Rest::Written Rest::apply_scale(RestRequest& request) {
  const Resource& resource = *request.resource;
  const Query& query = request.url.query;
  std::vector<FieldError> errors;
  if (query.text("fieldManager").empty()) {
    errors.push_back(required_value("fieldManager", "is required for apply patch"));
  }
  const WriteOptions options = WriteOptions::parse(query, "PatchOptions", std::move(errors));
  const Ref<Value> scale = parse_yaml(request.http.body);
  const std::string kind = string_at(*scale, "kind");
  const std::string version = string_at(*scale, "apiVersion");
  if (kind != "Scale" || version != scale_resource()->api_version()) {
    throw bad_request(fmt::format(
        "the data is a {} of {}, and a Scale of autoscaling/v1 is expected here", kind, version));
  }
  const auto replicas = scale->get_integer("spec.replicas");
  if (replicas.value_or(0) < 0) {
    throw invalid({"autoscaling", "Scale"}, request.name,
                  invalid_value("spec.replicas", *replicas, "must be greater than or equal to 0"));
  }
  // The field is owned at its path in the parent.
  Value applied = Value::object({{"apiVersion", resource.api_version()},
                                 {"kind", resource.kind},
                                 {"metadata", Value::object({{"name", request.name}})}});
  if (!request.namespace_.empty()) applied["metadata"]["namespace"] = request.namespace_;
  if (replicas) applied.at_path(scale_paths(resource).spec_replicas) = *replicas;
  const FieldManager manager = field_manager(services_, request, options);
  return update_object(
      request, options,
      [&](const Value& live) {
        Value next =
            apply_patch(schema_of(resource), live, applied, manager, options.force.value_or(false));
        const std::string expected = metadata_text(*scale, "resourceVersion");
        if (!expected.empty()) next["metadata"]["resourceVersion"] = expected;
        return next;
      },
      false, true);
}

ServerResponse Rest::evict(RestRequest& request) {
  request.choose_output({});
  const Resource& pods = *request.resource;
  const ResourcePtr budget_resource =
      services_.catalog()->find("policy", "v1", "poddisruptionbudgets");
  DeleteRequest options;
  if (!request.http.body.empty()) {
    const ResourcePtr evictions =
        pseudo_resource<policy::v1::Eviction>("policy", eviction_version(request.http.body));
    const Value body = decode_body(request, *evictions, {});
    if (metadata_text(body, "name") != request.name) {
      throw bad_request("name in URL does not match name in Eviction object");
    }
    const Value& given = body["deleteOptions"];
    options.grace = given.get_integer("gracePeriodSeconds");
    const auto wanted = [&](std::string_view path) -> std::optional<std::string> {
      std::string text = string_at(given, path);
      return text.empty() ? std::nullopt : std::optional{std::move(text)};
    };
    options.uid = wanted("preconditions.uid");
    options.version = wanted("preconditions.resourceVersion");
    options.propagation = string_at(given, "propagationPolicy");
    options.dry_run = given["dryRun"].size() > 0 || request.url.query.has("dryRun");
  }
  const StoredObject pod = services_.store.get(*pods.collection, request.key());
  if (!pod) throw not_found(pods.group_resource(), request.name);
  const std::string phase = pod.field_text("status.phase");
  std::vector<std::string> budgets;  // their keys
  // The end of a pod that is not running, or is being deleted, is no disruption.
  if (phase != "Pending" && phase != "Succeeded" && phase != "Failed" &&
      pod.metadata_text("deletionTimestamp").empty()) {
    const Store::ListResult found = services_.store.list(
        *budget_resource->collection, {.scope = {.prefix = request.namespace_ + '/'}});
    for (const auto& [key, object] : found.objects) {
      const Value budget = *object.value();
      if (budget["spec"]["selector"].is_absent()) continue;
      const StoredObject selector = services_.codec.from_value(type_of<meta::v1::LabelSelector>(),
                                                               budget["spec"]["selector"]);
      if (pod.matches(
              to_selector(*reinterpret_cast<const meta::v1::LabelSelector*>(selector.data())))) {
        budgets.push_back(key);
      }
    }
  }
  if (budgets.size() > 1) {
    throw plain_failure(
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support.");
  }
  if (!budgets.empty()) {
    edit(*budget_resource->collection, budgets[0], [&](Value& budget) {
      return spend_disruption(budget, *pod.value(), services_.now_text()) && !options.dry_run;
    });
  }
  if (!options.dry_run) {
    edit(*pods.collection, request.key(), [&](Value& object) {
      set_condition(object, "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting",
                    services_.now_text());
      return true;
    });
  }
  remove_object(pods, request.key(), options);
  return success(request, 201);
}

ServerResponse Rest::bind(RestRequest& request) {
  request.choose_output({});
  const ResourcePtr bindings = services_.catalog()->find("", "v1", "bindings");
  const Value body = decode_body(request, *bindings, {});
  const ResourcePtr pods = services_.catalog()->find("", "v1", "pods");
  if (request.name.empty()) request.name = metadata_text(body, "name");
  const std::string node = string_at(body, "target.name");
  if (node.empty()) {
    throw invalid({"", "Binding"}, request.name, required_value("target.name"));
  }
  std::string taken;
  const StoredObject pod = edit(*pods->collection, request.key(), [&](Value& object) {
    taken = string_at(object, "spec.nodeName");
    if (!taken.empty()) return false;
    object["spec"]["nodeName"] = node;
    object["status"]["conditions"].push_back(
        Value::object({{"type", "PodScheduled"},
                       {"status", "True"},
                       {"lastProbeTime", nullptr},
                       {"lastTransitionTime", services_.now_text()}}));
    return true;
  });
  if (!pod) throw not_found(pods->group_resource(), request.name);
  if (!taken.empty()) {
    throw conflict({"", "pods/binding"}, request.name,
                   fmt::format("pod {} is already assigned to node \"{}\"", request.name, taken));
  }
  return success(request, 201);
}

ServerResponse Rest::subresource(RestRequest& request) {
  const std::string& name = request.subresource;
  if (name == "scale") return scale(request);
  if (name == "eviction") return evict(request);
  if (name == "binding") return bind(request);
  if (name == "token") return token(request);
  if (name == "log") return log(request);
  const bool is_part = name == "status" || name == "finalize" || name == "approval" ||
                       name == "ephemeralcontainers" || name == "resize";
  if (is_part && request.verb == "get") return get(request);
  if (is_part && request.verb == "update") return update(request);
  if (is_part && request.verb == "patch") return patch(request);
  // A WebSocket is opened with GET, and needs the right to POST as well (RB-2).
  if (request.verb == "get" && (name == "exec" || name == "attach" || name == "portforward")) {
    const AccessDecision may = services_.authorize(request.access_for("create"));
    if (!may.allowed) throw forbidden(request.resource->group_resource(), request.name, may.reason);
  }
  throw bad_request(fmt::format("{} needs a kubelet, and this server has none", name));
}

}  // namespace kube::testkit::detail

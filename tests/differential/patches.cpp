// SPDX-License-Identifier: Apache-2.0
// Patch requests of the generator.
#include "generator.hpp"

#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::differential {

Value Generator::change(const Kind& kind) {
  Value patch = Value::object();
  if (dice_.chance(40)) {
    patch["metadata"]["labels"]["app"] = dice_.pick({Value{"web"}, Value{"db"}, Value{nullptr}});
    if (!kind.namespaced) patch["metadata"]["labels"]["space"] = space_;
  }
  if (dice_.chance(25)) {
    patch["metadata"]["annotations"] =
        dice_.pick({Value::object({{"example.com/note", "three"}}),
                    Value::object({{"example.com/note", nullptr}}), Value{nullptr}});
  }
  if (dice_.chance(8)) {
    patch["metadata"]["finalizers"] =
        dice_.pick({Value{nullptr}, Value::array(), Value::array({"example.com/wait"}),
                    Value::array({"example.com/other"}), Value::array({"unqualified"})});
  }
  const Value fresh = kind.body(dice_);
  for (const auto& [member, value] : fresh.as_object()) {
    if (!value.is_object() || value.size() == 0) {
      if (dice_.chance(30)) patch[member.view()] = value;
      continue;
    }
    for (const auto& [part, content] : value.as_object()) {
      if (!dice_.chance(35)) continue;
      patch[member.view()][part] = dice_.chance(12) ? Value{nullptr} : Value{content};
    }
  }
  return patch;
}

Request Generator::merge_patch(const Kind& kind) {
  Request request = about(kind, "merge-patch", "PATCH", any_name(kind));
  add_write_options(request);
  vary_accept(request);
  request.content_type = "application/merge-patch+json";
  Value patch = change(kind);
  if (dice_.chance(3)) patch["metadata"]["name"] = "other";
  if (dice_.chance(2)) patch["metadata"]["uid"] = "33333333-0000-4000-8000-000000000000";
  if (dice_.chance(2)) patch["metadata"]["resourceVersion"] = dice_.text({"1", "x"});
  if (dice_.chance(2)) patch["kind"] = "Bogus";
  if (dice_.chance(1)) request.query.emplace_back("force", "true");
  set_body(request, std::move(patch));
  if (dice_.chance(1))
    request.content_type = dice_.text(
        {"application/json", "", "text/plain", "application/merge-patch+json; charset=utf-8"});
  if (dice_.chance(1)) request.body = dice_.text({"", "[]", "null", "{", "7"});
  return request;
}

Request Generator::strategic_patch(const Kind& kind) {
  Request request = about(kind, "strategic-patch", "PATCH", any_name(kind));
  add_write_options(request);
  std::erase(request.query, std::pair<std::string, std::string>{"fieldValidation", "Strict"});
  request.content_type = "application/strategic-merge-patch+json";
  Value patch = change(kind);
  const bool pods = kind.plural == "pods";
  if (pods || kind.group == "apps" || kind.group == "batch") {
    Value spec = Value::object();
    const auto one = [&]() -> Value {
      Value element = Value::object({{"name", dice_.text({"main", "side", "extra"})}});
      switch (dice_.below(5)) {
        case 0:
          element["$patch"] = "delete";
          break;
        case 1:
          element["image"] = dice_.text({"nginx:1.30", "busybox"});
          break;
        case 2:
          element["image"] = "nginx:1.31";
          element["env"] =
              Value::array({Value::object({{"name", dice_.text({"A", "C"})}, {"value", "9"}})});
          break;
        case 3:
          element["ports"] =
              Value::array({Value::object({{"containerPort", 80}, {"name", "web"}}),
                            Value::object({{"containerPort", 9090}, {"$patch", "delete"}})});
          break;
        default:
          element["command"] = dice_.pick({Value::array({"a"}), Value{nullptr}});
          break;
      }
      if (dice_.chance(3)) element.erase("name");
      return element;
    };
    Value containers = Value::array({one()});
    if (dice_.chance(30)) containers.push_back(one());
    spec["containers"] = std::move(containers);
    if (dice_.chance(15))
      spec["$setElementOrder/containers"] =
          Value::array({Value::object({{"name", "main"}}), Value::object({{"name", "side"}})});
    if (dice_.chance(15))
      spec["volumes"] =
          Value::array({Value::object({{"name", "config"},
                                       {"$retainKeys", Value::array({"name", "emptyDir"})},
                                       {"emptyDir", Value::object()}})});
    if (dice_.chance(15))
      spec["tolerations"] = Value::array({Value::object({{"key", "x"}, {"operator", "Exists"}})});
    if (dice_.chance(8))
      spec["nodeSelector"] = Value::object({{"$patch", "replace"}, {"disk", "hdd"}});
    if (pods) {
      patch["spec"] = std::move(spec);
    } else {
      patch["spec"] = Value::object({{"template", Value::object({{"spec", spec}})}});
    }
  }
  if (kind.plural == "deployments" && dice_.chance(20)) {
    patch["spec"]["strategy"] =
        Value::object({{"$retainKeys", Value::array({"type"})}, {"type", "Recreate"}});
  }
  if (kind.plural == "services" && dice_.chance(50)) {
    patch["spec"] = Value::object(
        {{"ports",
          Value::array({Value::object({{"name", "http"}, {"port", 80}, {"targetPort", 8080}}),
                        Value::object({{"name", "more"}, {"port", 81 + dice_.below(2)}})})}});
  }
  if (dice_.chance(10)) {
    patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = Value::array({"example.com/wait"});
  }
  if (dice_.chance(10)) {
    patch["metadata"]["ownerReferences"] = Value::array(
        {Value::object({{"uid", "11111111-0000-4000-8000-000000000000"}, {"$patch", "delete"}})});
  }
  if (dice_.chance(5))
    patch["metadata"]["labels"] =
        Value::object({{"$patch", dice_.text({"replace", "delete", "bogus"})}, {"only", "this"}});
  set_body(request, std::move(patch));
  return request;
}

Request Generator::json_patch(const Kind& kind) {
  Request request = about(kind, "json-patch", "PATCH", any_name(kind));
  add_write_options(request);
  request.content_type = "application/json-patch+json";
  Value operations = Value::array();
  const auto path = [&] {
    return dice_.text(
        {"/metadata/labels/app", "/metadata/labels", "/metadata/annotations/example.com~1note",
         "/metadata/annotations", "/data/a", "/data/b", "/spec/replicas", "/spec/size",
         "/spec/tags/0", "/spec/tags/-", "/spec/containers/0/image",
         "/spec/template/spec/containers/0/image", "/metadata/finalizers", "/metadata/finalizers/0",
         "/spec/unschedulable", "/spec/holderIdentity", "/bogus", "/metadata/bogus", ""});
  };
  const std::size_t count = 1 + dice_.below(2);
  for (std::size_t i = 0; i < count; ++i) {
    Value operation = Value::object(
        {{"op", dice_.text({"add", "add", "replace", "replace", "remove", "test", "copy", "move"})},
         {"path", path()}});
    const std::string op{operation.get_string("op").value_or("")};
    if (op == "copy" || op == "move") {
      operation["from"] = path();
    } else if (op != "remove") {
      operation["value"] =
          dice_.pick({Value{"x"}, Value{2}, Value::object({{"app", "web"}}),
                      Value::array({"example.com/wait"}), Value{nullptr}, Value{"web"}});
    }
    operations.push_back(std::move(operation));
  }
  if (!kind.namespaced)
    operations.push_back(Value::object({{"op", "add"},
                                        {"path", "/metadata/labels"},
                                        {"value", Value::object({{"space", space_}})}}));
  if (dice_.chance(3))
    operations.push_back(Value::object({{"op", dice_.text({"bogus", ""})}, {"path", "/data"}}));
  request.body = encode_json(operations);
  if (dice_.chance(2))
    request.body =
        dice_.text({"{}", "", "[", "null", "[{}]", "[1]", "\"x\"", "[{\"op\":\"add\"}]"});
  return request;
}

Request Generator::apply(const Kind& kind) {
  const std::string name = any_name(kind);
  Request request = about(kind, "apply", "PATCH", name);
  request.content_type = "application/apply-patch+yaml";
  if (!dice_.chance(2)) request.query.emplace_back("fieldManager", dice_.text({"m1", "m2", "m3"}));
  if (dice_.chance(30)) request.query.emplace_back("force", dice_.text({"true", "false", "true"}));
  if (dice_.chance(8)) request.query.emplace_back("dryRun", "All");
  if (dice_.chance(20))
    request.query.emplace_back("fieldValidation", dice_.text({"Ignore", "Warn", "Strict"}));
  Value document = object(kind, name);
  document.erase("stringData");  // applied stringData cannot be distinguished from data later
  if (dice_.chance(40)) {
    // Partial configurations, as sent by managers that own only a part.
    for (const char* member : {"data", "spec", "rules", "content"}) {
      if (!std::as_const(document)[member].is_object()) continue;
      Value kept = Value::object();
      for (const auto& [part, content] : std::as_const(document)[member].as_object()) {
        if (dice_.chance(50)) kept[part.view()] = content;
      }
      document[member] = std::move(kept);
    }
  }
  if (dice_.chance(2)) document["metadata"]["managedFields"] = Value::array();
  if (dice_.chance(2)) document["metadata"]["resourceVersion"] = dice_.text({"1", "x"});
  if (dice_.chance(2)) document["metadata"]["name"] = "other";
  if (dice_.chance(2)) document["apiVersion"] = dice_.text({"v9", ""});
  if (dice_.chance(1)) document.erase("kind");
  if (dice_.chance(1)) document["metadata"]["uid"] = "33333333-0000-4000-8000-000000000000";
  if (dice_.chance(8)) {
    spoil(dice_, document);
    request.label = "spoiled " + request.label;
  }
  vary_accept(request);
  request.body = dice_.chance(20) ? yaml_from_json(document) : encode_json(document);
  if (dice_.chance(1)) request.body = dice_.text({"", "[]", "null", "{", "a: b: c"});
  return request;
}

}  // namespace kube::differential

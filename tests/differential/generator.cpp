// SPDX-License-Identifier: Apache-2.0
#include "generator.hpp"

#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <utility>

#include "peer.hpp"

namespace kube::differential {

const Kind& Generator::any_kind() {
  // Half of the requests are about the first few kinds, so that requests interact.
  return dice_.chance(50) ? kinds()[dice_.below(4)] : dice_.pick_of(kinds());
}

std::string Generator::any_name(const Kind& kind) {
  const std::string name =
      dice_.chance(1) ? dice_.text({"Bad_Name", "-x", "a..b", "UPPER", "1a", "with%20space"})
                      : dice_.text({"a", "b", "c", "d"});
  return kind.namespaced ? name : fmt::format("{}-{}", space_, name);
}

Value Generator::object(const Kind& kind, std::string_view name) {
  Value made = make_object(dice_, kind, name);
  if (!kind.namespaced) made["metadata"]["labels"]["space"] = space_;
  if (kind.plural == "events") made["involvedObject"]["namespace"] = space_;
  return made;
}

std::string Generator::key(const Kind& kind, std::string_view name) const {
  return Peer::key(kind.plural, kind.namespaced ? std::string_view{space_} : "", name);
}

std::string Generator::path(const Kind& kind, std::string_view name) const {
  const std::string collection = kind.collection(space_);
  return name.empty() ? collection : fmt::format("{}/{}", collection, name);
}

Request Generator::about(const Kind& kind, std::string_view what, std::string_view method,
                         std::string_view name) {
  return {.label = fmt::format("{} {}", what, kind.plural),
          .method = std::string{method},
          .path = path(kind, name)};
}

void Generator::add_write_options(Request& request) {
  if (dice_.chance(60)) {
    request.query.emplace_back("fieldManager", dice_.text({"m1", "m2", "m3"}));
  } else if (dice_.chance(2)) {
    request.query.emplace_back("fieldManager",
                               dice_.chance(50) ? std::string(129, 'x') : std::string{"tab\there"});
  }
  if (dice_.chance(10)) {
    request.query.emplace_back("dryRun", dice_.chance(85) ? "All" : dice_.text({"", "all", "No"}));
  }
  if (dice_.chance(40)) {
    request.query.emplace_back("fieldValidation", dice_.chance(95)
                                                      ? dice_.text({"Ignore", "Warn", "Strict"})
                                                      : dice_.text({"", "strict", "Never"}));
  }
  if (dice_.chance(3)) request.query.emplace_back("pretty", dice_.text({"true", "1", "no"}));
  if (dice_.chance(2)) request.query.emplace_back("unknownParameter", "1");
}

void Generator::add_selectors(const Kind& kind, Request& request) {
  std::string labels;
  if (dice_.chance(30)) {
    labels =
        dice_.text({"app=web", "app", "!app", "app!=db", "app in (web,db)", "tier notin (front)",
                    "tier=", "example.com/rank>1", "example.com/rank<5", "app=web,tier"});
  } else if (dice_.chance(4)) {
    labels = dice_.text({"app=web=x", "a b", "in (a)", "app in", "-x=1", "app=!", "app>x", ","});
  }
  if (!kind.namespaced)
    labels = labels.empty() ? "space=" + space_ : "space=" + space_ + ',' + labels;
  if (!labels.empty()) request.query.emplace_back("labelSelector", labels);
  if (dice_.chance(12)) {
    request.query.emplace_back(
        "fieldSelector",
        dice_.text({"metadata.name=a", "metadata.name!=a", "metadata.namespace=default",
                    "metadata.name=a,metadata.name=b", "spec.nodeName=node-1",
                    "status.phase=Pending", "spec.color=red", "type=Opaque", "spec.type=ClusterIP",
                    "bogus=1", "metadata.name", "metadata.name=a=b", "spec.unschedulable=true",
                    "status.phase!=Active", "reason=Started", ""}));
  }
}

void Generator::vary_accept(Request& request) {
  if (dice_.chance(85)) return;
  request.accept = dice_.text(
      {"application/yaml", "*/*", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
       "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
       "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
       "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "text/html", "application/*",
       "application/json;q=0.5,application/yaml", "application/json;charset=utf-8",
       "application/json;as=Table;v=v2;g=meta.k8s.io"});
}

void Generator::set_body(Request& request, Value document) {
  if (dice_.chance(8)) {
    spoil(dice_, document);
    request.label = "spoiled " + request.label;
  }
  request.body = encode_json(document);
  if (request.content_type.empty()) request.content_type = "application/json";
  if (request.content_type != "application/json") return;
  if (dice_.chance(3)) {
    request.content_type = "application/yaml";
    request.body = yaml_from_json(document);
  } else if (dice_.chance(1)) {
    request.content_type =
        dice_.text({"text/plain", "application/xml", "", "application/json; charset=utf-8", "*/*"});
  } else if (dice_.chance(1)) {
    request.body = dice_.text({"", "{", "null", "[]", "5", "\"x\"", "{\"kind\":1}",
                               "{\"metadata\":[]}", "not json at all"});
  } else if (dice_.chance(1)) {
    request.body.insert(1, R"("kind":"Twice","kind":"Twice",)");
  }
}

Request Generator::create(const Kind& kind) {
  const std::string name = any_name(kind);
  Request request = about(kind, "create", "POST", "");
  add_write_options(request);
  Value document = object(kind, name);
  if (kind.plural != "namespaces" && dice_.chance(4)) {
    document["metadata"].erase("name");
    if (dice_.chance(70))
      document["metadata"]["generateName"] =
          fmt::format("{}gen-{:03}-", kind.namespaced ? "" : space_ + '-', ++generated_);
  }
  if (dice_.chance(3)) document["metadata"]["namespace"] = dice_.text({"default", "other", ""});
  if (dice_.chance(2)) document["metadata"]["resourceVersion"] = dice_.text({"1", "0", "x"});
  if (dice_.chance(2)) document["metadata"]["uid"] = "33333333-0000-4000-8000-000000000000";
  if (dice_.chance(2)) document["kind"] = dice_.text({"Pod", "Bogus", ""});
  if (dice_.chance(2)) document["apiVersion"] = dice_.text({"v1", "apps/v1", "v9", "", "a/b/c"});
  if (dice_.chance(2)) document.erase("kind");
  if (dice_.chance(2)) document["metadata"]["generation"] = 7;
  if (dice_.chance(2)) document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  vary_accept(request);
  set_body(request, std::move(document));
  return request;
}

Request Generator::get(const Kind& kind) {
  Request request = about(kind, "get", "GET", any_name(kind));
  if (dice_.chance(15)) {
    request.query.emplace_back("resourceVersion", dice_.text({"0", "((listrv))", "", "x", "-1"}));
  }
  if (dice_.chance(5)) request.query.emplace_back("watch", "true");
  if (dice_.chance(5)) request.query.emplace_back("pretty", "true");
  if (request.is_watch()) request.query.clear();
  vary_accept(request);
  return request;
}

Request Generator::list(const Kind& kind) {
  Request request = about(kind, "list", "GET", "");
  add_selectors(kind, request);
  if (dice_.chance(40)) {
    request.query.emplace_back("limit", dice_.chance(95) ? dice_.text({"1", "2", "3", "500", "0"})
                                                         : dice_.text({"x", "-1", "1.5", ""}));
  }
  if (dice_.chance(20))
    request.query.emplace_back(
        "continue",
        dice_.chance(90)
            ? "((continue))"
            : dice_.text({"x", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0"}));
  if (dice_.chance(25)) {
    request.query.emplace_back("resourceVersion", dice_.text({"", "0", "((listrv))", "((listrv))",
                                                              "((listrv))", "x", "-5"}));
  }
  if (dice_.chance(15)) {
    request.query.emplace_back("resourceVersionMatch",
                               dice_.text({"Exact", "NotOlderThan", "NotOlderThan", "Bogus", ""}));
  }
  if (dice_.chance(2))
    request.query.emplace_back("sendInitialEvents", dice_.text({"true", "false"}));
  if (dice_.chance(2)) request.query.emplace_back("timeoutSeconds", dice_.text({"1", "x", "-1"}));
  if (dice_.chance(2)) request.query.emplace_back("allowWatchBookmarks", dice_.text({"true", "x"}));
  vary_accept(request);
  return request;
}

Request Generator::update(const Kind& kind) {
  const std::string name = any_name(kind);
  Request request = about(kind, "update", "PUT", name);
  add_write_options(request);
  Value document = object(kind, name);
  const std::string place = key(kind, name);
  if (dice_.chance(60)) {
    document["metadata"]["resourceVersion"] =
        fmt::format("(({} {}))", dice_.chance(80) ? "rv" : "first", place);
  } else if (dice_.chance(3)) {
    document["metadata"]["resourceVersion"] = dice_.text({"x", "0", "-1"});
  }
  if (dice_.chance(10)) {
    document["metadata"]["uid"] = dice_.chance(80) ? fmt::format("((uid {}))", place)
                                                   : "33333333-0000-4000-8000-000000000000";
  }
  if (dice_.chance(2)) document["metadata"]["name"] = "other";
  if (dice_.chance(2)) document["metadata"]["namespace"] = "other";
  if (dice_.chance(1)) document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  if (dice_.chance(2))
    document["metadata"]["managedFields"] =
        dice_.chance(50) ? Value::array() : Value::array({Value::object()});
  vary_accept(request);
  set_body(request, std::move(document));
  if (dice_.chance(60)) {
    // The common case: change the object as it was read.
    const Value merge = change(kind);
    request.live_key = place;
    request.edit = [merge](Value& live) {
      for (const auto& [member, value] : merge.as_object()) {
        if (member == "metadata" && value.is_object()) {
          for (const auto& [part, content] : value.as_object()) live["metadata"][part] = content;
        } else if (member == "spec" && value.is_object()) {
          for (const auto& [part, content] : value.as_object()) live["spec"][part] = content;
        } else {
          live[member.view()] = value;
        }
      }
    };
  }
  return request;
}

Request Generator::remove(const Kind& kind) {
  const std::string name = any_name(kind);
  Request request = about(kind, "delete", "DELETE", name);
  vary_accept(request);
  Value options = Value::object();
  const bool in_body = dice_.chance(50);
  const auto set = [&](const char* option, Value value) {
    if (in_body) {
      options[option] = std::move(value);
    } else {
      request.query.emplace_back(
          option, value.is_string() ? std::string{value.as_string()} : encode_json(value));
    }
  };
  if (dice_.chance(30)) {
    set("propagationPolicy", dice_.chance(95) ? dice_.text({"Background", "Foreground", "Orphan"})
                                              : dice_.text({"Never", ""}));
  }
  if (dice_.chance(20)) set("gracePeriodSeconds", dice_.pick<int>({0, 0, 1, 30, -1}));
  if (dice_.chance(4)) set("orphanDependents", dice_.chance(50));
  if (dice_.chance(8)) {
    if (in_body) {
      options["dryRun"] = Value::array({dice_.chance(90) ? "All" : "Some"});
    } else {
      request.query.emplace_back("dryRun", "All");
    }
  }
  if (in_body && dice_.chance(20)) {
    Value preconditions = Value::object();
    const std::string place = key(kind, name);
    if (dice_.chance(50))
      preconditions["uid"] = dice_.chance(70) ? fmt::format("((uid {}))", place)
                                              : "33333333-0000-4000-8000-000000000000";
    if (dice_.chance(50))
      preconditions["resourceVersion"] =
          fmt::format("(({} {}))", dice_.chance(70) ? "rv" : "first", place);
    options["preconditions"] = std::move(preconditions);
  }
  if (!in_body) return request;
  if (dice_.chance(40)) {
    options["kind"] = "DeleteOptions";
    options["apiVersion"] = dice_.text({"v1", "v1", "meta.k8s.io/v1", kind.api_version().c_str()});
  }
  set_body(request, std::move(options));
  return request;
}

Request Generator::remove_collection(const Kind& kind) {
  Request request = about(kind, "deletecollection", "DELETE", "");
  add_selectors(kind, request);
  if (dice_.chance(20)) request.query.emplace_back("limit", dice_.text({"1", "2"}));
  if (dice_.chance(20)) request.query.emplace_back("dryRun", "All");
  if (dice_.chance(20)) {
    set_body(
        request,
        Value::object({{"propagationPolicy", dice_.text({"Background", "Foreground", "Orphan"})}}));
  }
  return request;
}

Request Generator::subresource(const Kind& kind) {
  const std::string name = any_name(kind);
  const bool scale = kind.has_scale && dice_.chance(50);
  const std::string sub = scale ? "scale" : "status";
  Request request = about(kind, "status of", "PUT", name);
  request.label = fmt::format("{} of {}", sub, kind.plural);
  request.path += '/' + sub;
  if (dice_.chance(25)) {
    request.method = "GET";
    vary_accept(request);
    return request;
  }
  add_write_options(request);
  if (scale) {
    Value document =
        Value::object({{"apiVersion", "autoscaling/v1"},
                       {"kind", "Scale"},
                       {"metadata", Value::object({{"name", name}, {"namespace", space_}})},
                       {"spec", Value::object({{"replicas", dice_.below(5)}})}});
    if (dice_.chance(30)) {
      request.method = "PATCH";
      request.content_type = "application/merge-patch+json";
      set_body(request, Value::object({{"spec", Value::object({{"replicas", dice_.below(5)}})}}));
      return request;
    }
    if (dice_.chance(30))
      document["metadata"]["resourceVersion"] =
          fmt::format("(({} {}))", dice_.chance(70) ? "rv" : "first", key(kind, name));
    set_body(request, std::move(document));
    return request;
  }
  Value status = Value::object();
  if (kind.is_custom()) {
    status["seen"] = dice_.below(5);
  } else if (kind.plural == "pods") {
    status["phase"] = dice_.text({"Running", "Succeeded", "Pending"});
    if (dice_.chance(50)) status["podIP"] = "10.1.0.5";
  } else if (kind.plural == "nodes") {
    status["capacity"] = Value::object({{"cpu", dice_.text({"2", "4"})}});
  } else if (kind.plural == "namespaces" || kind.plural == "persistentvolumeclaims") {
    status["phase"] = kind.plural == "namespaces" ? "Active" : "Bound";
  } else if (kind.plural == "services") {
    status["loadBalancer"] = Value::object();
  } else if (kind.group == "apps" && kind.plural != "daemonsets") {
    status["replicas"] = dice_.below(4);
    status["observedGeneration"] = 1;
  }
  if (dice_.chance(60)) {
    request.method = "PATCH";
    request.content_type = dice_.chance(70) || kind.is_custom()
                               ? "application/merge-patch+json"
                               : "application/strategic-merge-patch+json";
    Value patch = Value::object({{"status", status}});
    if (dice_.chance(20))
      patch["metadata"] = Value::object({{"labels", Value::object({{"by", "status"}})}});
    if (dice_.chance(20)) patch["spec"] = Value::object();
    set_body(request, std::move(patch));
    return request;
  }
  Value document = object(kind, name);
  document["status"] = status;
  if (dice_.chance(50))
    document["metadata"]["resourceVersion"] = fmt::format("((rv {}))", key(kind, name));
  set_body(request, document);
  if (dice_.chance(70)) {
    request.live_key = key(kind, name);
    request.edit = [status](Value& live) { live["status"] = status; };
  }
  return request;
}

Request Generator::nonsense(const Kind& kind) {
  const std::string mine = kind.namespaced ? "a" : space_ + "-a";
  Request request = about(kind, "nonsense", dice_.text({"GET", "POST", "PUT", "PATCH", "DELETE"}),
                          dice_.chance(50) ? mine : "");
  switch (dice_.below(8)) {
    case 0:
      request.path = kind.collection("") + '/' + mine;
      break;
    case 1:
      request.path += "/bogus";
      break;
    case 2:
      request.path = "/apis/bogus.example.com/v1/things";
      break;
    case 3:
      request.path = "/api/v1/bogus";
      break;
    case 4:
      request.path = "/apis/apps/v9/deployments";
      break;
    case 5:
      request.path += '/';
      request.method = "GET";
      break;
    case 6:
      request.path = kind.collection("no-such-namespace");
      break;
    default:
      request.path = fmt::format("/api/v1/namespaces/{}/pods/a/{}", space_,
                                 dice_.text({"bogus", "status", "binding", "eviction"}));
      break;
  }
  if (!kind.namespaced && request.method == "DELETE") request.method = "GET";
  if (request.method == "POST" || request.method == "PUT") {
    set_body(request, object(kind, mine));
  } else if (request.method == "PATCH") {
    request.content_type = "application/merge-patch+json";
    request.body = "{}";
  }
  if (!kind.namespaced && request.is_read())
    request.query.emplace_back("labelSelector", "space=" + space_);
  return request;
}

Request Generator::definition() {
  Value document = *decode_json<Value>(definitions()[dice_.below(2)]);
  Request request{.label = "create customresourcedefinitions",
                  .method = "POST",
                  .path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                  .query = {{"dryRun", "All"}}};
  document["metadata"]["name"] = "things.differential.example.com";
  document["spec"]["names"] = Value::object({{"plural", "things"}, {"kind", "Thing"}});
  if (dice_.chance(60)) {
    spoil(dice_, document["spec"]);
    request.label = "spoiled " + request.label;
  } else if (dice_.chance(30)) {
    document["metadata"]["name"] =
        dice_.text({"things", "x.differential.example.com", "Things.differential.example.com"});
  }
  if (dice_.chance(40)) request.query.emplace_back("fieldValidation", "Strict");
  request.content_type = "application/json";
  request.body = encode_json(document);
  return request;
}

Request Generator::next() {
  const Kind& kind = any_kind();
  const std::size_t roll = dice_.below(100);
  if (roll < 20) return create(kind);
  if (roll < 27) return get(kind);
  if (roll < 39) return list(kind);
  if (roll < 51) return update(kind);
  if (roll < 57) return json_patch(kind);
  if (roll < 64) return merge_patch(kind);
  if (roll < 71)
    return kind.is_custom() && dice_.chance(90) ? merge_patch(kind) : strategic_patch(kind);
  if (roll < 83) return apply(kind);
  if (roll < 89) return remove(kind);
  if (roll < 90) return kind.plural == "namespaces" ? get(kind) : remove_collection(kind);
  if (roll < 96) return subresource(kind);
  if (roll < 97) return definition();
  return nonsense(kind);
}

std::vector<Request> Generator::watches() {
  std::vector<Request> result;
  for (int i = 0; i < 8; ++i) {
    const Kind& kind = any_kind();
    Request request = about(kind, "watch", "GET", "");
    request.query.emplace_back("watch", dice_.text({"true", "1", "true"}));
    request.query.emplace_back("timeoutSeconds", "1");
    add_selectors(kind, request);
    const std::size_t roll = dice_.below(100);
    if (roll < 60) {
      request.query.emplace_back("resourceVersion",
                                 fmt::format("((first {}))", Peer::key("namespaces", "", space_)));
    } else if (roll < 75) {
      request.query.emplace_back("resourceVersion", dice_.text({"0", ""}));
    } else if (roll < 95) {
      request.query.emplace_back("sendInitialEvents", "true");
      request.query.emplace_back("resourceVersionMatch",
                                 dice_.chance(85) ? "NotOlderThan" : dice_.text({"", "Exact"}));
      if (dice_.chance(30))
        request.query.emplace_back("resourceVersion", dice_.text({"0", "((listrv))"}));
    } else {
      request.query.emplace_back("resourceVersion", dice_.text({"x", "-1"}));
    }
    if (dice_.chance(60)) request.query.emplace_back("allowWatchBookmarks", "true");
    if (dice_.chance(20)) {
      request.accept =
          dice_.text({"application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                      "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
                      "application/yaml", "text/html", "application/json;stream=watch"});
    }
    result.push_back(std::move(request));
  }
  return result;
}

std::vector<Request> Generator::cleanup() const {
  std::vector<Request> result;
  for (const Kind& kind : kinds()) {
    if (kind.plural == "namespaces") continue;
    Request request{.label = fmt::format("cleanup {}", kind.plural),
                    .method = "DELETE",
                    .path = kind.collection(space_),
                    .query = {{"gracePeriodSeconds", "0"}, {"propagationPolicy", "Background"}}};
    if (!kind.namespaced) request.query.emplace_back("labelSelector", "space=" + space_);
    result.push_back(std::move(request));
  }
  return result;
}

}  // namespace kube::differential

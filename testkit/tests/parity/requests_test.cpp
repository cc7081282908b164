// SPDX-License-Identifier: Apache-2.0
// Requests whose answers have been confirmed on a real server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "two_servers.hpp"

#include <map>
#include <string>
#include <vector>

namespace kube::testing_support {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kYaml = "application/yaml";
constexpr const char* kApply = "application/apply-patch+yaml";

// CR-7
TEST(YamlBodies, MayHaveDuplicateKeys) {
  Requests api;
  const std::string body =
      "metadata:\n  name: NAME\ndata:\n  a: '1'\n  b: '1'\n  a: '2'\n  b: '2'\n";
  const auto named = [&](const char* name) {
    std::string copy = body;
    return copy.replace(copy.find("NAME"), 4, name);
  };

  const Answer warned = api.send("POST", api.path("configmaps"), named("warned"), kYaml);
  const Answer strict =
      api.send("POST", api.path("configmaps?fieldValidation=Strict"), named("strict"), kYaml);
  const Answer ignored =
      api.send("POST", api.path("configmaps?fieldValidation=Ignore"), named("ignored"), kYaml);

  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.at("data"), R"({"a":"2","b":"2"})");
  EXPECT_THAT(warned.warnings, ElementsAre(R"(line 6: key "a" already set in map)",
                                           R"(line 7: key "b" already set in map)"));
  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(strict.message,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "yaml: unmarshal errors:\n  line 6: key \"a\" already set in map\n  line 7: key \"b\" "
            "already set in map");
  EXPECT_EQ(ignored.status, 201);
  EXPECT_THAT(ignored.warnings, IsEmpty());
}

// CR-7
TEST(YamlBodies, MayHaveDuplicateKeysAndUnknownFields) {
  Requests api;

  const Answer strict =
      api.send("POST", api.path("configmaps?fieldValidation=Strict"),
               "metadata: {name: a}\ndta: {}\ndata: {a: b}\ndata: {1: '2', 1: '3'}\n", kYaml);

  EXPECT_EQ(strict.message,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "yaml: unmarshal errors:\n  line 4: key 1 already set in map\n  line 4: key \"data\" "
            "already set in map, unknown field \"dta\"");
}

// CR-7
TEST(Apply, MayHaveDuplicateKeys) {
  Requests api;
  const std::string body =
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n  a: '2'\n";
  const std::string path = api.path("configmaps/a?fieldManager=m");

  const Answer strict = api.send("PATCH", path + "&fieldValidation=Strict", body, kApply);
  const Answer warned = api.send("PATCH", path, body, kApply);

  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(strict.message,
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            "  line 7: key \"a\" already set in map");
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.at("data.a"), "2");
  EXPECT_THAT(warned.warnings, ElementsAre(R"(line 7: key "a" already set in map)"));
}

// CR-8
TEST(Warnings, AreSentOnce) {
  Requests api;

  const Answer made = api.send("POST", api.path("configmaps"),
                               R"({"metadata":{"name":"a"},"data":{"a":"1","a":"2","a":"3"}})");

  EXPECT_THAT(made.warnings, ElementsAre(R"(duplicate field "data.a")"));
}

// DL-1
TEST(Delete, TakesANegativeGracePeriodAsOneSecond) {
  Requests api;
  api.create(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: none, containers: [{name: "
      "c, image: 'i:1'}]}}");

  const Answer deleted = api.send("DELETE", api.path("pods/p"), R"({"gracePeriodSeconds":-5})");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("metadata.deletionGracePeriodSeconds"), "1");
  EXPECT_EQ(api.send("DELETE", api.path("pods/p"), R"({"gracePeriodSeconds":0})").status, 200);
}

// DL-5
TEST(Delete, IgnoresThePropagationPolicyForEvents) {
  Requests api;
  api.create(
      fmt::format("{{apiVersion: v1, kind: Event, metadata: {{name: e}}, involvedObject: "
                  "{{namespace: {}}}}}",
                  api.server.space()));

  EXPECT_EQ(
      api.send("DELETE", api.path("events/e"), R"({"propagationPolicy":"Foreground"})").status,
      200);
  EXPECT_EQ(api.send("GET", api.path("events/e")).status, 404);
}

std::string deployment() {
  return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: "
         "{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: "
         "c, image: 'i:1'}]}}}}";
}

// ST-4
TEST(Scale, CanBeApplied) {
  Requests api;
  api.create(deployment());
  const std::string path = api.path("deployments/d", "/apis/apps/v1");
  const std::string body =
      "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {replicas: 3}}";

  const Answer unnamed = api.send("PATCH", path + "/scale", body, kApply);
  const Answer conflict = api.send("PATCH", path + "/scale?fieldManager=m", body, kApply);
  const Answer applied = api.send("PATCH", path + "/scale?fieldManager=m&force=true", body, kApply);

  EXPECT_EQ(unnamed.status, 422);
  EXPECT_EQ(conflict.status, 409);
  EXPECT_THAT(conflict.message, AllOf(StartsWith("Apply failed with 1 conflict: conflict with "),
                                      EndsWith(" using autoscaling/v1: .spec.replicas")));
  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("spec.replicas"), "3");
  bool owned = false;
  const Answer parent = api.send("GET", path);
  for (const Value& entry : parent.body->get_array("metadata.managedFields")) {
    owned = owned || (entry["manager"] == Value{"m"} && entry["operation"] == Value{"Apply"} &&
                      entry["subresource"] == Value{"scale"});
  }
  EXPECT_TRUE(owned) << parent.at("metadata.managedFields");
}

/// Creates a pod with the label app=x in the given phase.
void make_pod(Requests& api, const std::string& name, const std::string& phase,
              const std::string& ready = "True") {
  api.create("{apiVersion: v1, kind: Pod, metadata: {name: " + name +
             ", labels: {app: x}}, spec: {nodeName: none, containers: [{name: c, image: 'i:1'}]}}");
  api.send("PATCH", api.path("pods/" + name + "/status"),
           fmt::format(
               R"({{"status":{{"phase":"{}","conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
               phase, ready),
           "application/merge-patch+json");
}

Answer evict(Requests& api, const std::string& name) {
  return api.send("POST", api.path("pods/" + name + "/eviction"),
                  R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + name +
                      R"("},"deleteOptions":{"gracePeriodSeconds":0}})");
}

void set_budget(Requests& api, const std::string& status) {
  const Answer set = api.send("PATCH", api.path("poddisruptionbudgets/b/status", "/apis/policy/v1"),
                              R"({"status":)" + status + "}", "application/merge-patch+json");
  EXPECT_EQ(set.status, 200) << set.message;
}

// DL-11
TEST(Eviction, FollowsTheBudgetThatCoversThePod) {
  Requests api;
  api.create(
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b}, spec: "
      "{minAvailable: "
      "1, selector: {matchLabels: {app: x}}}}");
  for (const char* name : {"p", "q"}) make_pod(api, name, "Running");
  make_pod(api, "pending", "Pending");
  make_pod(api, "finished", "Succeeded");
  make_pod(api, "unready", "Running", "False");

  const Answer early = evict(api, "p");
  EXPECT_EQ(early.status, 429);
  EXPECT_EQ(early.at("details.causes[0].message"),
            "The disruption budget b is still being processed by the server.");
  EXPECT_EQ(early.at("details.retryAfterSeconds"), "10");
  set_budget(api, R"({"observedGeneration":1,"disruptionsAllowed":0,"currentHealthy":2,)"
                  R"("desiredHealthy":2,"expectedPods":2})");
  const Answer refused = evict(api, "p");
  EXPECT_EQ(refused.message, "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(refused.at("details.causes[0].message"),
            "The disruption budget b needs 2 healthy pods and has 2 currently");
  EXPECT_EQ(evict(api, "pending").status, 201);
  EXPECT_EQ(evict(api, "finished").status, 201);
  EXPECT_EQ(evict(api, "unready").status, 201);
  set_budget(api, R"({"disruptionsAllowed":1})");
  EXPECT_EQ(evict(api, "p").status, 201);
  const Answer budget = api.send("GET", api.path("poddisruptionbudgets/b", "/apis/policy/v1"));
  EXPECT_EQ(budget.at("status.disruptionsAllowed"), "0");
  EXPECT_NE(budget.at("status.disruptedPods.p"), "");
  EXPECT_EQ(budget.at("status.conditions[0].reason"), "InsufficientPods");
  EXPECT_EQ(evict(api, "q").status, 429);
  api.create(
      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: c}, spec: "
      "{minAvailable: "
      "1, selector: {matchLabels: {app: x}}}}");
  const Answer misnamed =
      api.send("POST", api.path("pods/q/eviction"),
               R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"other"}})");
  EXPECT_EQ(misnamed.status, 400);
  EXPECT_EQ(misnamed.message, "name in URL does not match name in Eviction object");
  const Answer two = evict(api, "q");
  EXPECT_EQ(two.status, 500);
  EXPECT_EQ(two.message,
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
}

// PA-3
TEST(JsonPatch, CopiesUpToThreeMebibytes) {
  Requests api;
  api.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '" +
             std::string(300'000, 'x') + "'}}");
  std::string patch = "[";
  for (int i = 0; i < 12; ++i) {
    patch += fmt::format(R"({}{{"op":"copy","from":"/data/a","path":"/data/b{}"}})",
                         i == 0 ? "" : ",", i);
  }

  const Answer refused =
      api.send("PATCH", api.path("configmaps/a"), patch + "]", "application/json-patch+json");

  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.message, "the server rejected our request due to an error in our request");
}

// BK-9
TEST(NodePorts, AreCheckedAndKept) {
  Requests api;
  const auto service = [](const std::string& name, const std::string& port) {
    return "{apiVersion: v1, kind: Service, metadata: {name: " + name +
           "}, spec: {type: NodePort, ports: [{port: 80" + port + "}]}}";
  };
  const Ref<Value> made = api.create(service("a", ""));
  const std::string port = encode_json(*made->find("spec.ports[0].nodePort"));

  EXPECT_EQ(Asked::text(*made, "spec.externalTrafficPolicy"), "Cluster");
  const std::string taken =
      "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: " + port +
      ": provided port is already allocated";
  EXPECT_EQ(api.refusal(service("b", ", nodePort: " + port), taken), taken);
  const Ref<Value> low = decode_yaml<Value>(service("b", ", nodePort: 80"));
  EXPECT_EQ(
      api.send("POST", api.path("services"), encode_json(*low)).message,
      "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not "
      "in the valid range. The range of valid ports is 30000-32767");
  const Answer kept = api.send("PATCH", api.path("services/a"),
                               R"({"spec":{"ports":[{"port":81,"protocol":"TCP"}]}})",
                               "application/merge-patch+json");
  EXPECT_EQ(kept.at("spec.ports[0].nodePort"), port);
  const Answer plain = api.send("PATCH", api.path("services/a"), R"({"spec":{"type":"ClusterIP"}})",
                                "application/merge-patch+json");
  EXPECT_EQ(plain.at("spec.ports[0].nodePort"), "");
}

// BK-14
TEST(ClusterAddresses, AreFromTheRangeOfTheCluster) {
  Requests api;
  const auto service = [](const std::string& address) {
    return "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: '" + address +
           "', ports: [{port: 80}]}}";
  };
  const std::string foreign =
      "Service \"s\" is invalid: spec.clusterIPs: Invalid value: [\"192.0.2.1\"]: failed to "
      "allocate "
      "IP 192.0.2.1: ";
  const Ref<Value> manifest = decode_yaml<Value>(service("192.0.2.1"));
  const Answer refused = api.send("POST", api.path("services"), encode_json(*manifest));
  EXPECT_EQ(refused.message, foreign + "the provided network does not match the current range");
  // A dry run names the range, and does not look at other services.
  const std::string range = api.server.is_real() ? "10.0.0.0/16" : "10.96.0.0/12";
  const std::string tried =
      foreign +
      "the provided IP (192.0.2.1) is not in the valid range. The range of valid IPs is " + range;
  EXPECT_EQ(api.refusal(service("192.0.2.1"), tried), tried);
  const Ref<Value> first = api.create(
      "{apiVersion: v1, kind: Service, metadata: {name: first}, spec: {ports: [{port: 80}]}}");
  EXPECT_EQ(api.refusal(service(Asked::text(*first, "spec.clusterIP")), ""), "");
  const std::string other =
      "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: [\"fd00::1\"]: IPv6 is not "
      "configured on this cluster";
  EXPECT_EQ(api.refusal(service("fd00::1"), other), other);
}

// BK-3
TEST(Events, HaveLimitsOnTheirTexts) {
  Requests api;
  const auto event = [&](const std::string& field, std::size_t size) {
    std::map<std::string, std::string> fields{
        {"action", "acts"}, {"reason", "why"}, {"note", "text"}, {"reportingInstance", "one"}};
    fields[field] = std::string(size, 'x');
    std::string yaml = fmt::format(
        "{{apiVersion: events.k8s.io/v1, kind: Event, metadata: {{name: e}}, type: Normal, "
        "eventTime: '2026-01-01T00:00:00.000000Z', reportingController: example.com/c, regarding: "
        "{{namespace: {}}}",
        api.server.space());
    for (const auto& [name, value] : fields) yaml += ", " + name + ": " + value;
    return yaml + "}";
  };

  for (const auto& [field, most] : std::map<std::string, std::size_t>{
           {"action", 128}, {"reason", 128}, {"reportingInstance", 128}, {"note", 1024}}) {
    EXPECT_EQ(api.refusal(event(field, most), ""), "") << field;
    const std::string shown = field == "note" ? "message" : field;
    const Answer refused = [&] {
      const Ref<Value> manifest = decode_yaml<Value>(event(field, most + 1));
      return api.send("POST", api.path("events", "/apis/events.k8s.io/v1"), encode_json(*manifest));
    }();
    EXPECT_EQ(refused.status, 422) << field;
    EXPECT_THAT(refused.message, HasSubstr(shown + ": Invalid value: ")) << field;
    EXPECT_THAT(refused.message, HasSubstr(fmt::format("can have at most {} characters", most)))
        << field;
  }
}

// AU-10
TEST(AccountTokens, IdentifyTheirAccount) {
  Requests api;
  api.create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}");
  const std::string path = api.path("serviceaccounts/robot/token");
  const auto ask = [&](const std::string& spec) {
    return api.send(
        "POST", path,
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":)" + spec + "}");
  };

  const Answer made = ask("{}");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("spec.expirationSeconds"), "3600");
  EXPECT_EQ(made.body->get_array("spec.audiences").size(), 1U);
  const Answer brief = ask(R"({"expirationSeconds":599})");
  EXPECT_EQ(brief.status, 422);
  EXPECT_THAT(brief.message,
              HasSubstr("spec.expirationSeconds: Invalid value: 599: may not specify "
                        "a duration less than 10 minutes"));
  EXPECT_EQ(ask(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"none"}})").status,
            404);
  api.create(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: other, "
      "automountServiceAccountToken: false, containers: [{name: c, image: 'i:1'}]}}");
  EXPECT_EQ(ask(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}})").status, 400);
  api.create(
      "{apiVersion: v1, kind: Pod, metadata: {name: own}, spec: {serviceAccountName: robot, "
      "automountServiceAccountToken: false, containers: [{name: c, image: 'i:1'}]}}");
  const Answer mistaken =
      ask(R"({"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"own","uid":"other"}})");
  EXPECT_EQ(mistaken.status, 409);
  EXPECT_EQ(mistaken.message,
            "Operation cannot be fulfilled on Pod \"own\": the UID in the bound object reference "
            "(other) does not match the UID in record. The object might have been deleted and then "
            "recreated");

  const auto review = [&](const std::string& token, const std::string& audiences = "[]") {
    return api.send(
        "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
        fmt::format(
            R"({{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{{"token":"{}","audiences":{}}}}})",
            token, audiences));
  };
  const std::string name = "system:serviceaccount:" + api.server.space() + ":robot";
  const Answer known = review(made.at("status.token"));
  EXPECT_EQ(known.at("status.authenticated"), "true");
  EXPECT_EQ(known.at("status.user.username"), name);
  EXPECT_EQ(known.at("status.user.groups"),
            fmt::format(
                R"(["system:serviceaccounts","system:serviceaccounts:{}","system:authenticated"])",
                api.server.space()));
  const Value* credential =
      known.body->find("status.user.extra['authentication.kubernetes.io/credential-id'][0]");
  ASSERT_NE(credential, nullptr);
  EXPECT_THAT(std::string{credential->as_string()}, StartsWith("JTI="));
  EXPECT_EQ(review(made.at("status.token"), R"(["elsewhere"])").at("status.authenticated"), "");
  const Answer elsewhere = ask(R"({"audiences":["elsewhere"]})");
  EXPECT_EQ(review(elsewhere.at("status.token")).at("status.authenticated"), "");
  const Answer there = review(elsewhere.at("status.token"), R"(["elsewhere","other"])");
  EXPECT_EQ(there.at("status.authenticated"), "true");
  EXPECT_EQ(there.at("status.audiences"), R"(["elsewhere"])");

  api.server.remove({"", "v1", "serviceaccounts"}, api.server.space(), "robot");
  EXPECT_TRUE(api.server.wait_for(
      [&] { return review(made.at("status.token")).at("status.authenticated").empty(); }));
}

// AU-10
TEST(AccountTokens, CanBeVerifiedByOthers) {
  Requests api;

  const Answer configuration = api.send("GET", "/.well-known/openid-configuration");
  const Answer keys = api.send("GET", "/openid/v1/jwks");

  EXPECT_NE(configuration.at("issuer"), "");
  EXPECT_THAT(configuration.at("jwks_uri"), HasSubstr("/openid/v1/jwks"));
  EXPECT_EQ(configuration.at("response_types_supported"), R"(["id_token"])");
  EXPECT_EQ(configuration.at("subject_types_supported"), R"(["public"])");
  EXPECT_EQ(keys.body->get_array("keys").size(), 1U);
  EXPECT_EQ(keys.at("keys[0].use"), "sig");
  EXPECT_NE(keys.at("keys[0].kid"), "");
}

// UP-3
TEST(Update, OfAPolicyNeedsAResourceVersion) {
  Requests api;
  const std::string name = api.server.space() + ".example.com";
  const std::string policy =
      R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":")" +
      name +
      R"("},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["none.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["nothings"]}]},"validations":[{"expression":"true"}]}})";
  const std::string path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  EXPECT_EQ(api.send("POST", path, policy).status, 201);

  const Answer refused = api.send("PUT", path + "/" + name, policy);
  EXPECT_EQ(api.send("DELETE", path + "/" + name).status, 200);

  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(
      refused.message,
      AllOf(StartsWith("validatingadmissionpolicies.admissionregistration.k8s.io"),
            HasSubstr("metadata.resourceVersion: Invalid value: 0: must be specified for an "
                      "update")));
}

// CD-6
TEST(Pruning, KeepsTheTypeAndMetadataOfEmbeddedResources) {
  Requests api;
  api.server.load_yaml(definition(
      api, "boxes", "Box",
      "{type: object, properties: {content: {type: object, x-kubernetes-embedded-resource: true, "
      "properties: {spec: {type: object, properties: {a: {type: string}}}}}}}"));
  const std::string group = api.server.space() + ".example.com";

  const Answer made = api.send(
      "POST", api.path("boxes", "/apis/" + group + "/v1"),
      R"({"apiVersion":")" + group +
          R"(/v1","kind":"Box","metadata":{"name":"b"},"spec":{"content":{"apiVersion":"v1","kind":"Inner",)"
          R"("metadata":{"name":"i","labels":{"x":"y"}},"spec":{"a":"b","c":"d"},"other":"e"},"gone":1}})");

  EXPECT_EQ(made.status, 201) << made.message;
  EXPECT_EQ(
      made.at("spec"),
      R"({"content":{"apiVersion":"v1","kind":"Inner","metadata":{"labels":{"x":"y"},"name":"i"},)"
      R"("spec":{"a":"b"}}})");
}

// CD-7
TEST(Defaults, OfAChangedSchemaApplyToStoredObjects) {
  Requests api;
  const std::string group = api.server.space() + ".example.com";
  api.server.load_yaml(definition(api, "lids", "Lid",
                                  "{type: object, properties: {a: {type: string}, b: {type: "
                                  "string}}}"));
  const std::string path = api.path("lids", "/apis/" + group + "/v1");
  EXPECT_EQ(api.send("POST", path,
                     R"({"apiVersion":")" + group +
                         R"(/v1","kind":"Lid","metadata":{"name":"l"},"spec":{"a":"x"}})")
                .status,
            201);

  const Answer changed = api.send(
      "PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lids." + group,
      R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b/default","value":"filled"}])",
      "application/json-patch+json");

  EXPECT_EQ(changed.status, 200) << changed.message;
  EXPECT_TRUE(
      api.server.wait_for([&] { return api.send("GET", path + "/l").at("spec.b") == "filled"; }));
}

}  // namespace
}  // namespace kube::testing_support

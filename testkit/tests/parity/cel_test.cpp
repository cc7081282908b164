// SPDX-License-Identifier: Apache-2.0
// CEL rules of custom resources, and admission policies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "two_servers.hpp"

namespace kube::testing_support {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kMergePatch = "application/merge-patch+json";

/// Custom resources of one kind.
struct Robots {
  explicit Robots(Requests& requests, const std::string& schema)
      : api(requests), group(requests.server.space() + ".example.com") {
    api.server.load_yaml(definition(api, "robots", "Robot", schema));
  }
  [[nodiscard]] std::string path() const { return api.path("robots", "/apis/" + group + "/v1"); }
  Answer create(const std::string& spec, const std::string& query = "") {
    return api.send("POST", path() + query,
                    R"({"apiVersion":")" + group +
                        R"(/v1","kind":"Robot","metadata":{"name":"r"},"spec":)" + spec + "}");
  }

  Requests& api;
  std::string group;
};

// CE-9
TEST(Rules, TolerateViolationsInUnchangedParts) {
  Requests api;
  Robots robots{
      api, "{type: object, properties: {a: {type: string, maxLength: 10}, b: {type: string}}}"};
  ASSERT_EQ(robots.create(R"({"a":"bad","b":"1"})").status, 201);
  const Answer changed = api.send(
      "PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/robots." + robots.group,
      R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/x-kubernetes-validations",)"
      R"("value":[{"rule":"self == 'good'"}]}])",
      "application/json-patch+json");
  ASSERT_EQ(changed.status, 200) << changed.message;
  ASSERT_TRUE(api.server.wait_for(
      [&] { return robots.create(R"({"a":"bad"})", "?dryRun=All").status == 422; }));

  const Answer other =
      api.send("PATCH", robots.path() + "/r", R"({"spec":{"b":"2"}})", kMergePatch);
  const Answer same =
      api.send("PATCH", robots.path() + "/r", R"({"spec":{"a":"worse"}})", kMergePatch);

  EXPECT_EQ(other.status, 200) << other.message;
  EXPECT_THAT(other.warnings,
              ElementsAre(R"(spec.a: Invalid value: "bad": failed rule: self == 'good')"));
  EXPECT_EQ(same.status, 422);
  EXPECT_THAT(same.message,
              EndsWith(R"(spec.a: Invalid value: "worse": failed rule: self == 'good')"));
}

// CE-4, CE-10
TEST(Rules, AreAbortedAtTheCostLimit) {
  Requests api;
  Robots robots{
      api,
      "{type: object, properties: {l: {type: array, maxItems: 1000, items: {type: "
      "integer}}}, x-kubernetes-validations: [{rule: 'self.l.all(a, self.l.all(b, a + b >= "
      "0))'}, {rule: 'self.l.size() == 0'}]}"};
  std::string list = "0";
  for (int i = 1; i < 1000; ++i) list += ",0";

  const Answer refused = robots.create("{\"l\":[" + list + "]}");

  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(
      refused.message,
      EndsWith(
          "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit "
          "exceeded': no further validation rules will be run due to call cost exceeds limit for "
          "rule: self.l.all(a, self.l.all(b, a + b >= 0))"));
}

/// A policy for config maps of one name in the test's namespace, with a binding. Removed at the end.
class BoundPolicy {
 public:
  BoundPolicy(
      Requests& api, const std::string& spec, const std::string& binding,
      const std::string& rule =
          R"({"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["configmaps"]})")
      : api_(api), name_(api.server.space() + ".example.com") {
    const Answer made = api.send(
        "POST", kPolicies,
        fmt::format(
            R"({{"metadata":{{"name":"{0}"}},"spec":{{"matchConstraints":{{"namespaceSelector":{{"matchLabels":)"
            R"({{"kubernetes.io/metadata.name":"{1}"}}}},"resourceRules":[{2}]}},{3}}}}})",
            name_, api.server.space(), rule, spec));
    EXPECT_EQ(made.status, 201) << made.message;
    const Answer bound =
        api.send("POST", kBindings,
                 fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"policyName":"{0}",{1}}}}})",
                             name_, binding));
    EXPECT_EQ(bound.status, 201) << bound.message;
  }
  ~BoundPolicy() {
    api_.send("DELETE", std::string{kBindings} + '/' + name_);
    api_.send("DELETE", std::string{kPolicies} + '/' + name_);
  }
  BoundPolicy(const BoundPolicy&) = delete;
  BoundPolicy& operator=(const BoundPolicy&) = delete;
  /// Returns the message of a denial.
  [[nodiscard]] std::string denied(std::string_view why) const {
    return fmt::format("ValidatingAdmissionPolicy '{0}' with binding '{0}' denied request: {1}",
                       name_, why);
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  static constexpr const char* kPolicies =
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  static constexpr const char* kBindings =
      "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

  Requests& api_;
  std::string name_;
};

constexpr const char* kDeny = R"("validationActions":["Deny"])";
constexpr const char* kMap = R"({"metadata":{"name":"a"},"data":{"x":"1"}})";

/// Creates config map `a` as a dry run until the answer has the status.
Answer until(Requests& api, int status, const std::string& resource = "configmaps",
             const std::string& version = "/api/v1", const std::string& body = kMap) {
  Answer answer;
  api.server.wait_for([&] {
    answer = api.send("POST", api.path(resource + "?dryRun=All", version), body);
    return answer.status == status;
  });
  return answer;
}

// AP-6
TEST(AdmissionPolicies, WarnIfTheBindingAsksForWarnings) {
  Requests api;
  BoundPolicy policy{
      api,
      R"("validations":[{"expression":"false","message":"careful"},{"expression":"object.nope == 1"}])",
      R"("validationActions":["Warn","Audit"])"};

  Answer made;
  EXPECT_TRUE(api.server.wait_for([&] {
    made = api.send("POST", api.path("configmaps?dryRun=All"), kMap);
    return !made.warnings.empty();
  }));

  const std::string start = fmt::format(
      "Validation failed for ValidatingAdmissionPolicy '{0}' with binding '{0}': ", policy.name());
  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.warnings,
              ElementsAre(start + "careful", start + "expression 'object.nope == 1' resulted in "
                                                     "error: no such key: nope"));
}

// AP-3
TEST(AdmissionPolicies, GuardDeletion) {
  Requests api;
  ASSERT_EQ(api.send("POST", api.path("configmaps"), kMap).status, 201);
  BoundPolicy policy{
      api,
      R"~("validations":[{"expression":"request.operation != 'DELETE' || object != null || !has(oldObject.data.x)","message":"keep it"}])~",
      kDeny};

  Answer one;
  EXPECT_TRUE(api.server.wait_for([&] {
    one = api.send("DELETE", api.path("configmaps/a?dryRun=All"));
    return one.status == 422;
  }));
  const Answer all = api.send("DELETE", api.path("configmaps"));

  EXPECT_EQ(one.message, "configmaps \"a\" is forbidden: " + policy.denied("keep it"));
  EXPECT_EQ(all.status, 422);
  EXPECT_EQ(all.message, "configmaps \"Unknown\" is forbidden: " + policy.denied("keep it"));
}

// AP-3
TEST(AdmissionPolicies, SeeOnlyWhatTheRequestHas) {
  Requests api;
  BoundPolicy policy{
      api,
      R"~("validations":[{"expression":"false","messageExpression":"string(has(request.subResource)) + string(has(request.name)) +)~"
      R"~( string(has(request.namespace)) + ' ' + request.options.kind + ' ' + namespaceObject.metadata.name"}])~",
      kDeny};

  EXPECT_EQ(until(api, 422).message,
            "configmaps \"a\" is forbidden: " +
                policy.denied("falsetruetrue CreateOptions " + api.server.space()));
}

// AP-1
TEST(AdmissionPolicies, SeeObjectsInTheVersionOfTheRule) {
  Requests api;
  BoundPolicy policy{
      api,
      R"~("validations":[{"expression":"object.apiVersion != 'autoscaling/v1' || object.spec.targetCPUUtilizationPercentage < 50",)~"
      R"~("messageExpression":"request.kind.version + request.requestKind.version + string(object.spec.targetCPUUtilizationPercentage)"}])~",
      kDeny,
      R"({"apiGroups":["autoscaling"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["horizontalpodautoscalers"]})"};

  const Answer refused = until(
      api, 422, "horizontalpodautoscalers", "/apis/autoscaling/v2",
      R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",)"
      R"("name":"d"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}})");

  EXPECT_EQ(refused.message,
            "horizontalpodautoscalers.autoscaling \"h\" is forbidden: " + policy.denied("v1v280"));
}

// AP-4
TEST(AdmissionPolicies, ReportAParameterKindThatDoesNotExist) {
  Requests api;
  BoundPolicy policy{
      api, R"("paramKind":{"apiVersion":"v1","kind":"Nope"},"validations":[{"expression":"true"}])",
      R"("validationActions":["Deny"],"paramRef":{"name":"x","parameterNotFoundAction":"Allow"})"};

  EXPECT_EQ(
      until(api, 422).message,
      "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy '" + policy.name() +
          "' denied request: failed to configure policy: failed to find resource referenced by "
          "paramKind: '/v1, Kind=Nope'");
}

// AP-5
TEST(AdmissionPolicies, FailIfAConditionFails) {
  Requests api;
  BoundPolicy policy{
      api,
      R"("matchConditions":[{"name":"c","expression":"object.nope == 1"}],"validations":[{"expression":"true"}])",
      kDeny};

  EXPECT_EQ(
      until(api, 422).message,
      "configmaps \"a\" is forbidden: " +
          policy.denied("expression 'object.nope == 1' resulted in error: no such key: nope"));
}

}  // namespace
}  // namespace kube::testing_support

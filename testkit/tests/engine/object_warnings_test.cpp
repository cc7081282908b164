// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Returns the texts of the warnings, without code and quotes.
std::vector<std::string> warnings_of(const ApiReply& reply) {
  std::vector<std::string> texts;
  for (std::string text : reply.headers("Warning")) {
    text = text.substr(7, text.size() - 8);
    std::erase(text, '\\');
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> warned_pod(Api& api, const std::string& metadata,
                                    const std::string& container, const std::string& spec) {
  const ApiReply reply = api.post(std::string{kPods} + "?dryRun=All",
                                  R"({"metadata":{"name":"w")" + metadata +
                                      R"(},"spec":{"containers":[{"name":"a","image":"a")" +
                                      container + "}]" + spec + "}}");
  EXPECT_EQ(reply.status(), 201) << reply.text();
  return warnings_of(reply);
}

// CR-10
TEST(Warnings, AreSentForDeprecatedResources) {
  Api api;
  const std::string text =
      "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  EXPECT_THAT(warnings_of(api.get("/api/v1/endpoints")), ElementsAre(text));
  EXPECT_THAT(warnings_of(api.remove("/api/v1/namespaces/default/endpoints/none")),
              ElementsAre(text));
  EXPECT_THAT(warnings_of(api.get("/api/v1/services")), IsEmpty());
}

// CR-10
TEST(Warnings, AreSentForDeprecatedAndDoubtfulFieldsOfPods) {
  Api api;
  EXPECT_THAT(warned_pod(api, "", "", ""), IsEmpty());
  EXPECT_THAT(warned_pod(api, "", "", R"(,"nodeSelector":{"beta.kubernetes.io/os":"linux"})"),
              ElementsAre("spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "
                          "\"kubernetes.io/os\" instead"));
  EXPECT_THAT(
      warned_pod(
          api,
          R"(,"annotations":{"container.apparmor.security.beta.kubernetes.io/a":"runtime/default"})",
          "", ""),
      ElementsAre("metadata.annotations[container.apparmor.security.beta.kubernetes.io/a]: "
                  "deprecated since v1.30; use the \"appArmorProfile\" field instead"));
  EXPECT_THAT(
      warned_pod(api, "",
                 R"(,"env":[{"name":"A","value":"1"},{"name":"A","value":"2"}],)"
                 R"("ports":[{"containerPort":80},{"containerPort":80}],)"
                 R"("resources":{"requests":{"memory":"100m"}})",
                 ""),
      ElementsAre(
          "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped "
          "when using apply",
          "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
          "spec.containers[0].resources.requests[memory]: fractional byte value \"100m\" is "
          "invalid, must be an integer"));
  EXPECT_THAT(warned_pod(api, "", "", R"(,"imagePullSecrets":[{"name":""}])"),
              ElementsAre("spec.imagePullSecrets[0].name: invalid empty name \"\""));
}

// CR-10
TEST(Warnings, AreRepeatedOnlyWhenTheSpecOfATemplateChanges) {
  Api api;
  const std::string path = "/apis/apps/v1/namespaces/default/deployments";
  const ApiReply made = api.post(
      path,
      R"({"metadata":{"name":"w.x"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{)"
      R"("metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"beta.kubernetes.io/arch":"x"},)"
      R"("containers":[{"name":"a","image":"a"}]}}}})");
  const std::string text =
      "spec.template.spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "
      "\"kubernetes.io/arch\" instead";

  EXPECT_THAT(warnings_of(made),
              ElementsAre("metadata.name: this is used in Pod names and hostnames, which can "
                          "result in surprising behavior; a DNS label is recommended: [must not "
                          "contain dots]",
                          text));
  EXPECT_THAT(warnings_of(api.patch(path + "/w.x", R"({"metadata":{"labels":{"more":"labels"}}})")),
              IsEmpty());
  EXPECT_THAT(warnings_of(api.patch(path + "/w.x", R"({"spec":{"replicas":2}})")),
              ElementsAre(text));
}

constexpr const char* kWebhooks =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
constexpr const char* kWebhook =
    R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.example.com","sideEffects":"None",)"
    R"("admissionReviewVersions":["v1"],"clientConfig":{"url":"https://localhost/x"}}]})";

// BK-15
TEST(Warnings, NameServersThatAreNotCalled) {
  Api api;
  EXPECT_THAT(warnings_of(api.post(kWebhooks, R"({"metadata":{"name":"none"}})")), IsEmpty());
  EXPECT_THAT(warnings_of(api.post(kWebhooks, kWebhook)),
              ElementsAre("webhooks: this server does not call admission webhooks"));
  EXPECT_THAT(warnings_of(api.post(
                  "/apis/apiregistration.k8s.io/v1/apiservices",
                  R"({"metadata":{"name":"v1.x.example.com"},"spec":{"group":"x.example.com",)"
                  R"("version":"v1","groupPriorityMinimum":1,"versionPriority":1,)"
                  R"("service":{"name":"s","namespace":"default"}}})")),
              ElementsAre("spec.service: this server does not call aggregated API servers"));
}

// BK-15
TEST(Warnings, AreRefusalsOfAStrictServer) {
  Api api{{.strict = true}};
  const ApiReply refused = api.post(kWebhooks, kWebhook);
  EXPECT_EQ(refused.status(), 422) << refused.text();
  EXPECT_EQ(refused.at("details.causes[0].field"), "webhooks");
  EXPECT_EQ(api.get(std::string{kWebhooks} + "/w").status(), 404);
}

}  // namespace
}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
// Fields that a real server adds, keeps or refuses, as found by tests/differential.
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kServices = "/api/v1/namespaces/default/services";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr const char* kDaemonSets = "/apis/apps/v1/namespaces/default/daemonsets";

// BK-4
TEST(Builtin, PodsGetUnmanagedPriorityAndTolerations) {
  Api api;
  const ApiReply made = api.make_pod("p");
  EXPECT_EQ(made.at("spec.priority"), "0");
  EXPECT_EQ(made.at("spec.preemptionPolicy"), "PreemptLowerPriority");
  EXPECT_EQ(made.at("spec.tolerations[0].key"), "node.kubernetes.io/not-ready");
  EXPECT_EQ(made.at("spec.tolerations[1].tolerationSeconds"), "300");
  EXPECT_THAT(made.at("metadata.managedFields"), Not(HasSubstr("f:tolerations")));

  Value without = *made.json;
  without["spec"].erase("tolerations");
  without["spec"].erase("priority");
  const ApiReply put = api.put(std::string{kPods} + "/p", without);
  EXPECT_EQ(put.status(), 200) << put.text();
  EXPECT_EQ(put.version(), made.version());
}

// DL-7
TEST(Builtin, PodsAreMarkedBeforeDeletion) {
  Api api;
  const ApiReply made = api.make_pod("p");
  WatchReader watch =
      api.watch(std::string{kPods} + "?watch=true&resourceVersion=" + made.version());
  const ApiReply removed = api.remove(std::string{kPods} + "/p");
  EXPECT_EQ(removed.at("metadata.deletionGracePeriodSeconds"), "0");
  const auto marked = watch.next();
  EXPECT_EQ(marked.type, "MODIFIED");
  EXPECT_EQ(marked.at("metadata.generation"), "2");
  const auto gone = watch.next();
  EXPECT_EQ(gone.type, "DELETED");
  EXPECT_EQ(gone.version(), removed.version());
}

TEST(Builtin, QuantitiesAreCanonical) {
  Api api;
  const ApiReply made = api.post(
      kPods,
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":)"
      R"({"requests":{"cpu":"0.1","memory":"1024Mi"},"limits":{"cpu":"2000m"}}}]}})");
  EXPECT_EQ(made.at("spec.containers[0].resources.requests.cpu"), "100m");
  EXPECT_EQ(made.at("spec.containers[0].resources.requests.memory"), "1Gi");
  EXPECT_EQ(made.at("spec.containers[0].resources.limits.cpu"), "2");
}

TEST(Builtin, SecretsAcceptStringData) {
  Api api;
  const ApiReply made = api.post(
      kSecrets, R"({"metadata":{"name":"s"},"data":{"a":"AA==","b":null},"stringData":{"a":"x"}})");
  EXPECT_EQ(made.at("data"), R"({"a":"eA==","b":""})");
  EXPECT_THAT(made.text(), Not(HasSubstr("stringData")));
  // A patch of stringData alone changes data, too.
  const ApiReply patched =
      api.patch(std::string{kSecrets} + "/s", R"({"stringData":{"b":"y","c":"z"}})");
  EXPECT_EQ(patched.at("data"), R"({"a":"eA==","b":"eQ==","c":"eg=="})");
  EXPECT_THAT(patched.text(), Not(HasSubstr("stringData")));
}

// RV-2
TEST(Builtin, NullBytesAreReadAsEmptyAndWrittenAgain) {
  Api api;
  const std::string path = std::string{kConfigMaps} + "/c";
  const auto touch = [&] { return api.patch(path, R"({"metadata":{"annotations":null}})"); };
  const Ref<Value> object =
      parse_json(R"({"metadata":{"name":"c"},"binaryData":{"a":null,"b":"AA=="}})");
  const ApiReply made = api.post(kConfigMaps, json_text(*object));
  EXPECT_EQ(made.at("binaryData"), R"({"a":"","b":"AA=="})");
  EXPECT_EQ(api.get(path).at("binaryData"), made.at("binaryData"));

  const ApiReply touched = touch();
  EXPECT_NE(touched.version(), made.version());
  EXPECT_EQ(touch().version(), touched.version());

  const ApiReply again = api.put(path + "?fieldManager=other", *object);
  EXPECT_NE(again.version(), touched.version());
  EXPECT_EQ(again.at("metadata.managedFields[0].manager"), "other");
  EXPECT_EQ(again.at("metadata.managedFields[0].fieldsV1"), R"({"f:binaryData":{"f:a":{}}})");
}

TEST(Builtin, AContainerWithoutImageIsPulledIfNotPresent) {
  Api api;
  api.post(kPods,
           R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}]}})");
  // The only error is about the image, which is the only changed field.
  const ApiReply reply =
      api.patch(std::string{kPods} + "/p",
                R"({"spec":{"containers":[{"$patch":"delete","name":"c"},{"name":"c"}]}})",
                "strategic-merge-patch+json");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_EQ(reply.at("details.causes[0].field"), "spec.containers[0].image");
  EXPECT_THAT(reply.text(), Not(HasSubstr("FieldValueForbidden")));
}

TEST(Builtin, ServiceHasASingleAddress) {
  Api api;
  const ApiReply reply = api.post(
      kServices, R"({"metadata":{"name":"s"},"spec":{"clusterIP":"x","ports":[{"port":80}]}})");
  EXPECT_EQ(reply.status(), 422);
  EXPECT_EQ(reply.at("details.causes[0].field"), "spec.clusterIPs[0]");
  EXPECT_EQ(reply.at("details.causes[1].field"), "");
}

TEST(Builtin, JobsSelectTheirOwnPods) {
  Api api;
  const std::string pods =
      R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})";
  const ApiReply made = api.post(kJobs, R"({"metadata":{"name":"j"},"spec":{)" + pods + "}}");
  ASSERT_EQ(made.status(), 201) << made.text();
  const std::string uid = made.at("metadata.uid");
  EXPECT_EQ(made.at("spec.selector.matchLabels['batch.kubernetes.io/controller-uid']"), uid);
  EXPECT_EQ(made.at("spec.template.metadata.labels['job-name']"), "j");
  EXPECT_EQ(made.at("metadata.labels['controller-uid']"), uid);
  const ApiReply changed =
      api.patch(std::string{kJobs} + "/j", R"({"spec":{"template":{"spec":{"hostname":"h"}}}})");
  EXPECT_EQ(changed.status(), 422);
  EXPECT_EQ(changed.at("details.causes[0].field"), "spec.template");
  EXPECT_EQ(api.post(kJobs, R"({"metadata":{"name":"k"},"spec":{}})").status(), 422);
}

// UP-5, BK-5
TEST(Builtin, JobsDoNotSelectPodsOfOtherJobs) {
  Api api;
  const std::string pods =
      R"("spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})";
  api.post(kJobs, R"({"metadata":{"name":"j"},"spec":{"template":{)" + pods + "}}");
  const ApiReply other = api.patch(std::string{kJobs} + "/j", R"({"metadata":{"uid":"x"}})");
  EXPECT_EQ(other.status(), 422);
  EXPECT_THAT(other.message(), HasSubstr("metadata.uid"));
  EXPECT_THAT(other.message(), HasSubstr("spec.template.metadata.labels[controller-uid]"));
  EXPECT_THAT(other.message(), HasSubstr("`selector` not auto-generated"));
  const ApiReply labelled = api.post(
      kJobs,
      R"({"metadata":{"name":"k"},"spec":{"template":{"metadata":{"labels":{"job-name":"j"}},)" +
          pods + "}}");
  EXPECT_EQ(labelled.status(), 422);
  EXPECT_EQ(labelled.at("details.causes[0].field"), "spec.template.metadata.labels[job-name]");
  EXPECT_EQ(labelled.at("details.causes[1].field"), "");
}

// SA-7
TEST(Builtin, TheStatusOfAJobDoesNotOwnItsLabels) {
  Api api;
  const ApiReply made = api.post(
      kJobs,
      R"({"metadata":{"name":"j","labels":{"a":"b"}},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})");
  Value job = *made.json;
  job["metadata"].erase("labels");
  job["metadata"].erase("managedFields");
  job.erase("spec");
  job["status"] = Value::object();
  const ApiReply written = api.put(std::string{kJobs} + "/j/status", job);
  EXPECT_EQ(written.status(), 200) << written.text();
  EXPECT_EQ(written.at("metadata.labels['job-name']"), "j");
  EXPECT_THAT(written.at("metadata.managedFields"), Not(HasSubstr("f:labels")));
}

// BK-7
TEST(Builtin, BytesMayBeNumbers) {
  Api api;
  const ApiReply map = api.post("/api/v1/namespaces/default/configmaps",
                                R"({"metadata":{"name":"c"},"binaryData":{"a":[0,1,255],"b":[]}})");
  EXPECT_EQ(map.at("binaryData"), R"({"a":"AAH/","b":""})") << map.text();
  const auto secret = [&](const char* numbers) {
    return api.post(
        kSecrets, R"({"metadata":{"generateName":"s"},"data":{"a":)" + std::string{numbers} + "}}");
  };
  EXPECT_EQ(secret("[104,105]").at("data.a"), "aGk=");
  for (const char* wrong : {"[256]", "[-1]", "[1.5]", R"(["a"])", "[[1]]"}) {
    EXPECT_EQ(secret(wrong).status(), 400) << wrong;
  }
}

TEST(Builtin, DaemonSetsCountTheirTemplates) {
  Api api;
  const std::string path = std::string{kDaemonSets} + "/d";
  const std::string note = "metadata.annotations['deprecated.daemonset.template.generation']";
  const ApiReply made = api.post(
      kDaemonSets,
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":)"
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(made.at(note), "1") << made.text();
  EXPECT_EQ(api.patch(path, R"({"metadata":{"labels":{"x":"y"}}})").at(note), "1");
  EXPECT_EQ(api.patch(path, R"({"spec":{"template":{"spec":{"hostname":"h"}}}})").at(note), "2");
}

TEST(Builtin, ServicesChangeToAndFromExternalName) {
  Api api;
  const std::string path = std::string{kServices} + "/s";
  const ApiReply made =
      api.post(kServices,
               R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":80}],"selector":{"a":"b"}}})");
  EXPECT_THAT(made.at("spec.clusterIP"), HasSubstr("10."));
  const ApiReply name =
      api.patch(path, R"({"spec":{"type":"ExternalName","externalName":"x.example.com"}})");
  EXPECT_EQ(name.status(), 200) << name.text();
  EXPECT_THAT(name.text(), Not(HasSubstr("clusterIP")));
  const ApiReply back = api.patch(path, R"({"spec":{"type":"ClusterIP","externalName":null}})");
  EXPECT_THAT(back.at("spec.clusterIPs[0]"), HasSubstr("10."));
  const ApiReply open =
      api.post(kServices, R"({"metadata":{"name":"o"},"spec":{"clusterIP":"None"}})");
  EXPECT_EQ(open.at("spec.ipFamilyPolicy"), "RequireDualStack");
}

TEST(Builtin, NodesAndClaimsGetInitialTaintsAndFinalizers) {
  Api api;
  const ApiReply node = api.post(
      "/api/v1/nodes",
      R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.1.0.0/24"},"status":{"capacity":{"cpu":"4"}}})");
  EXPECT_EQ(node.at("spec.taints[0].key"), "node.kubernetes.io/not-ready");
  EXPECT_EQ(node.at("spec.podCIDRs[0]"), "10.1.0.0/24");
  EXPECT_EQ(node.at("status.allocatable.cpu"), "4");
  const ApiReply claim = api.post(
      "/api/v1/namespaces/default/persistentvolumeclaims",
      R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
  EXPECT_EQ(claim.at("metadata.finalizers[0]"), "kubernetes.io/pvc-protection");
}

// SA-3
TEST(Builtin, ApplyRemovesOnlyFieldsOfItsManager) {
  Api api;
  const auto apply = [&](const std::string& spec) {
    return api.patch(
        "/api/v1/nodes/n?fieldManager=m",
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":)" + spec + "}",
        "apply-patch+yaml");
  };
  EXPECT_EQ(apply(R"({"unschedulable":true})").status(), 201);
  const ApiReply emptied = apply("{}");
  EXPECT_EQ(emptied.at("spec.taints[0].key"), "node.kubernetes.io/not-ready") << emptied.text();
  EXPECT_THAT(emptied.text(), Not(HasSubstr("unschedulable")));
}

// CR-1, CR-9
TEST(Builtin, VersionsOfNewObjectsCountOnlyIfTheyAreNumbers) {
  Api api;
  const auto status = [&](const std::string& name, const std::string& version) {
    return api
        .post(kConfigMaps,
              R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + version + "\"}}")
        .status();
  };
  EXPECT_EQ(status("a", "x"), 201);
  EXPECT_EQ(status("b", "0"), 201);
  EXPECT_EQ(status("c", "7"), 500);
}

// UP-5, CR-6
TEST(Builtin, AllCausesAreReported) {
  Api api;
  api.make_config_map("a");
  const ApiReply refused = api.patch(
      std::string{kConfigMaps} + "/a",
      R"({"metadata":{"uid":"other","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x"]}})");
  EXPECT_EQ(refused.status(), 422);
  for (const char* field :
       {"metadata.uid", "metadata.deletionTimestamp", "metadata.finalizers[0]"}) {
    EXPECT_THAT(refused.text(), HasSubstr(std::string{"\"field\":\""} + field + '"'));
  }
}

TEST(Deployments, ThatAreRecreatedDoNotRoll) {
  Api api;
  const ApiReply bad = api.post(
      "/apis/apps/v1/namespaces/default/deployments",
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"strategy":)"
      R"({"type":"Recreate","rollingUpdate":{"maxSurge":2}},"template":{"metadata":{"labels":)"
      R"({"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(bad.status(), 422);
  EXPECT_EQ(bad.at("details.causes[0].field"), "spec.strategy.rollingUpdate");
}

}  // namespace
}  // namespace kube::testkit::detail

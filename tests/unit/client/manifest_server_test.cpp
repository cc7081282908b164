// SPDX-License-Identifier: Apache-2.0
// Manifests on an API server with full semantics, in-process or real.
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/client/client.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/retry.hpp>

#include "support/test_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube {
namespace {

using namespace std::chrono_literals;
using apps::v1::Deployment;
using core::v1::ConfigMap;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

struct ManifestServerTest : testing::Test {
  ~ManifestServerTest() override {
    try {
      for (const std::string& yaml : to_delete) delete_manifest(client, yaml);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }

  /// Fills in the test's own namespace for SPACE.
  [[nodiscard]] std::string text(std::string_view yaml) const {
    return replaced(std::string{yaml}, "SPACE", space);
  }
  /// As text(), for a manifest with cluster-scoped objects, which the test deletes at its end.
  std::string global(std::string_view yaml) {
    to_delete.push_back(text(yaml));
    return to_delete.back();
  }
  [[nodiscard]] std::vector<std::string> apply(const std::string& yaml) const {
    return texts(apply_manifest(client, yaml, options));
  }
  [[nodiscard]] std::vector<std::string> texts(const std::vector<ManifestResult>& results) const {
    std::vector<std::string> texts;
    for (const ManifestResult& one : results) {
      texts.push_back(replaced(to_string(one), space, "SPACE"));
    }
    return texts;
  }
  /// Applies and returns the error.
  [[nodiscard]] ManifestError error_of(const std::string& yaml) const {
    try {
      (void)apply(yaml);
    } catch (const ManifestError& error) {
      return error;
    }
    return ManifestError{"no error"};
  }
  [[nodiscard]] std::string color_of(const std::string& name) const {
    const Ref<ConfigMap> map = maps.find(name);
    if (!map) return "no map";
    const String* const color = map->data.find("color");
    return color == nullptr ? "no color" : color->str();
  }

  testing_support::TestServer server;
  const Client client{server.config()};
  const std::string space = server.space();
  const Resource<ConfigMap> maps = client.resource<ConfigMap>(space);
  ManifestOptions options{.field_manager = "tester", .namespace_ = space};
  std::vector<std::string> to_delete;
};

const std::string kDefinitionText =
    "apiextensions.k8s.io/v1 CustomResourceDefinition things.SPACE.example.com";
constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.SPACE.example.com}
spec:
  group: SPACE.example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, default: 7}}}
)";

// MF-1, MF-4
TEST_F(ManifestServerTest, CreatesChangesAndLeavesObjects) {
  const std::string yaml = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {color: red}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: b}
  data: {color: blue}
)";
  EXPECT_THAT(apply(yaml),
              ElementsAre("v1 ConfigMap SPACE/a created", "v1 ConfigMap SPACE/b created"));
  EXPECT_EQ(color_of("a"), "red");
  EXPECT_EQ(color_of("b"), "blue");
  EXPECT_THAT(apply(replaced(yaml, "red", "green")),
              ElementsAre("v1 ConfigMap SPACE/a changed", "v1 ConfigMap SPACE/b unchanged"));
  EXPECT_EQ(color_of("a"), "green");
  const auto results = apply_manifest(client, yaml, options);
  EXPECT_EQ(results[0].object->get_string("data.color"), "red");
  EXPECT_EQ(results[1].place, (ManifestPlace{.document = 2, .line = 7, .item = 1}));
}

// MF-1: the default is the namespace of the client's configuration.
TEST_F(ManifestServerTest, DefaultsTheNamespaceOfNamespacedKindsOnly) {
  const std::string other = server.add_space();
  const std::string yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  Config config = server.config();
  config.default_namespace = other;
  apply_manifest(Client{config}, yaml, {.field_manager = "tester"});
  EXPECT_NE(server.find<ConfigMap>(other, "a"), nullptr);
  EXPECT_EQ(maps.find("a"), nullptr);
  const std::string cluster_scoped = global(
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: low-SPACE}\n"
      "value: 1\n");
  EXPECT_THAT(apply(cluster_scoped),
              ElementsAre("scheduling.k8s.io/v1 PriorityClass low-SPACE created"));
}

// MF-1
TEST_F(ManifestServerTest, RefusesAnObjectThatOccursTwice) {
  const ManifestError error = error_of(text(R"(apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: SPACE}
)"));
  EXPECT_EQ(error.what(), text("document 2 (line 5): v1 ConfigMap SPACE/a: the same object is in "
                               "document 1 (line 1)"));
  EXPECT_EQ(color_of("a"), "no map");
}

// MF-2, MF-3: in the opposite order of the file.
TEST_F(ManifestServerTest, AppliesNamespacesAndDefinitionsBeforeTheObjectsThatNeedThem) {
  const std::string yaml = global(R"(
apiVersion: SPACE.example.com/v1
kind: Thing
metadata: {name: a, namespace: SPACE-new}
spec: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: SPACE-new}
---)" + std::string{kDefinition} + R"(
---
apiVersion: v1
kind: Namespace
metadata: {name: SPACE-new}
)");
  EXPECT_THAT(apply(yaml),
              ElementsAre("v1 Namespace SPACE-new created", kDefinitionText + " created",
                          "v1 ConfigMap SPACE-new/a created",
                          "SPACE.example.com/v1 Thing SPACE-new/a created"));
  const Resource<Value> things =
      client.dynamic({space + ".example.com", "v1", "things"}, space + "-new");
  EXPECT_EQ(things.get("a")->get_integer("spec.size"), 7);
}

// MF-1: a broken document in the middle.
TEST_F(ManifestServerTest, SendsNothingBeforeEverythingWasParsed) {
  for (const std::string_view broken : {"a: [", "apiVersion: v1\nkind: ConfigMap\n"}) {
    const ManifestError error = error_of(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n" + std::string{broken} +
        "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n");
    EXPECT_THAT(error.what(), HasSubstr("document 2"));
    EXPECT_THAT(error.results(), IsEmpty());
    EXPECT_EQ(color_of("a"), "no map");
  }
}

// MF-1
TEST_F(ManifestServerTest, SendsNothingIfAKindIsUnknown) {
  const ManifestError error = error_of(R"(apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: example.com/v1
kind: Nothing
metadata: {name: b}
)");
  EXPECT_STREQ(error.what(),
               "document 2 (line 5): example.com/v1 Nothing b: neither the server nor the manifest "
               "has this kind");
  EXPECT_EQ(color_of("a"), "no map");
}

// MF-4: an error of the server in the middle.
TEST_F(ManifestServerTest, AppliesTheOtherObjectsAndTellsWhichFailed) {
  const std::string yaml = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: Not_A_Name}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
)";
  const ManifestError error = error_of(yaml);
  const std::string message = replaced(error.what(), space, "SPACE");
  EXPECT_THAT(message, HasSubstr("applying the manifest failed for 1 of 3 objects: document 2 "
                                 "(line 6): v1 ConfigMap SPACE/Not_A_Name: "));
  EXPECT_THAT(message,
              HasSubstr("; done: v1 ConfigMap SPACE/a created, v1 ConfigMap SPACE/b created"));
  ASSERT_EQ(error.results().size(), 3U);
  EXPECT_EQ(error.results()[0].action, ManifestAction::kCreated);
  EXPECT_EQ(error.results()[1].action, ManifestAction::kFailed);
  EXPECT_EQ(error.results()[2].action, ManifestAction::kCreated);
  EXPECT_EQ(color_of("b"), "no color");
}

// MF-4
TEST_F(ManifestServerTest, ReportsConflictsUnlessForced) {
  maps.apply({.metadata = {.name = "a"}, .data = {{"color", "red"}}}, {.field_manager = "other"});
  const std::string yaml =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: green}\n";
  const ManifestError error = error_of(yaml);
  EXPECT_THAT(error.what(), HasSubstr("conflict with \"other\""));
  EXPECT_THAT(error.what(), HasSubstr(".data.color"));
  EXPECT_EQ(color_of("a"), "red");
  options.force = true;
  EXPECT_THAT(apply(yaml), ElementsAre("v1 ConfigMap SPACE/a changed"));
  EXPECT_EQ(color_of("a"), "green");
}

// MF-4: the server goes away in the middle, or answers with errors.
TEST_F(ManifestServerTest, StopsWhenTheServerDoesNotAnswer) {
  if (server.is_real()) GTEST_SKIP() << testing_support::kNeedsFaults;
  const std::string yaml = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
)";
  server->faults().always().matching({.verb = "patch", .name = "b"}).break_before_head();
  const ManifestError lost = error_of(yaml);
  EXPECT_THAT(replaced(lost.what(), space, "SPACE"),
              HasSubstr("; done: v1 ConfigMap SPACE/a created; not tried: v1 ConfigMap SPACE/c"));
  EXPECT_EQ(lost.results().at(1).action, ManifestAction::kFailed);
  EXPECT_EQ(color_of("c"), "no map");
  server->faults().clear();

  server->faults().next().matching({.verb = "patch", .name = "b"}).respond(500);
  const ManifestError refused = error_of(yaml);
  EXPECT_THAT(texts(refused.results()), ElementsAre("v1 ConfigMap SPACE/a unchanged",
                                                    HasSubstr("v1 ConfigMap SPACE/b failed"),
                                                    "v1 ConfigMap SPACE/c created"));
}

// MF-4
TEST_F(ManifestServerTest, StopsOnRequestAndTellsHowFarItGot) {
  std::stop_source stop;
  ClientOptions stopping;
  stopping.on_attempt = [&](const AttemptReport& report) {
    if (report.method == "PATCH") stop.request_stop();
  };
  const Client stopped{server.config(), stopping};
  try {
    apply_manifest(stopped,
                   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
                   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
                   options, stop.get_token());
    FAIL();
  } catch (const ManifestError& error) {
    EXPECT_EQ(error.results().at(1).action, ManifestAction::kNotTried);
    EXPECT_THAT(error.what(), HasSubstr("not tried: v1 ConfigMap " + space + "/b"));
  }
  EXPECT_EQ(color_of("b"), "no map");
}

// MF-3: a definition whose names are taken is never established.
TEST_F(ManifestServerTest, TellsWhyAKindIsNotServed) {
  (void)apply(global(kDefinition));
  std::string clashing = replaced(std::string{kDefinition}, "things", "items");
  clashing = replaced(clashing, "size", "width");
  options.definition_timeout = server.is_real() ? 5s : 1s;
  const ManifestError error = error_of(global(clashing));
  EXPECT_THAT(error.what(), HasSubstr("applied, but its kind is not served: "));
  EXPECT_THAT(error.what(), HasSubstr("NamesAccepted=False"));
}

// MF-5
TEST_F(ManifestServerTest, StoresNothingInADryRun) {
  maps.apply({.metadata = {.name = "same"}, .data = {{"color", "red"}}},
             {.field_manager = "tester"});
  maps.apply({.metadata = {.name = "other"}, .data = {{"color", "red"}}},
             {.field_manager = "tester"});
  options.dry_run = true;
  const std::string yaml = text(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: same}, data: {color: red}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {color: blue}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: SPACE-new}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: inside, namespace: SPACE-new}}
---
{apiVersion: SPACE.example.com/v1, kind: Thing, metadata: {name: a}}
---)" + std::string{kDefinition});
  EXPECT_THAT(
      apply(yaml),
      ElementsAre("v1 Namespace SPACE-new created", kDefinitionText + " created",
                  "v1 ConfigMap SPACE/same unchanged", "v1 ConfigMap SPACE/other changed",
                  "v1 ConfigMap SPACE/new created",
                  "v1 ConfigMap SPACE-new/inside not checked: the manifest itself creates its "
                  "namespace",
                  "SPACE.example.com/v1 Thing SPACE/a not checked: the manifest itself defines its "
                  "kind"));
  EXPECT_EQ(color_of("other"), "red");
  EXPECT_EQ(color_of("new"), "no map");
  EXPECT_EQ(server.find({"", "v1", "namespaces"}, "", space + "-new"), nullptr);
}

// MF-6
TEST_F(ManifestServerTest, ShowsWhatWouldChange) {
  (void)apply(text(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.28"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {color: red, size: "1"}
)"));
  const auto diffs = diff_manifest(client, text(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {example.com/tier: front}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1.29"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {color: red}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {color: blue}
---
apiVersion: v1
kind: Namespace
metadata: {name: SPACE}
)"),
                                   options);
  std::string shown;
  for (const ObjectDiff& diff : diffs) shown += replaced(to_string(diff), space, "SPACE");
  EXPECT_EQ(shown, R"(v1 Namespace SPACE unchanged
v1 ConfigMap SPACE/a changed
  - data.size: "1"
v1 ConfigMap SPACE/b created
  + apiVersion: "v1"
  + data.color: "blue"
  + kind: "ConfigMap"
  + metadata.name: "b"
  + metadata.namespace: "SPACE"
apps/v1 Deployment SPACE/web changed
  + metadata.labels['example.com/tier']: "front"
  ~ spec.replicas: 2 -> 3
  ~ spec.template.spec.containers[name=main].image: "nginx:1.28" -> "nginx:1.29"
)");
  EXPECT_EQ(client.resource<Deployment>(space).get("web")->spec.replicas, 2);
}

// MF-6
TEST_F(ManifestServerTest, ShowsNoValuesOfSecrets) {
  (void)apply(R"(
apiVersion: v1
kind: Secret
metadata:
  name: token
  annotations: {kubectl.kubernetes.io/last-applied-configuration: hidden0}
data: {same: aGlkZGVuMQ==, changed: aGlkZGVuMg==, removed: aGlkZGVuMw==}
)");
  std::string shown;
  for (const ObjectDiff& diff : diff_manifest(client, R"(
apiVersion: v1
kind: Secret
metadata:
  name: token
  annotations: {kubectl.kubernetes.io/last-applied-configuration: hidden4}
data: {same: aGlkZGVuMQ==, changed: aGlkZGVuNQ==, added: aGlkZGVuNg==}
---
apiVersion: v1
kind: Secret
metadata: {name: new}
stringData: {key: hidden7}
)",
                                              options)) {
    shown += to_string(diff);
  }
  EXPECT_THAT(shown, HasSubstr(R"(  + data.added: "***")"));
  EXPECT_THAT(shown, HasSubstr(R"x(  ~ data.changed: "*** (before)" -> "*** (after)")x"));
  EXPECT_THAT(shown, HasSubstr(R"(  - data.removed: "***")"));
  EXPECT_THAT(shown, HasSubstr(R"(  + data.key: "***")"));
  EXPECT_THAT(shown, Not(HasSubstr("same")));
  EXPECT_THAT(shown, Not(HasSubstr("hidden")));
  EXPECT_THAT(shown, Not(HasSubstr("aGlkZGVu")));
}

struct PruneTest : ManifestServerTest {
  PruneTest() { options.prune = {.label_selector = "set=" + space}; }

  [[nodiscard]] std::string map(const std::string& name) const {
    return text("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name +
                ", labels: {set: SPACE}}}\n");
  }
};

// MF-11
TEST_F(PruneTest, DeletesWhatIsNoLongerInTheManifest) {
  (void)apply(map("a") + map("b"));
  maps.create({.metadata = {.name = "foreign", .labels = {{"set", space}}}});
  maps.apply({.metadata = {.name = "other"}}, {.field_manager = "tester"});
  EXPECT_THAT(apply(map("a") + map("c")),
              ElementsAre("v1 ConfigMap SPACE/a unchanged", "v1 ConfigMap SPACE/c created",
                          "v1 ConfigMap SPACE/b pruned"));
  EXPECT_EQ(color_of("b"), "no map");
  EXPECT_EQ(color_of("foreign"), "no color") << "another manager has made it";
  EXPECT_EQ(color_of("other"), "no color") << "it does not have the label";
}

// MF-11
TEST_F(PruneTest, LooksAtTheKindsAndNamespacesThatAreGiven) {
  const std::string other = server.add_space();
  (void)apply(map("a") +
              text("---\n{apiVersion: v1, kind: Secret, metadata: {name: s, labels: "
                   "{set: SPACE}}}\n") +
              "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: " + other +
              text(", labels: {set: SPACE}}}\n"));
  EXPECT_THAT(apply(map("a")), ElementsAre("v1 ConfigMap SPACE/a unchanged"));
  options.prune->kinds = {{"", "Secret"}, {"example.com", "NoSuchKind"}};
  options.prune->namespaces = {other};
  EXPECT_THAT(texts(apply_manifest(client, map("a"), options)),
              ElementsAre("v1 ConfigMap SPACE/a unchanged",
                          "v1 ConfigMap " + replaced(other, space, "SPACE") + "/a pruned",
                          "v1 Secret SPACE/s pruned"));
}

// MF-11
TEST_F(PruneTest, KeepsWhatMustNotBeLost) {
  (void)apply(map("a") + map("b"));
  maps.patch("b", PatchType::kMerge, R"({"metadata":{"annotations":{"kubecxx.dev/keep":"true"}}})");
  EXPECT_THAT(apply(map("a")), ElementsAre("v1 ConfigMap SPACE/a unchanged"));

  const std::string claim = text(R"(
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk, labels: {set: SPACE}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)");
  (void)apply(map("a") + claim);
  options.prune->kinds = {{"", "PersistentVolumeClaim"}};
  EXPECT_THAT(apply(map("a")), ElementsAre("v1 ConfigMap SPACE/a unchanged"));
  options.prune->delete_data = true;
  EXPECT_THAT(apply(map("a")), ElementsAre("v1 ConfigMap SPACE/a unchanged",
                                           "v1 PersistentVolumeClaim SPACE/disk pruned"));
}

// MF-11
TEST_F(PruneTest, OnlyListsInADryRunAndDoesNothingAfterAFailure) {
  (void)apply(map("a") + map("b"));
  options.dry_run = true;
  EXPECT_THAT(apply(map("a")),
              ElementsAre("v1 ConfigMap SPACE/a unchanged", "v1 ConfigMap SPACE/b pruned"));
  EXPECT_EQ(color_of("b"), "no color");

  options.dry_run = false;
  const ManifestError error = error_of(map("a") + map("Not_A_Name"));
  EXPECT_EQ(error.results().size(), 2U);
  EXPECT_EQ(color_of("b"), "no color");
}

// MF-10, MF-11
TEST_F(PruneTest, RefusesManifestsThatWouldLoseObjects) {
  (void)apply(map("a"));
  EXPECT_THAT(error_of("# nothing\n").what(), HasSubstr("the manifest has no objects"));
  const std::string unlabeled = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n";
  EXPECT_THAT(
      error_of(map("a") + unlabeled).what(),
      HasSubstr("document 2 (line 4): v1 ConfigMap b: its labels do not match set=" + space));
  EXPECT_EQ(color_of("b"), "no map");

  options.prune->label_selector = "";
  EXPECT_THROW((void)apply(map("a")), std::invalid_argument);

  options.prune = {.label_selector = "set=" + space,
                   .kinds = {{"", "ConfigMap"}},
                   .namespaces = {space},
                   .allow_empty = true};
  EXPECT_THAT(apply(""), ElementsAre("v1 ConfigMap SPACE/a pruned"));
}

// MF-2, MF-14
TEST_F(ManifestServerTest, DeletesInReverseOrderAndWaits) {
  const std::string yaml = text(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}
---
{apiVersion: SPACE.example.com/v1, kind: Thing, metadata: {name: a}}
---)" + std::string{kDefinition});
  (void)apply(yaml);
  EXPECT_THAT(
      texts(delete_manifest(client, yaml, {.namespace_ = space, .dry_run = true})),
      ElementsAre("SPACE.example.com/v1 Thing SPACE/a deleted", "v1 ConfigMap SPACE/a deleted",
                  "v1 ServiceAccount SPACE/a deleted", kDefinitionText + " deleted"));
  EXPECT_EQ(color_of("a"), "no color");
  (void)delete_manifest(client, yaml, {.namespace_ = space, .wait = 60s});
  EXPECT_EQ(color_of("a"), "no map");
  EXPECT_EQ(server.find({"apiextensions.k8s.io", "v1", "customresourcedefinitions"}, "",
                        "things." + space + ".example.com"),
            nullptr);
  // Discovery shows a deleted definition for another moment.
  EXPECT_TRUE(server.wait_for([&] {
    try {
      (void)RestMapper{client}.for_kind({space + ".example.com", "v1", "Thing"});
      return false;
    } catch (const NoMatchError&) {
      return true;
    }
  }));
  EXPECT_THAT(
      texts(delete_manifest(client, yaml, {.namespace_ = space})),
      ElementsAre("SPACE.example.com/v1 Thing SPACE/a absent", "v1 ConfigMap SPACE/a absent",
                  "v1 ServiceAccount SPACE/a absent", kDefinitionText + " absent"));
}

// MF-14
TEST_F(ManifestServerTest, TellsWhichDeletionIsNotComplete) {
  ConfigMap held{.metadata = {.name = "held", .finalizers = {"example.com/held"}}};
  maps.create(held);
  (void)apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n");
  try {
    delete_manifest(client,
                    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
                    "{apiVersion: v1, kind: ConfigMap, metadata: {name: held}}\n",
                    {.namespace_ = space, .wait = 1s});
    ADD_FAILURE() << "no error";
  } catch (const ManifestError& error) {
    EXPECT_THAT(error.what(), HasSubstr("v1 ConfigMap " + space +
                                        "/held: deletion was requested, but is not complete"));
    EXPECT_THAT(error.what(), HasSubstr("waits for finalizers example.com/held"));
    EXPECT_THAT(error.what(), HasSubstr("done: v1 ConfigMap " + space + "/a deleted"));
  }
  maps.patch("held", PatchType::kMerge, R"({"metadata":{"finalizers":null}})");
}

// MF-14
TEST_F(ManifestServerTest, KeepsDefinitionsUntilTheirObjectsAreGone) {
  const std::string yaml = text(R"(
apiVersion: SPACE.example.com/v1
kind: Thing
metadata: {name: a, namespace: SPACE, finalizers: [example.com/held]}
---)" + std::string{kDefinition});
  (void)apply(yaml);
  try {
    delete_manifest(client, yaml, {.wait = 1s});
    ADD_FAILURE() << "no error";
  } catch (const ManifestError& error) {
    EXPECT_THAT(replaced(error.what(), space, "SPACE"),
                HasSubstr("done: nothing; not tried: " + kDefinitionText));
    EXPECT_THAT(error.results().at(0).problem,
                HasSubstr("last state: being deleted, waits for finalizers example.com/held"));
  }
  client.dynamic({space + ".example.com", "v1", "things"}, space)
      .patch("a", PatchType::kMerge, R"({"metadata":{"finalizers":null}})");
  EXPECT_THAT(
      texts(delete_manifest(client, yaml, {.wait = 60s})),
      ElementsAre("SPACE.example.com/v1 Thing SPACE/a absent", kDefinitionText + " deleted"));
}

// MF-14
TEST_F(ManifestServerTest, WaitsUntilWorkloadsAreRolledOut) {
  const Manifest manifest = parse_manifest(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
)");
  auto ready = std::async(std::launch::async, [&] {
    wait_for_manifest(client, manifest, {.timeout = 60s, .namespace_ = space});
  });
  apply_manifest(client, manifest, options);
  const auto deployments = client.resource<Deployment>(space);
  const auto report = [&](int available) {
    retry_on_conflict([&] {
      Deployment web = *deployments.get("web");
      web.status = {.observed_generation = web.metadata.generation,
                    .replicas = 2,
                    .updated_replicas = 2,
                    .ready_replicas = available,
                    .available_replicas = available};
      return deployments.update_status(web);
    });
  };
  report(1);
  report(2);
  ready.get();
}

// MF-14: one deadline for all.
TEST_F(ManifestServerTest, TellsWhatIsNotReadyAndWhy) {
  const Manifest manifest = parse_manifest(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: missing}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: b}}
)");
  maps.create({.metadata = {.name = "a"}});
  client.resource<core::v1::ServiceAccount>(space).create({.metadata = {.name = "b"}});
  try {
    wait_for_manifest(
        client, manifest,
        {.timeout = 1s, .namespace_ = space, .conditions = {{{"", "ServiceAccount"}, "Ready"}}});
    ADD_FAILURE() << "no error";
  } catch (const ManifestError& error) {
    EXPECT_EQ(replaced(error.what(), space, "SPACE"),
              "2 of 3 objects are not ready after 1 s: document 3 (line 6): v1 "
              "ServiceAccount SPACE/b: condition Ready=True is missing: exists, without phase and "
              "conditions; document 2 (line 4): v1 ConfigMap SPACE/missing: does not exist");
  }
}

// MF-4
TEST_F(ManifestServerTest, NeedsAFieldManager) {
  options.field_manager.clear();
  EXPECT_THROW((void)apply(""), std::invalid_argument);
  EXPECT_THROW((void)diff_manifest(client, "", options), std::invalid_argument);
}

}  // namespace
}  // namespace kube

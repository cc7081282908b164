// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "engine_fixture.hpp"

namespace kube::testkit::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string widget(const std::string& name, const std::string& rest = R"("spec":{"color":"red"})") {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" + name + "\"}," +
         rest + "}";
}

std::string condition(const ApiReply& definition, const std::string& type) {
  for (const Value& one : definition.json->get_array("status.conditions")) {
    if (one["type"] == Value{type}) {
      return std::string{one["status"].as_string()} + " " + std::string{one["reason"].as_string()};
    }
  }
  return {};
}

// CD-1, CD-2
TEST(Definitions, BecomeServed) {
  Api api;
  EXPECT_EQ(api.get(kWidgets).status(), 404);
  const ApiReply made = api.make_widgets();
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("spec.names.singular"), "widget");
  EXPECT_EQ(made.at("spec.names.listKind"), "WidgetList");
  EXPECT_EQ(made.at("spec.conversion.strategy"), "None");
  EXPECT_EQ(made.at("metadata.generation"), "1");

  const ApiReply served = api.get(std::string{kDefinitions} + "/widgets.example.com");
  EXPECT_EQ(condition(served, "NamesAccepted"), "True NoConflicts");
  EXPECT_EQ(condition(served, "Established"), "True InitialNamesAccepted");
  EXPECT_EQ(served.at("status.storedVersions"), R"(["v1"])");
  EXPECT_EQ(served.at("status.acceptedNames.kind"), "Widget");
  EXPECT_EQ(served.at("metadata.generation"), "1");
  EXPECT_EQ(api.get(kWidgets).status(), 200);
}

// CR-3, CR-7
TEST(CustomResources, WrongKindIsReportedLast) {
  Api api;
  api.make_widgets();
  const auto other = [](std::string_view metadata) {
    return fmt::format(
        R"({{"apiVersion":"example.com/v1","kind":"Other","metadata":{{{}}},"bogus":1}})",
        metadata);
  };
  const ApiReply named = api.post(kWidgets, other(R"("name":"a")"));
  EXPECT_EQ(named.status(), 422);
  EXPECT_EQ(named.at("details.kind"), "Other");
  EXPECT_EQ(named.at("details.causes[0].field"), "kind");
  EXPECT_THAT(named.header("Warning"), HasSubstr("bogus"));
  const ApiReply generated = api.post(kWidgets, other(R"("generateName":"g-")"));
  EXPECT_EQ(generated.status(), 422);
  EXPECT_THAT(generated.at("details.name"), StartsWith("g-"));
  EXPECT_EQ(
      api.post(std::string{kWidgets} + "?fieldValidation=Strict", other(R"("name":"a")")).status(),
      400);
  EXPECT_EQ(api.put(std::string{kWidgets} + "/a", *parse_json(other(R"("name":"a")"))).status(),
            404);

  api.post(kWidgets, widget("a"));
  const std::string version = api.get(std::string{kWidgets} + "/a").version();
  const std::string metadata = fmt::format(R"("name":"a","resourceVersion":"{}")", version);
  EXPECT_EQ(api.put(std::string{kWidgets} + "/a", *parse_json(other(metadata))).status(), 422);
}

// PA-2
TEST(CustomResources, PatchCannotChangeTheType) {
  Api api;
  api.make_widgets();
  api.post(kWidgets, widget("a"));
  const auto patched = [&](const std::string& patch) {
    return api.patch(std::string{kWidgets} + "/a", patch);
  };
  const ApiReply other =
      patched(R"({"kind":"Other","apiVersion":"x/y","metadata":{"labels":{"a":"-"}}})");
  EXPECT_EQ(other.status(), 422);
  EXPECT_EQ(other.at("details.group"), "x");
  EXPECT_EQ(other.at("details.kind"), "Other");
  EXPECT_EQ(other.at("details.causes[0].field"), "metadata.labels");
  EXPECT_EQ(other.at("details.causes[1].field"), "kind");
  EXPECT_EQ(other.at("details.causes[2].field"), "apiVersion");
  for (const char* unreadable :
       {R"({"kind":null})", R"({"kind":1})", R"({"apiVersion":1})", R"({"apiVersion":"a/b/c"})",
        R"({"kind":"Other","metadata":{"annotations":{"a":1}}})"}) {
    const ApiReply reply = patched(unreadable);
    EXPECT_EQ(reply.status(), 422) << unreadable;
    EXPECT_EQ(reply.at("details.causes[0].field"), "patch") << unreadable;
    EXPECT_EQ(reply.at("details.group"), "") << unreadable;
  }
  const ApiReply none = patched(R"({"apiVersion":null})");
  EXPECT_EQ(none.status(), 500);
  EXPECT_EQ(none.reason(), "InternalError");
  EXPECT_EQ(patched(R"({"kind":"Other","metadata":{"resourceVersion":"1"}})").status(), 409);
}

// CD-1, CD-9, CD-10
TEST(Definitions, AreChecked) {
  Api api;
  const auto field = [&](const std::string& name, const std::string& group,
                         const std::string& versions) {
    const ApiReply reply = api.post(
        kDefinitions,
        R"({"metadata":{"name":")" + name + R"("},"spec":{"group":")" + group +
            R"(","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[)" +
            versions + "]}}");
    EXPECT_EQ(reply.status(), 422) << reply.text();
    return reply.at("details.causes[0].field");
  };
  const std::string schema = R"("schema":{"openAPIV3Schema":{"type":"object"}})";
  const std::string good = R"({"name":"v1","served":true,"storage":true,)" + schema + "}";
  EXPECT_EQ(field("wrong.example.com", "example.com", good), "metadata.name");
  EXPECT_EQ(field("things.nodot", "nodot", good), "spec.group");
  EXPECT_EQ(field("things.x.k8s.io", "x.k8s.io", good),
            "metadata.annotations[api-approved.kubernetes.io]");
  EXPECT_EQ(field("things.example.com", "example.com", ""), "spec.versions");
  EXPECT_EQ(field("things.example.com", "example.com",
                  R"({"name":"v1","served":true,"storage":false,)" + schema + "}"),
            "spec.versions");
  EXPECT_EQ(
      field("things.example.com", "example.com", R"({"name":"v1","served":true,"storage":true})"),
      "spec.versions[0].schema.openAPIV3Schema");
  EXPECT_THAT(
      field(
          "things.example.com", "example.com",
          R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{}}}}})"),
      StartsWith("spec.validation.openAPIV3Schema"));
  EXPECT_THAT(
      field(
          "things.example.com", "example.com",
          R"({"name":"v1","served":true,"storage":true,"selectableFields":[{"jsonPath":".metadata.name"}],)" +
              schema + "}"),
      StartsWith("spec.versions[0].selectableFields[0]"));
}

// CD-3
TEST(Definitions, NamesMustBeFree) {
  Api api;
  api.make_widgets();
  api.post(
      kDefinitions,
      R"({"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",)"
      R"("names":{"plural":"gadgets","kind":"Gadget","shortNames":["wd"]},"versions":[{"name":"v1","served":true,)"
      R"("storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  ASSERT_TRUE(api.engine.settle());
  const ApiReply gadgets = api.get(std::string{kDefinitions} + "/gadgets.example.com");
  EXPECT_EQ(condition(gadgets, "NamesAccepted"), "False ShortNamesConflict");
  EXPECT_EQ(condition(gadgets, "Established"), "False NotAccepted");
  EXPECT_EQ(api.get("/apis/example.com/v1/gadgets").status(), 404);
}

// CD-4, CD-13, DI-1, RQ-4
TEST(Definitions, AppearInDiscovery) {
  Api api;
  api.make_widgets(R"(,"subresources":{"status":{}})");
  const ApiReply list = api.get("/apis/example.com/v1");
  EXPECT_EQ(list.at("resources[0].verbs"),
            R"(["delete","deletecollection","get","list","patch","create","update","watch"])");
  EXPECT_EQ(list.at("resources[1].name"), "widgets/status");
  EXPECT_EQ(api.get("/apis/example.com/v2").status(), 404);
  const ApiReply unknown = api.get("/apis/example.com/v1/gizmos");
  EXPECT_EQ(unknown.text(), "404 page not found\n");
  api.remove(std::string{kDefinitions} + "/widgets.example.com");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.get("/apis/example.com").status(), 404);
}

// CD-6, CD-7, CD-8, CR-7
TEST(CustomResources, ArePrunedDefaultedAndValidated) {
  Api api;
  api.make_widgets();
  const ApiReply made = api.post(kWidgets, widget("w", R"("spec":{"color":"red","extra":1})"));
  ASSERT_EQ(made.status(), 201) << made.text();
  EXPECT_EQ(made.at("spec.size"), "3");
  EXPECT_EQ(made.at("spec.extra"), "");
  EXPECT_EQ(made.header("Warning"), R"(299 - "unknown field \"spec.extra\"")");
  EXPECT_EQ(made.at("metadata.generation"), "1");
  EXPECT_EQ(api.post(std::string{kWidgets} + "?fieldValidation=Strict",
                     widget("s", R"("spec":{"extra":1})"))
                .status(),
            400);

  const ApiReply bad = api.post(kWidgets, widget("bad", R"("spec":{"size":0})"));
  EXPECT_EQ(bad.status(), 422);
  EXPECT_THAT(bad.message(),
              StartsWith("Widget.example.com \"bad\" is invalid: spec.size: Invalid value: 0"));
  EXPECT_EQ(bad.at("details.causes[0].field"), "spec.size");
  EXPECT_EQ(api.patch(std::string{kWidgets} + "/w", R"({"spec":{"size":"x"}})").status(), 422);
}

// CR-7: scale paths must hold valid numbers, regardless of the schema.
TEST(CustomResources, NeedNumbersAtTheirScalePaths) {
  Api api;
  api.make_widgets(R"(,"subresources":{"scale":{"specReplicasPath":".spec.replicas",)"
                   R"("statusReplicasPath":".status.replicas"}})");
  EXPECT_EQ(api.post(kWidgets, widget("good", R"("spec":{"replicas":2})")).status(), 201);
  for (const char* replicas : {"-1", "3000000000"}) {
    const ApiReply bad =
        api.post(kWidgets, widget("bad", std::string{R"("spec":{"replicas":)"} + replicas + "}"));
    EXPECT_EQ(bad.status(), 422) << replicas;
    EXPECT_EQ(bad.at("details.causes[0].field"), ".spec.replicas");
  }
  const ApiReply text = api.post(kWidgets, widget("bad", R"("spec":{"replicas":"x"})"));
  EXPECT_EQ(text.at("details.causes[0].field"), "spec.replicas");
  EXPECT_EQ(text.at("details.causes[1].field"), ".spec.replicas");
}

// CT-4, CT-7, CR-3
TEST(CustomResources, DifferFromBuiltinResources) {
  Api api;
  api.make_widgets();
  const ApiReply made = api.post(kWidgets, widget("w"));
  EXPECT_THAT(made.text(),
              StartsWith(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{)"));
  const ApiReply list = api.get(kWidgets);
  EXPECT_THAT(
      list.text(),
      StartsWith(
          R"({"apiVersion":"example.com/v1","items":[{"apiVersion":"example.com/v1","kind":"Widget")"));
  EXPECT_THAT(list.text(),
              HasSubstr(R"("kind":"WidgetList","metadata":{"continue":"","resourceVersion":")"));
  EXPECT_EQ(api.post(kWidgets, R"({"metadata":{"name":"x"}})").status(), 400);

  const ApiReply protobuf = api.get(kWidgets, "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(protobuf.status(), 406);
  EXPECT_THAT(protobuf.text(), StartsWith(std::string{"k8s\0", 4}));
  EXPECT_EQ(api.get(kWidgets, "application/vnd.kubernetes.protobuf,application/json")
                .header("Content-Type"),
            "application/json");
  const ApiReply metadata = api.get(
      kWidgets,
      "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
  EXPECT_EQ(metadata.status(), 200);
  EXPECT_THAT(metadata.text(), HasSubstr("PartialObjectMetadataList"));
  EXPECT_EQ(
      api.send("POST", kWidgets, "x", {{"Content-Type", "application/vnd.kubernetes.protobuf"}})
          .status(),
      415);
}

// RQ-1, RQ-2, RQ-4
TEST(CustomResources, HaveTheirOwnErrorMessages) {
  Api api;
  api.make_widgets();
  EXPECT_EQ(api.post(std::string{kWidgets} + "/named", widget("named")).status(), 201);
  const ApiReply put = api.put(kWidgets, *parse_json(widget("x")));
  EXPECT_EQ(put.status(), 400);
  EXPECT_EQ(put.message(), "name must be provided");
  EXPECT_EQ(api.post("/apis/example.com/v1/widgets", widget("x")).text(), "404 page not found\n");
  const ApiReply status = api.get(std::string{kWidgets} + "/named/status");  // ST-3
  EXPECT_EQ(status.status(), 404);
  EXPECT_EQ(status.message(), "widgets.example.com \"named\" not found");
  const ApiReply head = api.send("HEAD", std::string{kWidgets} + "/named");
  EXPECT_EQ(head.status(), 405);
  EXPECT_EQ(head.message(), "head is not supported on resources of kind \"widgets.example.com\"");
}

// GN-2, ST-1, ST-2
TEST(CustomResources, HaveASeparateStatus) {
  Api api;
  api.make_widgets(R"(,"subresources":{"status":{}})");
  const ApiReply made = api.post(kWidgets, widget("w", R"("spec":{},"status":{"phase":"x"})"));
  EXPECT_EQ(made.at("status"), "");
  const std::string path = std::string{kWidgets} + "/w";
  const ApiReply set = api.patch(
      path + "/status",
      R"({"spec":{"color":"blue"},"metadata":{"labels":{"a":"b"}},"status":{"phase":"Ready"}})");
  EXPECT_EQ(set.at("status.phase"), "Ready");
  EXPECT_EQ(set.at("spec.color"), "");
  EXPECT_EQ(set.at("metadata.labels"), "");
  EXPECT_EQ(set.at("metadata.generation"), "1");
  EXPECT_EQ(api.patch(path, R"({"spec":{"color":"blue"},"status":null})").at("metadata.generation"),
            "2");
  EXPECT_EQ(api.get(path).at("status.phase"), "Ready");
}

// UP-3
TEST(CustomResources, NeedTheVersionToBeUpdated) {
  Api api;
  api.make_widgets();
  api.post(kWidgets, widget("w"));
  const ApiReply put = api.put(std::string{kWidgets} + "/w", *parse_json(widget("w")));
  EXPECT_EQ(put.status(), 422);
  EXPECT_THAT(put.message(),
              StartsWith("widgets.example.com \"w\" is invalid: metadata.resourceVersion"));
}

// CD-10, SL-4
TEST(CustomResources, AreSelectedByTheirFields) {
  Api api;
  api.make_widgets(R"(,"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.size"}])");
  api.post(kWidgets, widget("r"));
  api.post(kWidgets, widget("b", R"("spec":{"color":"blue","size":5})"));
  EXPECT_THAT(api.get(std::string{kWidgets} + "?fieldSelector=spec.color%3Dblue").names(),
              ElementsAre("b"));
  EXPECT_THAT(api.get(std::string{kWidgets} + "?fieldSelector=spec.size%3D3").names(),
              ElementsAre("r"));
  EXPECT_THAT(api.get(std::string{kWidgets} + "?fieldSelector=metadata.name%3Dr").names(),
              ElementsAre("r"));  // KU-12
  EXPECT_EQ(api.get(std::string{kWidgets} + "?fieldSelector=spec.x%3D3").status(), 400);
}

// CD-5
TEST(CustomResources, AreServedInAllVersions) {
  Api api;
  const std::string schema =
      R"("schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})";
  api.post(
      kDefinitions,
      R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,)" +
          schema + R"(},{"name":"v1beta1","served":true,"storage":false,"deprecated":true,)" +
          schema + R"(},{"name":"v1alpha1","served":false,"storage":false,)" + schema + "}]}}");
  ASSERT_TRUE(api.engine.settle());
  api.post(kWidgets, widget("w"));
  const ApiReply old = api.get("/apis/example.com/v1beta1/namespaces/default/widgets/w");
  EXPECT_EQ(old.at("apiVersion"), "example.com/v1beta1");
  EXPECT_EQ(old.at("spec.color"), "red");
  EXPECT_EQ(old.header("Warning"),
            R"(299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget")");
  EXPECT_EQ(api.get("/apis/example.com/v1alpha1/namespaces/default/widgets/w").text(),
            "404 page not found\n");
  EXPECT_EQ(api.get("/apis/example.com").at("preferredVersion.version"), "v1");  // DI-4
  WatchReader watch = api.watch("/apis/example.com/v1beta1/widgets?watch=1");
  EXPECT_EQ(watch.next().at("apiVersion"), "example.com/v1beta1");
  api.patch("/apis/example.com/v1beta1/namespaces/default/widgets/w",
            R"({"spec":{"color":"blue"}})");
  EXPECT_EQ(watch.next().at("spec.color"), "blue");
  EXPECT_EQ(api.get(std::string{kWidgets} + "/w").at("apiVersion"), "example.com/v1");
}

// WT-15
TEST(CustomResources, WatchesEndWhenTheSchemaChanges) {
  Api api;
  api.make_widgets();
  WatchReader watch = api.watch(std::string{kWidgets} + "?watch=1");
  const std::string path = std::string{kDefinitions} + "/widgets.example.com";
  api.patch(path, R"({"metadata":{"labels":{"a":"b"}}})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_TRUE(watch.is_quiet());
  api.send(
      "PATCH", path,
      R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/more","value":{"type":"string"}}])",
      {{"Content-Type", "application/json-patch+json"}});
  EXPECT_EQ(watch.next().type, "END");
}

// CD-6, CD-7
TEST(CustomResources, AreServedWithTheCurrentSchema) {
  Api api;
  api.make_widgets();
  api.post(kWidgets, widget("w"));
  const std::string properties =
      "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
  api.send("PATCH", std::string{kDefinitions} + "/widgets.example.com",
           R"([{"op":"remove","path":")" + properties + R"(/color"},{"op":"add","path":")" +
               properties + R"(/shape","value":{"type":"string","default":"round"}}])",
           {{"Content-Type", "application/json-patch+json"}});
  ASSERT_TRUE(api.engine.settle());
  const ApiReply shown = api.get(std::string{kWidgets} + "/w");
  EXPECT_EQ(shown.at("spec.color"), "");
  EXPECT_EQ(shown.at("spec.shape"), "round");
}

// CD-12
TEST(Definitions, AreDeletedWithTheirObjects) {
  Api api;
  api.make_widgets();
  api.post(kWidgets, widget("w"));
  api.patch(std::string{kWidgets} + "/w", R"({"metadata":{"finalizers":["x.io/a"]}})");
  WatchReader watch = api.watch(
      std::string{kWidgets} + "?watch=1&resourceVersion=" + std::to_string(api.engine.revision()));
  const std::string path = std::string{kDefinitions} + "/widgets.example.com";
  api.remove(path);
  ASSERT_TRUE(api.engine.settle());
  const ApiReply ending = api.get(path);
  EXPECT_EQ(condition(ending, "Terminating"), "True InstanceDeletionInProgress");
  const ApiReply refused = api.post(kWidgets, widget("late"));
  EXPECT_EQ(refused.status(), 403);
  EXPECT_THAT(refused.message(),
              HasSubstr("create not allowed while custom resource definition is terminating"));
  EXPECT_EQ(api.get("/apis/example.com/v1").at("resources[0].verbs"),
            R"(["delete","deletecollection","get","list","watch"])");
  EXPECT_EQ(watch.next().type, "MODIFIED");
  api.patch(std::string{kWidgets} + "/w", R"({"metadata":{"finalizers":null}})");
  ASSERT_TRUE(api.engine.settle());
  EXPECT_EQ(api.get(path).status(), 404);
  EXPECT_EQ(api.get(kWidgets).text(), "404 page not found\n");
  EXPECT_EQ(watch.next().type, "DELETED");
  EXPECT_EQ(watch.next().type, "END");
}

// CD-12
TEST(Definitions, StoredVersionsCannotBeDropped) {
  Api api;
  api.make_widgets();
  Value object = *api.get(std::string{kDefinitions} + "/widgets.example.com").json;
  Value version = std::as_const(object)["spec"]["versions"][0];
  version["name"] = "v2";
  object["spec"]["versions"] = Value::array({version});
  const ApiReply reply = api.put(std::string{kDefinitions} + "/widgets.example.com", object);
  EXPECT_EQ(reply.status(), 422);
  EXPECT_THAT(reply.message(), HasSubstr("status.storedVersions[0]"));
}

}  // namespace
}  // namespace kube::testkit::detail

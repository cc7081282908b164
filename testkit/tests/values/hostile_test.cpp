// SPDX-License-Identifier: Apache-2.0
// For any input of a client, the result is an object or an ApiError.
#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/printing/table.hpp"
#include "testkit/values/apply.hpp"
#include "testkit/values/json_patch.hpp"
#include "testkit/values/merge_patch.hpp"
#include "testkit/values/strategic_merge.hpp"
#include "testkit/values/structural_schema.hpp"
#include "values.hpp"

#include <gtest/gtest.h>

#include <array>

namespace kube::testkit::detail {
namespace {

/// Generates documents that are nearly valid: real names in the wrong places.
class Nonsense {
 public:
  explicit Nonsense(unsigned seed) : random_(seed) {}

  Value value(int depth) {
    switch (depth > 0 ? below(8) : 4 + below(4)) {
      case 0:
      case 1:
      case 2: {
        Value object = Value::object();
        for (unsigned i = below(6); i > 0; --i)
          object[kNames[below(kNames.size())]] = value(depth - 1);
        return object;
      }
      case 3: {
        Value array = Value::array();
        for (unsigned i = below(4); i > 0; --i) array.push_back(value(depth - 1));
        return array;
      }
      case 4:
        return nullptr;
      case 5:
        return static_cast<int>(below(3));
      case 6:
        return below(2) == 0;
      default:
        return kNames[below(kNames.size())];
    }
  }
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

 private:
  static constexpr std::array kNames{"metadata",
                                     "spec",
                                     "status",
                                     "name",
                                     "labels",
                                     "finalizers",
                                     "ownerReferences",
                                     "managedFields",
                                     "containers",
                                     "env",
                                     "ports",
                                     "containerPort",
                                     "template",
                                     "type",
                                     "properties",
                                     "items",
                                     "required",
                                     "default",
                                     "enum",
                                     "allOf",
                                     "not",
                                     "$patch",
                                     "delete",
                                     "replace",
                                     "$retainKeys",
                                     "$setElementOrder/containers",
                                     "$deleteFromPrimitiveList/finalizers",
                                     "op",
                                     "path",
                                     "/spec",
                                     "/metadata/labels",
                                     "f:metadata",
                                     "k:{}",
                                     "fieldsV1",
                                     "manager",
                                     "operation",
                                     "Update",
                                     "apiVersion",
                                     "v1",
                                     "fieldsType",
                                     "FieldsV1",
                                     "object",
                                     "string",
                                     "array",
                                     "conditions",
                                     "subsets",
                                     "rules"};
  std::mt19937 random_;
};

template <typename Call>
void allow_api_errors(Call call) {
  try {
    call();
  } catch (const ApiError&) {
  }
}

TEST(Hostile, PatchesNeitherCrashNorThrowAnythingElse) {
  const SchemaNode& pod = *builtin_schema("", "v1", "Pod");
  Nonsense nonsense{3};
  for (int i = 0; i < 1000; ++i) {
    const Value live =
        Value::object({{"metadata", nonsense.value(3)}, {"spec", nonsense.value(5)}});
    const Value patch = Value::object({{"metadata", nonsense.value(4)},
                                       {"spec", nonsense.value(5)},
                                       {"status", nonsense.value(3)}});
    allow_api_errors([&] { static_cast<void>(merge_patch(live, patch)); });
    allow_api_errors([&] { static_cast<void>(strategic_merge(live, patch, pod)); });
    allow_api_errors([&] { static_cast<void>(json_patch(live, nonsense.value(3))); });
    FieldManager who{.name = "m", .api_version = "v1", .subresource = {}, .now = {}};
    allow_api_errors([&] { static_cast<void>(track_update(pod, live, patch, who)); });
    allow_api_errors(
        [&] { static_cast<void>(apply_patch(pod, live, patch, who, nonsense.below(2) == 0)); });
    static_cast<void>(keep_old_timestamps(live, patch));
  }
}

TEST(Hostile, SchemasAndObjectsNeitherCrashNorThrow) {
  Nonsense nonsense{4};
  int structural = 0;
  for (int i = 0; i < 1000; ++i) {
    Value schema = nonsense.value(5);
    if (schema.is_object()) schema["type"] = "object";
    if (!check_structural(schema, "schema").empty()) continue;
    ++structural;
    const StructuralSchema made{schema};
    Value object = nonsense.value(6);
    made.prune(object);
    made.apply_defaults(object);
    static_cast<void>(made.validate(object));
  }
  EXPECT_GT(structural, 5);
}

TEST(Hostile, ObjectsCanBePrinted) {
  Nonsense nonsense{5};
  for (const auto& [group, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "Pod"},
           {"", "Service"},
           {"", "Endpoints"},
           {"", "Node"},
           {"", "Event"},
           {"batch", "Job"},
           {"apps", "Deployment"},
           {"networking.k8s.io", "Ingress"},
           {"autoscaling", "HorizontalPodAutoscaler"},
           {"", "PersistentVolume"}}) {
    const TablePrinter printer = TablePrinter::for_builtin(group, kind);
    for (int i = 0; i < 300; ++i) {
      const Value row = printer.row(nonsense.value(6), IncludeObject::kMetadata, {});
      EXPECT_EQ(row["cells"].size(), printer.columns().size());
    }
  }
}

TEST(Hostile, DeepDocumentsDoNotExhaustTheStack) {
  Value deep = "leaf";
  for (int i = 0; i < 198; ++i) {
    Value outer = Value::object();
    outer["spec"] = std::move(deep);
    deep = std::move(outer);
  }
  const SchemaNode& pod = *builtin_schema("", "v1", "Pod");
  EXPECT_EQ(test::text(merge_patch(Value::object(), deep)), test::text(deep));
  EXPECT_EQ(test::text(strategic_merge(deep, deep, pod)), test::text(deep));
  const FieldManager who{
      .name = "m", .api_version = "v1", .subresource = {}, .now = {}, .custom_resource = true};
  const StructuralSchema free{
      test::json(R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})")};
  const Value tracked = track_update(free.apply_schema(), {}, deep, who);
  EXPECT_FALSE(tracked.get_array("metadata.managedFields").empty());
  static_cast<void>(apply_patch(free.apply_schema(), tracked, deep, who, false));
}

}  // namespace
}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/projection.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/slim.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

#include <cstddef>

namespace kube {
namespace {

using core::v1::Pod;

Pod full() {
  return {.metadata = {.name = "web-0",
                       .namespace_ = "shop",
                       .labels = {{"app", "web"}, {"tier", "front"}},
                       .managed_fields = {{.manager = "kubelet"}}},
          .spec = {.containers = {{.name = "a", .image = "nginx"}, {.name = "b", .image = "envoy"}},
                   .node_name = "node-1"},
          .status = {.phase = "Running", .pod_ip = "10.0.0.7"}};
}

/// Decodes the pod with both decoders, which must agree.
Pod projected(const Projection& projection) {
  Decoder<Pod> decoder{{.projection = projection}};
  const Ref<Pod> from_json = decoder.json(encode_json(full()));
  const Ref<Pod> from_protobuf = decoder.protobuf(encode_protobuf_message(full()));
  EXPECT_EQ(encode_json(*from_json), encode_json(*from_protobuf));
  return *from_json;
}

TEST(Projection, KeepsOnlyNamedFields) {
  const Pod pod = projected(fields<Pod>("metadata.name", "spec.nodeName", "status.podIP"));

  EXPECT_EQ(pod, (Pod{.metadata = {.name = "web-0"},
                      .spec = {.node_name = "node-1"},
                      .status = {.pod_ip = "10.0.0.7"}}));
}

TEST(Projection, KeepsEverythingBelowANamedField) {
  EXPECT_EQ(projected(fields<Pod>("metadata", "metadata.name")).metadata, full().metadata);
  EXPECT_EQ(projected(fields<Pod>("metadata.name", "metadata")).metadata, full().metadata);
}

TEST(Projection, GoesThroughLists) {
  const Pod pod = projected(fields<Pod>("spec.containers.image"));

  ASSERT_EQ(pod.spec.containers.size(), 2U);
  EXPECT_EQ(pod.spec.containers[1].image, "envoy");
  EXPECT_EQ(pod.spec.containers[1].name, "");
}

TEST(Projection, ChoosesKeysOfMaps) {
  EXPECT_EQ(projected(fields<Pod>("metadata.labels['tier']")).metadata.labels,
            (Map<String>{{"tier", "front"}}));
  EXPECT_EQ(projected(without_fields<Pod>("metadata.labels['tier']")).metadata.labels,
            (Map<String>{{"app", "web"}}));
}

TEST(Projection, OmitsNamedFields) {
  Pod expected = full();
  expected.metadata.managed_fields.reset();

  EXPECT_EQ(projected(without_fields<Pod>("metadata.managedFields")), expected);
}

TEST(Projection, WorksOnAnyValue) {
  Decoder<Value> decoder{{.projection = fields<Value>("spec.replicas", "metadata.name")}};
  const auto value =
      decoder.json(R"({"metadata":{"name":"a","uid":"u"},"spec":{"replicas":3,"x":{}}})");

  EXPECT_EQ(encode_json(*value), R"({"metadata":{"name":"a"},"spec":{"replicas":3}})");
}

TEST(Projection, MakesObjectsSmallerAlsoWithSiblings) {
  Decoder<Pod> whole;
  Decoder<Pod> few{{.pool = std::make_shared<Pool>(), .projection = fields<Pod>("metadata.name")}};
  const std::string message = encode_protobuf_message(full());
  const Ref<Pod> first = few.protobuf(message);
  const Ref<Pod> second = few.protobuf(message);

  EXPECT_LT(bytes_of(first).own, bytes_of(whole.protobuf(message)).own);
  EXPECT_EQ(*first, *second);
}

TEST(Projection, NamesAPathThatTheTypeDoesNotHave) {
  try {
    static_cast<void>(fields<Pod>("spec.nodename"));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "projection \"spec.nodename\": PodSpec has no field \"nodename\"");
  }
  EXPECT_THROW(fields<Pod>("spec.nodeName.x"), std::invalid_argument);
  EXPECT_THROW(fields<Pod>("spec.containers[0]"), std::invalid_argument);
  EXPECT_THROW(fields<Pod>(""), std::invalid_argument);
}

// Projection by type: a struct with just the required fields.
struct PodRow {
  struct Metadata {
    String name;
    String namespace_;
    static const Type kube_type;
  } metadata;
  struct Status {
    String phase;
    static const Type kube_type;
  } status;
  static const Type kube_type;
};
const Type PodRow::Metadata::kube_type =
    slim(keep(&PodRow::Metadata::name, &meta::v1::ObjectMeta::name),
         keep(&PodRow::Metadata::namespace_, &meta::v1::ObjectMeta::namespace_));
const Type PodRow::Status::kube_type =
    slim(keep(&PodRow::Status::phase, &core::v1::PodStatus::phase));
const Type PodRow::kube_type =
    slim(keep(&PodRow::metadata, &Pod::metadata), keep(&PodRow::status, &Pod::status));

TEST(Projection, ByTypeReadsASmallStructFromTheWholeObject) {
  const auto from_json = decode_json<PodRow>(encode_json(full()));
  const auto from_protobuf = decode_protobuf<PodRow>(encode_protobuf(full()));

  EXPECT_EQ(from_json->metadata.name, "web-0");
  EXPECT_EQ(from_protobuf->metadata.namespace_, "shop");
  EXPECT_EQ(from_protobuf->status.phase, "Running");
  EXPECT_TRUE(deep_equal(*from_json, *from_protobuf));
  EXPECT_LE(bytes_of(from_protobuf).own, 64U);
}

}  // namespace
}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#include <kube/object/slim.hpp>

#include <kube/api/core/v1.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace kube {
namespace {

using core::v1::Container;
using core::v1::Pod;
using core::v1::PodSpec;
using meta::v1::ObjectMeta;

struct SmallContainer {
  String image;
  static const Type kube_type;
};
struct SmallPod {
  struct Metadata {
    String name;
    String namespace_;
    Map<String> labels;
    static const Type kube_type;
  };
  struct Spec {
    String node_name;
    List<SmallContainer> containers;
    static const Type kube_type;
  };
  Metadata metadata;
  Spec spec;
  static const Type kube_type;
};

const Type SmallContainer::kube_type = slim(keep(&SmallContainer::image, &Container::image));
const Type SmallPod::Metadata::kube_type = slim(  //
    keep(&SmallPod::Metadata::name, &ObjectMeta::name),
    keep(&SmallPod::Metadata::namespace_, &ObjectMeta::namespace_),
    keep(&SmallPod::Metadata::labels, &ObjectMeta::labels));
const Type SmallPod::Spec::kube_type = slim(  //
    keep(&SmallPod::Spec::node_name, &PodSpec::node_name),
    keep(&SmallPod::Spec::containers, &PodSpec::containers));
const Type SmallPod::kube_type =
    slim(keep(&SmallPod::metadata, &Pod::metadata), keep(&SmallPod::spec, &Pod::spec));

Pod pod() {
  Pod pod;
  pod.metadata.name = "web-0";
  pod.metadata.namespace_ = "default";
  pod.metadata.uid = "not kept";
  pod.metadata.labels = {{"app", "web"}};
  pod.spec.node_name = "node-with-a-long-name";
  pod.spec.containers.emplace_back().image = "nginx:1.29";
  pod.spec.containers.front().name = "not kept";
  pod.status.phase = "Running";
  return pod;
}

void expect_kept(const SmallPod& small) {
  EXPECT_EQ(small.metadata.name, "web-0");
  EXPECT_EQ(small.metadata.namespace_, "default");
  EXPECT_EQ(small.metadata.labels.at("app"), "web");
  EXPECT_EQ(small.spec.node_name, "node-with-a-long-name");
  ASSERT_EQ(small.spec.containers.size(), 1U);
  EXPECT_EQ(small.spec.containers.front().image, "nginx:1.29");
}

TEST(Slim, KeepsItsFieldsFromJson) { expect_kept(*decode_json<SmallPod>(encode_json(pod()))); }

TEST(Slim, KeepsItsFieldsFromProtobuf) {
  expect_kept(*decode_protobuf<SmallPod>(encode_protobuf(pod())));
}

TEST(Slim, IsWrittenInTheOrderOfTheFullType) {
  const Ref<SmallPod> small = decode_json<SmallPod>(encode_json(pod()));

  EXPECT_EQ(encode_json(*small),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"default",)"
            R"("labels":{"app":"web"}},"spec":{"containers":[{"image":"nginx:1.29"}],)"
            R"("nodeName":"node-with-a-long-name"}})");
  expect_kept(*decode_protobuf<SmallPod>(encode_protobuf(*small)));
}

// Values without timestamps can be shared between objects.
TEST(Slim, IsVolatileOnlyIfATimeIsKept) {
  struct Born {
    Time creation_timestamp;
  };

  static const Type born = slim(keep(&Born::creation_timestamp, &ObjectMeta::creation_timestamp));

  EXPECT_TRUE(born.is(Type::kVolatile));
  EXPECT_TRUE(type_of<Pod>().is(Type::kVolatile));
  EXPECT_FALSE(type_of<SmallPod>().is(Type::kVolatile));
}

TEST(Slim, RefusesToKeepAFieldTwice) {
  struct Twice {
    String a;
    String b;
  };

  try {
    static_cast<void>(slim(keep(&Twice::a, &ObjectMeta::name), keep(&Twice::b, &ObjectMeta::name)));
    FAIL() << "a field is kept twice";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "a slim ObjectMeta keeps the field \"name\" twice");
  }
}

}  // namespace
}  // namespace kube

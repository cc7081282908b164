// SPDX-License-Identifier: Apache-2.0
// Sharing of equal content between objects: which objects share, which content is shared, and when
// it is released.
#include "object/bundle.hpp"
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kube {
namespace {

using core::v1::Container;
using core::v1::EnvVar;
using core::v1::Pod;

/// Creates the `index`th pod of a ReplicaSet: of realistic size, and different where real pods
/// differ.
Pod replica(int index) {
  const std::string number = std::to_string(index);
  Pod pod;
  pod.metadata.name = "web-7c9d8f6b5d-x" + number;
  pod.metadata.generate_name = "web-7c9d8f6b5d-";
  pod.metadata.namespace_ = "shop";
  pod.metadata.uid = "af019122-9f8d-4d21-9a8c-dc7a07c5" + number;
  pod.metadata.resource_version = std::to_string(1000 + index);
  pod.metadata.creation_timestamp = Time::from_unix(1'800'000'000 + index);
  pod.metadata.labels = {{"app.kubernetes.io/name", "web"}, {"pod-template-hash", "7c9d8f6b5d"}};
  auto& owner = pod.metadata.owner_references.emplace_back();
  owner.kind = "ReplicaSet";
  owner.name = "web-7c9d8f6b5d";
  owner.uid = "0d5c7e30-9329-4e67-a7d9-8e1c0841185b";
  auto& manager = pod.metadata.managed_fields.emplace_back();
  manager.manager = "kubelet";
  manager.time = Time::from_unix(1'800'000'000 + index);
  manager.fields_v1 = FieldsV1{
      R"({"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},)"
      R"("f:status":{},"f:type":{}}},"f:podIPs":{".":{},"k:{\"ip\":\"10.0.0.)" +
      number + R"(\"}":{".":{},"f:ip":{}}},"f:startTime":{}}})"};
  Container& container = pod.spec.containers.emplace_back();
  container.name = "web";
  container.image = "registry.example/team/web-frontend:1.2.3";
  for (int i = 0; i < 20; ++i) {
    container.env.push_back(EnvVar{.name = "VARIABLE_NUMBER_" + std::to_string(i),
                                   .value = "the value of variable " + std::to_string(i),
                                   .value_from = {}});
  }
  container.readiness_probe.ensure().http_get.ensure().path = "/healthz/ready/and/more";
  container.readiness_probe->http_get->port = "http";
  container.readiness_probe->period_seconds = 5;
  pod.spec.node_name = "node-" + number;
  auto& condition = pod.status.conditions.emplace_back();
  condition.type = "Ready";
  condition.status = "True";
  condition.last_transition_time = Time::from_unix(1'800'000'100 + index);
  pod.status.pod_ip = "10.0.0." + number;
  return pod;
}

std::string json_with(std::string_view name, std::string_view text) {
  return R"({"metadata":{"name":")" + std::string{name} + R"("},"text":")" + std::string{text} +
         "\"}";
}

struct Shared : testing::TestWithParam<Format> {
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();

  static std::string encoded(const Pod& pod) {
    return GetParam() == Format::kJson ? encode_json(pod) : encode_protobuf_message(pod);
  }
  static Ref<Pod> decode(Decoder<Pod>& decoder, const std::string& bytes) {
    return GetParam() == Format::kJson ? decoder.json(bytes) : decoder.protobuf(bytes);
  }
};

TEST_P(Shared, ObjectsOfAFamilyTakeLessThanTheFirst) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 60; ++i) pods.push_back(decode(decoder, encoded(replica(i))));

  const std::size_t first = bytes_of(pods.front()).own;
  const ObjectBytes last = bytes_of(pods.back());
  EXPECT_LT(last.own, first / 2);
  EXPECT_GT(last.shared, 0U);
  for (int i = 10; i < 60; ++i) {
    EXPECT_EQ(*pods[static_cast<std::size_t>(i - 10)], replica(i));
  }
}

TEST_P(Shared, ObjectsOfAFamilyTakeLessThanTheirBytesOnTheWire) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  std::size_t wire = 0;
  const std::size_t before = block_totals().bytes;
  for (int i = 100; i < 300; ++i) {
    const std::string bytes = encoded(replica(i));
    wire += bytes.size();
    pods.push_back(decode(decoder, bytes));
  }

  const std::size_t memory = block_totals().bytes - before + pool->totals().bytes;
  EXPECT_LT(memory, wire * 7 / 10);
}

TEST_P(Shared, ContentIsTheVerySame) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 14; ++i) pods.push_back(decode(decoder, encoded(replica(i))));

  const Container& third = pods[2]->spec.containers[0];
  const Container& fourth = pods[3]->spec.containers[0];
  EXPECT_EQ(third.image.data(), fourth.image.data());
  EXPECT_EQ(third.env[7].value.data(), fourth.env[7].value.data());
  EXPECT_EQ(third.readiness_probe.get(), fourth.readiness_probe.get());
  EXPECT_NE(pods[2]->metadata.name.data(), pods[3]->metadata.name.data());
}

/// Creates a pod with a different annotation, so that the other annotations are shared one by one.
Pod annotated_replica(int index) {
  Pod pod = replica(index);
  for (int i = 0; i < 10; ++i) {
    pod.metadata.annotations["example.org/annotation-" + std::to_string(i)] =
        "the same value for all, number " + std::to_string(i);
  }
  pod.metadata.annotations["example.org/its-own"] = "pod " + std::to_string(index);
  return pod;
}

TEST_P(Shared, NodesOfAFamilyAreHeldByOneBundle) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 20; ++i) pods.push_back(decode(decoder, encoded(annotated_replica(i))));

  const detail::Block& last = *detail::block_of(pods.back());
  ASSERT_NE(last.bundle, nullptr);
  EXPECT_EQ(last.bundle, detail::block_of(pods[pods.size() - 2])->bundle);
  EXPECT_GT(last.bundle->size(), 4 * last.node_words);
  for (int i = 10; i < 20; ++i) {
    EXPECT_EQ(*pods[static_cast<std::size_t>(i - 10)], annotated_replica(i));
  }
}

TEST_P(Shared, BundlesAreNotTakenFromAnotherFamily) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 20; ++i) pods.push_back(decode(decoder, encoded(annotated_replica(i))));
  ASSERT_NE(detail::block_of(pods.back())->bundle, nullptr);
  Pod other = replica(20);
  other.metadata.name = "another-family-0";
  other.spec.containers[0].env = {};
  other.spec.containers[0].image = "registry.example/team/of-its-own:1";
  other.metadata.labels = {};
  other.metadata.owner_references = {};
  const Ref<Pod> decoded = decode(decoder, encoded(other));
  const detail::Bundle* const theirs = detail::block_of(pods.back())->bundle;
  pods.clear();

  EXPECT_NE(detail::block_of(decoded)->bundle, theirs);
  EXPECT_EQ(*decoded, other);
}

TEST_P(Shared, ValuesThatContainTimestampsAreNotPooled) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 0; i < 4; ++i) pods.push_back(decode(decoder, encoded(replica(10))));

  EXPECT_NE(&pods[2]->status.conditions[0], &pods[3]->status.conditions[0]);
  EXPECT_EQ(pods[2]->status.conditions, pods[3]->status.conditions);
}

TEST_P(Shared, NodesAreReleasedWithTheLastObject) {
  std::vector<Ref<Pod>> pods;
  {
    Decoder<Pod> decoder{{.pool = pool}};
    for (int i = 10; i < 30; ++i) pods.push_back(decode(decoder, encoded(replica(i))));
  }
  EXPECT_GT(pool->totals().nodes, 0U);
  Ref<Pod> kept = pods[10];
  pods.clear();
  EXPECT_GT(pool->totals().nodes, 0U);
  EXPECT_EQ(*kept, replica(20));

  const Pod copy = *kept;
  kept.reset();

  EXPECT_EQ(pool->totals().nodes, 0U);
  EXPECT_EQ(pool->totals().bytes, 0U);
  EXPECT_EQ(copy, replica(20));
}

TEST_P(Shared, ObjectsOutliveDecoderAndPool) {
  std::vector<Ref<Pod>> pods;
  {
    Decoder<Pod> decoder{{.pool = pool}};
    for (int i = 10; i < 14; ++i) pods.push_back(decode(decoder, encoded(replica(i))));
  }
  pool.reset();

  EXPECT_EQ(*pods[3], replica(13));
}

TEST_P(Shared, NothingIsSharedWithoutAPool) {
  Decoder<Pod> decoder;
  const std::string bytes = encoded(replica(10));
  const Ref<Pod> first = decode(decoder, bytes);
  const Ref<Pod> second = decode(decoder, bytes);

  EXPECT_EQ(bytes_of(second).shared, 0U);
  EXPECT_EQ(detail::block_of(second)->image_size(), detail::block_of(first)->image_size());
}

TEST_P(Shared, OnlyTextIsSharedWithoutSiblings) {
  Decoder<Pod> decoder{{.pool = pool, .sibling_bytes = 0}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 14; ++i) pods.push_back(decode(decoder, encoded(replica(i))));

  const Container& third = pods[2]->spec.containers[0];
  const Container& fourth = pods[3]->spec.containers[0];
  EXPECT_EQ(third.image.data(), fourth.image.data());
  EXPECT_NE(third.readiness_probe.get(), fourth.readiness_probe.get());
  EXPECT_EQ(*pods[3], replica(13));
}

TEST_P(Shared, TextIsPooledOnceASecondObjectHasIt) {
  Decoder<Pod> decoder{{.pool = pool, .sibling_bytes = 0}};
  Pod pod = replica(10);
  pod.spec.containers.push_back(Container{pod.spec.containers[0]});
  std::vector<Ref<Pod>> versions;
  for (int version = 0; version < 3; ++version) {
    pod.metadata.resource_version = std::to_string(2000 + version);
    versions.push_back(decode(decoder, encoded(pod)));
  }
  EXPECT_EQ(pool->totals().nodes, 0U);

  const Ref<Pod> other = decode(decoder, encoded(replica(11)));
  const Ref<Pod> next = decode(decoder, encoded(pod));

  EXPECT_EQ(other->spec.containers[0].image.data(), next->spec.containers[0].image.data());
  EXPECT_EQ(*next, pod);
}

TEST_P(Shared, ContentIsSharedUnderAProjection) {
  Decoder<Pod> decoder{{.pool = pool, .projection = without_fields<Pod>("metadata.managedFields")}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 14; ++i) {
    Pod pod = replica(i);
    for (int manager = 0; manager < 3; ++manager) {
      pod.metadata.managed_fields.emplace_back().manager = "manager " + std::to_string(manager);
    }
    pods.push_back(decode(decoder, encoded(pod)));
  }

  EXPECT_EQ(pods[2]->spec.containers[0].readiness_probe.get(),
            pods[3]->spec.containers[0].readiness_probe.get());
}

/// Creates fieldsV1 that contain these addresses, followed by `behind`.
std::string fields_with(const std::vector<std::string>& addresses, std::string_view behind) {
  std::string json = R"({"f:status":{"f:podIPs":{".":{})";
  for (const std::string& address : addresses) {
    json += R"(,"k:{\"ip\":\")" + address + R"(\"}":{".":{},"f:ip":{}})";
  }
  return json + "},\"f:" + std::string{behind} + "\":{}}}";
}

TEST_P(Shared, ManagedFieldsAreCorrectForAnyAddressOfTheSibling) {
  const std::vector<std::string> texts{
      fields_with({"10.0.0.1"}, "startTime"),
      fields_with({"10.0.0.2"}, "startTime"),
      fields_with({"10.0.0.2", "fd00::2"}, "startTime"),
      fields_with({"10.0.0.3", "fd00::3"}, "phase"),
      fields_with({}, "phase"),
      fields_with({}, "startTime"),
      fields_with({"10.0.0.4"}, "startTime"),
      R"({"k:{\"ip\":\"10.0.0.5\"}":{}})",
      R"({"k:{\"ip\":\"10.0.0.6\"}":{}})",
  };
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& before : texts) {
      for (const std::string& text : {before, texts[pods.size() % texts.size()]}) {
        Pod pod = replica(static_cast<int>(10 + pods.size()));
        pod.metadata.managed_fields[0].fields_v1 = FieldsV1{text};
        pods.push_back(decode(decoder, encoded(pod)));
        EXPECT_EQ(*pods.back(), pod);
        EXPECT_EQ(pods.back()->metadata.managed_fields[0].fields_v1.str(), text);
      }
    }
  }
}

TEST_P(Shared, TextIsSharedBetweenDecodersOfOnePool) {
  Decoder<Pod> one{{.pool = pool}};
  Decoder<Pod> two{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 13; ++i) {
    pods.push_back(decode(one, encoded(replica(i))));
    pods.push_back(decode(two, encoded(replica(i + 50))));
  }

  EXPECT_EQ(pods[4]->spec.containers[0].image.data(), pods[5]->spec.containers[0].image.data());
}

TEST_P(Shared, CopiesCanBeChangedIndependently) {
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 14; ++i) pods.push_back(decode(decoder, encoded(replica(i))));

  Pod mine = *pods[3];
  mine.spec.containers[0].env[0].value = "changed";
  mine.spec.containers[0].readiness_probe->period_seconds = 99;

  EXPECT_EQ(*pods[2], replica(12));
  EXPECT_EQ(*pods[3], replica(13));
}

TEST_P(Shared, ContentIsSharedBySeveralThreadsAtOnce) {
  constexpr int kThreads = 3;
  std::vector<std::vector<Ref<Pod>>> pods(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Ref<Pod>>& mine : pods) {
      threads.emplace_back([this, &mine] {
        Decoder<Pod> decoder{{.pool = pool}};
        for (int i = 10; i < 80; ++i) {
          mine.push_back(decode(decoder, encoded(replica(i))));
          if (i % 3 == 0) mine[mine.size() / 2].reset();
        }
      });
    }
  }
  for (const std::vector<Ref<Pod>>& mine : pods) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i]) {
        ASSERT_EQ(*mine[i], replica(static_cast<int>(i) + 10));
      }
    }
  }
  pods.clear();
  EXPECT_EQ(pool->totals().nodes, 0U);
}

// For each truncation and each changed byte: everything that a rejected document had acquired from
// the pool, or added to it, is released at once.
TEST_P(Shared, NothingIsKeptOfARejectedDocument) {
  Decoder<Pod> decoder{{.pool = pool}};
  const std::string bytes = encoded(replica(10));
  const Ref<Pod> sibling = decode(decoder, encoded(replica(11)));
  const Ref<Pod> second = decode(decoder, encoded(replica(12)));
  ASSERT_GT(pool->totals().nodes, 0U);
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& damaged) {
    const BlockTotals blocks = block_totals();
    const Pool::Totals nodes = pool->totals();
    try {
      static_cast<void>(decode(decoder, damaged));
    } catch (const CodecError&) {
      ++refused;
      ASSERT_EQ(pool->totals().nodes, nodes.nodes);
      ASSERT_EQ(pool->totals().bytes, nodes.bytes);
      ASSERT_EQ(block_totals().blocks, blocks.blocks);
      ASSERT_EQ(block_totals().bytes, blocks.bytes);
    }
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    attempt(bytes.substr(0, i));
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      attempt(damaged);
    }
    if (HasFatalFailure()) return;
  }

  EXPECT_GT(refused, bytes.size());
  EXPECT_EQ(*sibling, replica(11));
  EXPECT_EQ(*second, replica(12));
}

INSTANTIATE_TEST_SUITE_P(Formats, Shared, testing::Values(Format::kJson, Format::kProtobuf),
                         [](const testing::TestParamInfo<Format>& tested) {
                           return tested.param == Format::kJson ? "Json" : "Protobuf";
                         });

TEST(SharedText, EntersThePoolWhenItIsSeenInASecondObject) {
  auto pool = std::make_shared<Pool>();
  Decoder<Value> decoder{{.pool = pool}};
  const Ref<Value> first = decoder.json(json_with("a-1", "a text of some length"));
  EXPECT_EQ(pool->totals().nodes, 0U);

  const Ref<Value> second = decoder.json(json_with("a-2", "a text of some length"));
  EXPECT_EQ(pool->totals().nodes, 1U);
  const Ref<Value> third = decoder.json(json_with("b", "a text of some length"));
  EXPECT_EQ(pool->totals().nodes, 1U);
  EXPECT_EQ((*second)["text"].as_string().data(), (*third)["text"].as_string().data());
}

TEST(SharedText, DoesNotEnterThePoolIfItIsShort) {
  auto pool = std::make_shared<Pool>();
  Decoder<Value> decoder{{.pool = pool}};
  std::vector<Ref<Value>> refs;
  for (int i = 0; i < 10; ++i) refs.push_back(decoder.json(json_with("a-1", "fifteen letters")));

  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(SharedText, DoesNotEnterThePoolIfItIsUnique) {
  auto pool = std::make_shared<Pool>();
  Decoder<Value> decoder{{.pool = pool}};
  std::vector<Ref<Value>> refs;
  for (int i = 0; i < 300; ++i) {
    refs.push_back(decoder.json(
        json_with("a-" + std::to_string(i), "a unique text, number " + std::to_string(i))));
  }

  // Fingerprints may collide; equality is decided by comparing bytes.
  EXPECT_LT(pool->totals().nodes, 5U);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(refs[static_cast<std::size_t>(i)]->get_string("text"),
              "a unique text, number " + std::to_string(i));
  }
}

TEST(SharedText, OfManagedFieldsIsSharedAroundTheAddress) {
  auto pool = std::make_shared<Pool>();
  Decoder<Pod> decoder{{.pool = pool}};
  std::vector<Ref<Pod>> pods;
  for (int i = 10; i < 14; ++i)
    pods.push_back(decoder.protobuf(encode_protobuf_message(replica(i))));

  EXPECT_EQ(pods[3]->metadata.managed_fields[0].fields_v1.str(),
            replica(13).metadata.managed_fields[0].fields_v1.str());
  const auto* pieces =
      reinterpret_cast<const List<String>*>(&pods[3]->metadata.managed_fields[0].fields_v1);
  const auto* others =
      reinterpret_cast<const List<String>*>(&pods[2]->metadata.managed_fields[0].fields_v1);
  ASSERT_EQ(pieces->size(), 3U);
  EXPECT_EQ((*pieces)[0].data(), (*others)[0].data());
  EXPECT_EQ((*pieces)[1], "10.0.0.13");
  EXPECT_EQ((*pieces)[2].data(), (*others)[2].data());
}

}  // namespace
}  // namespace kube

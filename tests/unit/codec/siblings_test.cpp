// SPDX-License-Identifier: Apache-2.0
// Decoding against a sibling is an optimisation that never changes the result.
#include "support/watch_reader.hpp"
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kube {
namespace {

using core::v1::Container;
using core::v1::Pod;

/// Generates pods that differ in a few places, some of them unusual.
class Family {
 public:
  explicit Family(unsigned seed) : random_(seed) {}

  Pod pod() {
    Pod pod{.metadata = {.name = "web-7c9d8f6b5d-" + word(), .namespace_ = "shop"}};
    pod.metadata.uid = word() + word() + word();
    pod.metadata.creation_timestamp = Time::from_unix(1'700'000'000 + pick(3));
    for (int i = pick(4); i > 0; --i) pod.metadata.labels["label-" + std::to_string(i)] = text();
    for (int i = pick(3); i > 0; --i) {
      pod.metadata.managed_fields.push_back(
          {.manager = "kubelet",
           .time = Time::from_unix(1'700'000'000 + pick(2)),
           .fields_v1 = FieldsV1{R"({"f:status":{"k:{\"ip\":\"10.0.0.)" + std::to_string(pick(9)) +
                                 R"(\"}":{".":{},"f:ip":{}}}})"}});
    }
    for (int i = 1 + pick(3); i > 0; --i) pod.spec.containers.push_back(container());
    if (pick(2) == 0) pod.spec.node_name = "node-number-" + std::to_string(pick(4));
    for (int i = pick(3); i > 0; --i) {
      pod.spec.volumes.push_back(
          {.name = text(), .config_map = core::v1::ConfigMapVolumeSource{.name = text()}});
    }
    pod.status.phase = pick(2) == 0 ? "Running" : "Pending";
    for (int i = pick(4); i > 0; --i) {
      pod.status.conditions.push_back(
          {.type = text(), .status = "True", .last_transition_time = Time::from_unix(pick(3))});
    }
    return pod;
  }
  int pick(int below) { return std::uniform_int_distribution<int>{0, below - 1}(random_); }

 private:
  std::string word() { return std::string(5, static_cast<char>('a' + pick(26))); }
  /// Returns one of a few texts, short and long, so that equal texts are common.
  std::string text() {
    static const std::vector<std::string> texts{"",
                                                "a",
                                                "seven77",
                                                "eight888",
                                                "fifteen-letters",
                                                "sixteen-letters!",
                                                "a text that is long enough to be shared by many"};
    return texts[static_cast<std::size_t>(pick(static_cast<int>(texts.size())))];
  }
  Container container() {
    Container made{.name = text(), .image = text()};
    for (int i = pick(4); i > 0; --i) made.env.push_back({.name = text(), .value = text()});
    for (int i = pick(3); i > 0; --i) made.args.push_back(text());
    if (pick(2) == 0) made.resources.limits["cpu"] = std::to_string(1 + pick(2)) + "00m";
    if (pick(2) == 0) made.readiness_probe = core::v1::Probe{.period_seconds = pick(3)};
    return made;
  }

  std::mt19937 random_;
};

template <typename T, typename Decode>
void expect_same(const std::vector<std::string>& documents, Decode decode) {
  const auto pool = std::make_shared<Pool>();
  {
    Decoder<T> plain;
    Decoder<T> sharing{{.pool = pool}};
    std::vector<Ref<T>> kept;
    for (const std::string& document : documents) {
      const Ref<T> expected = decode(plain, document);
      const Ref<T> shared = decode(sharing, document);
      ASSERT_EQ(*shared, *expected) << document;
      if (kept.size() < 200) kept.push_back(shared);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      ASSERT_EQ(*kept[i], *decode(plain, documents[i])) << "changed later: " << documents[i];
    }
  }
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(Siblings, DoNotChangeWhatIsReadFromProtobuf) {
  Family family{1};
  std::vector<std::string> messages;
  for (int i = 0; i < 3000; ++i) messages.push_back(encode_protobuf_message(family.pod()));

  expect_same<Pod>(messages,
                   [](auto& decoder, const auto& message) { return decoder.protobuf(message); });
}

TEST(Siblings, DoNotChangeWhatIsReadFromJson) {
  Family family{2};
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back(encode_json(family.pod()));

  expect_same<Pod>(texts, [](auto& decoder, const auto& text) { return decoder.json(text); });
  expect_same<Value>(texts, [](auto& decoder, const auto& text) { return decoder.json(text); });
}

TEST(Siblings, DoNotChangeWhatIsReadFromIrregularProtobuf) {
  // Concatenated messages: fields out of order, duplicates, and lists in several pieces.
  Family family{3};
  std::vector<std::string> messages;
  for (int i = 0; i < 3000; ++i) {
    std::string message = encode_protobuf_message(family.pod());
    for (int more = family.pick(3); more > 0; --more) {
      message += encode_protobuf_message(family.pod());
    }
    messages.push_back(message);
  }

  expect_same<Pod>(messages,
                   [](auto& decoder, const auto& message) { return decoder.protobuf(message); });
}

TEST(Siblings, DoNotChangeWhatIsReadFromJsonWithNamesTwice) {
  Family family{4};
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) {
    std::string text = encode_json(family.pod());
    if (family.pick(2) == 0) {
      const std::string more = encode_json(family.pod());
      text = text.substr(0, text.size() - 1) + ',' + more.substr(1);
    }
    texts.push_back(text);
  }

  expect_same<Pod>(texts, [](auto& decoder, const auto& text) { return decoder.json(text); });
  expect_same<Value>(texts, [](auto& decoder, const auto& text) { return decoder.json(text); });
}

TEST(Siblings, MakeALaterObjectSmaller) {
  Family family{5};
  Pod pod = family.pod();
  for (int i = 0; i < 20; ++i) {
    pod.spec.containers[0].env.push_back(
        {.name = "VARIABLE_NUMBER_" + std::to_string(i), .value = "some value of some length"});
  }
  Decoder<Pod> decoder{{.pool = std::make_shared<Pool>()}};
  std::vector<std::size_t> sizes;
  std::vector<Ref<Pod>> kept;
  for (int i = 0; i < 4; ++i) {
    pod.metadata.name = "web-7c9d8f6b5d-" + std::to_string(i);
    kept.push_back(decoder.protobuf(encode_protobuf_message(pod)));
    sizes.push_back(bytes_of(kept.back()).own);
  }

  EXPECT_LT(sizes[1], sizes[0] - 1000);
  EXPECT_LE(sizes[3], sizes[1]);
  EXPECT_EQ(kept[3]->spec.containers[0].env[19].value, "some value of some length");
}

/// Creates a document with `count` members in pairs; with `swapped`, the order in each pair is
/// reversed.
std::string members(int count, bool swapped) {
  std::string text = R"({"metadata":{"name":"many-1"},"data":{)";
  for (int i = 0; i < count; ++i) {
    const int number = swapped ? i ^ 1 : i;
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(10'000'000 + number) +
            "\":{\"a\":" + std::to_string(i) + "}";
  }
  return text + "}}";
}

// Regression: for each member that came earlier in the sibling, the decoder searched all later
// members; this document took hours.
TEST(Siblings, TakeLinearTimeForAnyOrderOfMembers) {
  constexpr int kMembers = 200'000;
  Decoder<Value> decoder{{.pool = std::make_shared<Pool>(), .sibling_bytes = std::size_t{1} << 30}};
  const std::string first = members(kMembers, false);
  const std::string second = members(kMembers, true);
  const auto first_object = decoder.json(first);

  const std::clock_t before = std::clock();
  for (int i = 0; i < 4; ++i) {
    const auto object = decoder.json(i % 2 == 0 ? second : first);
    EXPECT_EQ((*object)["data"].size(), static_cast<std::size_t>(kMembers));
  }
  const double cpu_seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;

  // A second or less; with a linear search per member it takes minutes.
  EXPECT_LT(cpu_seconds, 20);
  EXPECT_EQ(*decoder.json(second), *decode_json<Value>(second));
}

TEST(Siblings, AreFoundAfterRemovedMembers) {
  Decoder<Value> decoder{{.pool = std::make_shared<Pool>()}};
  std::string with = R"({"metadata":{"name":"crd-1"},)";
  std::string without = R"({"metadata":{"name":"crd-2"},)";
  for (int i = 0; i < 100; ++i) with += "\"gone" + std::to_string(i) + "\":1,";
  const std::string rest =
      R"("same":{"text":"some text that is long enough","list":[1,2,3,4,5,6,7,8,9]}})";
  const auto first = decoder.json(with + rest);

  const auto second = decoder.json(without + rest);

  // The equal part became a pool node, which the first object does not refer to.
  EXPECT_GT(detail::block_of(second)->node_words, 0U);
  EXPECT_EQ(*second, *decode_json<Value>(without + rest));
}

template <typename T>
std::string event(std::string_view type, const T& object) {
  return R"({"type":")" + std::string{type} + R"(","object":)" + encode_json(object) + "}\n";
}

// OB-12. Regression: deleted objects stayed in memory, with their bytes, until enough other objects
// had evicted them.
TEST(Siblings, ForgetDeletedObjects) {
  const BlockTotals before = block_totals();
  const auto pool = std::make_shared<Pool>();
  test::WatchReader<core::v1::Secret> reader{Format::kJson, {.pool = pool}};
  const auto read = [&](std::string_view type, int number) {
    core::v1::Secret secret{.metadata = {.name = "secret" + std::to_string(number)}};
    secret.data["password"] = "one that is long enough to be shared " + std::to_string(number);
    reader.feed(event(type, secret), [](const auto&) {});
  };

  for (int i = 0; i < 500; ++i) read("ADDED", i);
  EXPECT_GT(block_totals().blocks, before.blocks);
  for (int i = 0; i < 500; ++i) read("MODIFIED", i);
  for (int i = 0; i < 500; ++i) read("DELETED", i);

  EXPECT_EQ(block_totals().blocks, before.blocks);
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(Siblings, ForgetDeletedUntypedObjectsWithALateName) {
  const BlockTotals before = block_totals();
  test::WatchReader<Value> reader{Format::kJson, {.pool = std::make_shared<Pool>()}};
  const auto read = [&](std::string_view type, std::size_t annotation) {
    Value object;
    object.at_path("metadata.name") = "thing";
    object.at_path("metadata.annotations.a") = std::string(annotation, 'x');
    reader.feed(event(type, object), [](const auto&) {});
  };

  // As the object grows, its name moves out of the first bytes, which are used to find siblings.
  read("ADDED", 10);
  read("MODIFIED", 10'000);
  read("DELETED", 10'000);

  EXPECT_EQ(block_totals().blocks, before.blocks);
}

TEST(Siblings, KeepTheFamilyWhenAnotherOfItIsDeleted) {
  const BlockTotals before = block_totals();
  test::WatchReader<Pod> reader{Format::kJson, {.pool = std::make_shared<Pool>()}};
  const auto ignore = [](const auto&) {};
  reader.feed(event("ADDED", Pod{.metadata = {.name = "web-1"}}), ignore);
  reader.feed(event("ADDED", Pod{.metadata = {.name = "web-2"}}), ignore);

  reader.feed(event("DELETED", Pod{.metadata = {.name = "web-2"}}), ignore);

  EXPECT_EQ(block_totals().blocks, before.blocks + 1);
}

TEST(Siblings, AreNotKeptIfTheyNeedTooMuchMemory) {
  const BlockTotals before = block_totals();
  Decoder<core::v1::ConfigMap> decoder{{.pool = std::make_shared<Pool>()}};
  core::v1::ConfigMap map{.metadata = {.name = "large-1"}};
  map.data["text"] = std::string(std::size_t{4} << 20, 'x');

  static_cast<void>(decoder.json(encode_json(map)));
  static_cast<void>(decoder.protobuf(encode_protobuf_message(map)));

  EXPECT_EQ(block_totals().blocks, before.blocks);
}

}  // namespace
}  // namespace kube

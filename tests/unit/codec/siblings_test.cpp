// SPDX-License-Identifier: Apache-2.0
// Decoding against a sibling is a short cut, never another meaning.
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/value.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kube {
namespace {

using core::v1::Container;
using core::v1::Pod;

/// Pods that differ in a few places, some of them in odd ones.
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
  /// One of a few texts, short and long, so that equal ones are common.
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
  // Messages glued together: fields out of order, twice, and lists in several pieces.
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

}  // namespace
}  // namespace kube

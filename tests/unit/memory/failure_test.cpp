// SPDX-License-Identifier: Apache-2.0
// OB-11. If any allocation fails, nothing leaks, nothing half-made is visible, and the next call
// works.
#include "object/intern.hpp"
#include "support/watch_reader.hpp"
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/list_reader.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "support/allocations.hpp"
#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace kube {
namespace {

using core::v1::Pod;
using test::FailingAllocations;

Pod sample_pod(int number) {
  Pod pod{.metadata = {.name = "web-7c9d8f6b5d-" + std::to_string(number), .namespace_ = "shop"}};
  pod.metadata.labels = {{"app", "a label that is long enough to be shared"}, {"number", "1"}};
  pod.metadata.annotations["number"] = "annotation " + std::to_string(number);
  pod.metadata.creation_timestamp = Time::from_unix(1'700'000'000 + number);
  pod.metadata.managed_fields.push_back(
      {.manager = "kubelet",
       .fields_v1 = FieldsV1{R"({"f:status":{"k:{\"ip\":\"10.0.0.)" + std::to_string(number) +
                             R"(\"}":{".":{},"f:ip":{}}}})"}});
  for (int i = 0; i < 3; ++i) {
    auto& container = pod.spec.containers.emplace_back();
    container.name = "container number " + std::to_string(i);
    container.image = "registry.example.com/team/application:version";
    container.env = {{.name = "FIRST_VARIABLE", .value = "a value of some length"},
                     {.name = "SECOND_VARIABLE", .value = std::to_string(number)}};
    container.resources.limits["cpu"] = "100m";
    container.readiness_probe = core::v1::Probe{.period_seconds = 3};
  }
  pod.status.phase = "Running";
  return pod;
}

/// Runs `act` with each of its allocations failing, once alone and once with all later ones, and
/// `check` after each failure. A round must not leak.
void fail_each(
    const std::function<std::function<void()>()>& arrange,
    const std::function<void()>& check = [] {}) {
  for (const auto extent : {FailingAllocations::kOnce, FailingAllocations::kFromThere}) {
    arrange()();  // one-time allocations
    check();
    bool is_done = false;
    for (std::size_t number = 0; !is_done; ++number) {
      ASSERT_LT(number, 100'000U);
      const std::size_t before = test::live_allocations();
      const BlockTotals blocks = block_totals();
      {
        const std::function<void()> act = arrange();
        {
          const FailingAllocations failing{number, extent};
          try {
            act();
          } catch (const std::bad_alloc&) {
            // An exception is one of several valid outcomes.
          }
          is_done = !FailingAllocations::has_failed();
        }
        check();
      }
      ASSERT_EQ(block_totals().blocks, blocks.blocks) << "failure " << number;
      ASSERT_EQ(block_totals().bytes, blocks.bytes) << "failure " << number;
      ASSERT_EQ(test::live_allocations(), before) << "failure " << number;
    }
  }
}

/// A decoder that has seen siblings, and whose pool must be empty in the end.
template <typename T>
struct Sharing {
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();
  Decoder<T> decoder{{.pool = pool}};
  std::vector<Ref<T>> kept;

  template <typename Decode>
  explicit Sharing(const std::vector<std::string>& documents, Decode decode) {
    for (const std::string& document : documents) kept.push_back(decode(decoder, document));
  }
};

template <typename T, typename Decode>
void fail_decoding(const std::vector<std::string>& documents, Decode decode) {
  const std::vector<std::string> earlier{documents.begin(), documents.end() - 1};
  const Ref<T> expected = [&] {
    Decoder<T> plain;
    return decode(plain, documents.back());
  }();
  std::shared_ptr<Sharing<T>> current;
  fail_each(
      [&]() -> std::function<void()> {
        current = std::make_shared<Sharing<T>>(earlier, decode);
        return [&] { static_cast<void>(decode(current->decoder, documents.back())); };
      },
      [&] {
        ASSERT_EQ(*decode(current->decoder, documents.back()), *expected);
        ASSERT_EQ(*decode(current->decoder, documents.back()), *expected);
        const std::shared_ptr<Pool> pool = current->pool;
        current.reset();
        ASSERT_EQ(pool->totals().nodes, 0U);
      });
}

const auto kJson = [](auto& decoder, const std::string& text) { return decoder.json(text); };
const auto kProtobuf = [](auto& decoder, const std::string& message) {
  return decoder.protobuf(message);
};

std::vector<std::string> pods_as(std::string (*encode)(const Pod&), int count) {
  std::vector<std::string> documents;
  for (int i = 0; i < count; ++i) documents.push_back(encode(sample_pod(i)));
  return documents;
}
std::string as_json(const Pod& pod) { return encode_json(pod); }
std::string as_protobuf(const Pod& pod) { return encode_protobuf_message(pod); }

TEST(AllocationFailure, LeavesADecoderOfJsonUsable) {
  for (const int count : {1, 2, 3}) fail_decoding<Pod>(pods_as(as_json, count), kJson);
}

TEST(AllocationFailure, LeavesADecoderOfJsonWithoutATypeUsable) {
  for (const int count : {1, 2, 3}) fail_decoding<Value>(pods_as(as_json, count), kJson);
}

TEST(AllocationFailure, LeavesADecoderOfProtobufUsable) {
  for (const int count : {1, 2, 3}) fail_decoding<Pod>(pods_as(as_protobuf, count), kProtobuf);
}

TEST(AllocationFailure, LeavesADecoderOfIrregularDocumentsUsable) {
  const std::string json = as_json(sample_pod(1));
  const std::string more = as_json(sample_pod(2));
  fail_decoding<Pod>({json, json.substr(0, json.size() - 1) + ',' + more.substr(1)}, kJson);
  const std::string message = as_protobuf(sample_pod(1));
  fail_decoding<Pod>({message, message + as_protobuf(sample_pod(2))}, kProtobuf);
}

TEST(AllocationFailure, LeavesNothingOfAFrozenObject) {
  const Pod pod = sample_pod(1);
  Ref<Pod> frozen;
  fail_each([&]() -> std::function<void()> { return [&] { static_cast<void>(freeze(pod)); }; },
            [&] { ASSERT_EQ(*freeze(pod), pod); });
}

TEST(AllocationFailure, LeavesNothingOfAFrozenCopyOfASharedObject) {
  const auto pool = std::make_shared<Pool>();
  {
    Decoder<Pod> decoder{{.pool = pool}};
    std::vector<Ref<Pod>> shared;
    for (const std::string& text : pods_as(as_json, 3)) shared.push_back(decoder.json(text));
    const std::size_t nodes = pool->totals().nodes;
    fail_each(
        [&]() -> std::function<void()> {
          return [&] { static_cast<void>(freeze(*shared.back())); };
        },
        [&] { ASSERT_EQ(*freeze(*shared.back()), *shared.back()); });
    ASSERT_EQ(pool->totals().nodes, nodes);
  }
  EXPECT_EQ(pool->totals().nodes, 0U);
}

TEST(AllocationFailure, LeavesNothingOfACopy) {
  const Pod pod = sample_pod(1);
  const Value value = *decode_json<Value>(as_json(pod));
  fail_each([&]() -> std::function<void()> { return [&] { static_cast<void>(Pod{pod}); }; });
  fail_each([&]() -> std::function<void()> { return [&] { static_cast<void>(Value{value}); }; });
}

TEST(AllocationFailure, KeepsTheOldValueOfAnAssignment) {
  const Pod pod = sample_pod(1);
  Pod target;
  fail_each(
      [&]() -> std::function<void()> {
        target = Pod{};
        target.metadata.name = "a name that is not inline";
        return [&] { target.metadata = pod.metadata; };
      },
      [&] {
        // Each member has its old or its new value.
        const std::string_view name = target.metadata.name;
        ASSERT_TRUE(name == pod.metadata.name || name == "a name that is not inline") << name;
        target = Pod{};
      });
}

TEST(AllocationFailure, LeavesContainersAsTheyWereOrComplete) {
  const auto pod = std::make_unique<Pod>();
  Value value;
  fail_each(
      [&]() -> std::function<void()> {
        *pod = Pod{};
        value = Value::object({{"b", "a text that is not inline"}});
        return [&] {
          pod->metadata.labels["a key that is not inline"] = "a value that is not inline";
          pod->metadata.labels["another key that is not inline"] = "a value that is not inline";
          for (int i = 0; i < 6; ++i) {
            pod->spec.containers.emplace_back().name = "a name that is not inline";
            pod->spec.containers.back().resources.limits["cpu"] = "12345678901234567m";
          }
          pod->spec.security_context = core::v1::PodSecurityContext{.run_as_user = 1};
          value["a key that is not inline"].push_back("a text that is not inline");
          value["c"]["d"] = 1e300;
          value.at_path("e.f[0].g") = Value::integer(INT64_MAX);
        };
      },
      [&] {
        // The objects that exist can be read, copied and written.
        ASSERT_EQ(Pod{*pod}, *pod);
        ASSERT_EQ(Value{value}, value);
        ASSERT_FALSE(encode_json(*pod).empty());
        ASSERT_FALSE(encode_json(value).empty());
        *pod = Pod{};
        value = Value{};
      });
}

TEST(AllocationFailure, LeavesNothingOfAContainerThatIsBeingMade) {
  const char* const text = "a text that is not inline";
  fail_each([&]() -> std::function<void()> {
    return [&] {
      static_cast<void>(List<String>{text, text, text});
      static_cast<void>(Map<String>{{"a", text}, {"b", text}});
      static_cast<void>(Value::array({text, text}));
      static_cast<void>(Value::object({{text, text}, {"b", 1e300}}));
      const std::vector<std::string> texts(3, text);
      static_cast<void>(List<String>{texts.begin(), texts.end()});
      static_cast<void>(Box<core::v1::Container>{core::v1::Container{.name = text}});
    };
  });
}

TEST(AllocationFailure, LeavesMapsOfStructsComplete) {
  Map<core::v1::Container> containers;
  fail_each(
      [&]() -> std::function<void()> {
        containers.reset();
        return [&] {
          for (const char* key : {"m", "z", "a", "n", "b", "y"}) {
            containers[key].name = "a name that is not inline";
          }
        };
      },
      [&] {
        for (const auto& [key, container] : containers) {
          ASSERT_NE(&container, nullptr);
          ASSERT_FALSE(key.empty());
          ASSERT_TRUE(container.name.empty() || container.name == "a name that is not inline");
        }
        containers.reset();
      });
}

TEST(AllocationFailure, LeavesAPoolAsItWas) {
  std::shared_ptr<Pool> pool;
  fail_each(
      [&]() -> std::function<void()> {
        pool = std::make_shared<Pool>();
        return [&] {
          for (int i = 0; i < 50; ++i) {
            detail::intern_text(*pool, "text with the number " + std::to_string(i))->release();
          }
        };
      },
      [&] {
        ASSERT_EQ(pool->totals().nodes, 0U);
        ASSERT_EQ(pool->totals().bytes, 0U);
        detail::Node* const node = detail::intern_text(*pool, "a text that is shared");
        ASSERT_EQ(node->references.load(), 1U);
        node->release();
        pool.reset();
      });
}

TEST(AllocationFailure, LeavesNothingOfAnEncoding) {
  const Pod pod = sample_pod(1);
  const Value value = *decode_json<Value>(as_json(pod));
  fail_each(
      [&]() -> std::function<void()> { return [&] { static_cast<void>(encode_json(pod)); }; });
  fail_each([&]() -> std::function<void()> {
    return [&] { static_cast<void>(encode_protobuf_message(pod)); };
  });
  fail_each(
      [&]() -> std::function<void()> { return [&] { static_cast<void>(yaml_from_json(value)); }; });
}

TEST(AllocationFailure, LeavesNothingOfAListOrAWatch) {
  const std::string list = R"({"kind":"PodList","apiVersion":"v1","items":[)" +
                           test::item_json(sample_pod(1)) + ',' + test::item_json(sample_pod(2)) +
                           R"(],"metadata":{"resourceVersion":"5"}})";
  const std::string events = R"({"type":"ADDED","object":)" + as_json(sample_pod(1)) +
                             R"(}{"type":"DELETED","object":)" + as_json(sample_pod(1)) + "}";
  fail_each([&]() -> std::function<void()> {
    return [&] {
      ListReader<Pod> reader{Format::kJson, {.pool = std::make_shared<Pool>()}};
      for (std::size_t at = 0; at < list.size(); at += 100) {
        reader.feed(list.substr(at, 100), [](const auto&) {});
      }
      static_cast<void>(reader.finish());
    };
  });
  fail_each([&]() -> std::function<void()> {
    return [&] {
      test::WatchReader<Pod> reader{Format::kJson, {.pool = std::make_shared<Pool>()}};
      for (std::size_t at = 0; at < events.size(); at += 100) {
        reader.feed(events.substr(at, 100), [](const auto&) {});
      }
    };
  });
}

TEST(AllocationFailure, LeavesNothingOfYaml) {
  const std::string yaml = "a: &x {k: [1, a text that is not inline, ~]}\nb: *x\nc:\n  <<: *x\n";
  fail_each(
      [&]() -> std::function<void()> {
        return [&] { static_cast<void>(decode_yaml_documents(yaml)); };
      },
      [&] { ASSERT_EQ(decode_yaml_documents(yaml).size(), 1U); });
}

}  // namespace
}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
// Corrupted documents: each byte of recorded objects changed in turn, and truncation at each byte.
// Each yields a CodecError or an object that can be encoded again, and leaks nothing.
#include "codec/list_splitter.hpp"
#include <kube/api/apps/v1.hpp>
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "support/fixtures.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace kube {
namespace {

/// Returns the encoded items of a recorded list.
std::vector<std::string> recorded(const std::string& file, Format format) {
  std::vector<std::string> items;
  detail::ListSplitter splitter{format, {}};
  splitter.feed(test::fixture(file),
                [&](std::string_view item, std::size_t) { items.emplace_back(item); });
  splitter.finish();
  return items;
}

template <typename T>
class Damage {
 public:
  Damage(Format format, std::string document)
      : format_(format),
        document_(std::move(document)),
        pool_(std::make_shared<Pool>()),
        decoder_({.pool = pool_}) {}

  /// Decodes the intact document first, so that corrupted ones are compared with a sibling.
  void run() {
    const Ref<T> sound = decode(document_);
    const Ref<T> again = decode(document_);
    ASSERT_EQ(*sound, *again);
    for (std::size_t i = 0; i < document_.size(); ++i) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        std::string damaged = document_;
        damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
        attempt(damaged);
      }
      attempt(document_.substr(0, i));
    }
    EXPECT_GT(refused_, 0U);
    EXPECT_GT(accepted_, 0U);
    EXPECT_EQ(*decode(document_), *sound);
  }

 private:
  Ref<T> decode(std::string_view bytes) {
    return format_ == Format::kJson ? decoder_.json(bytes) : decoder_.protobuf(bytes);
  }
  void attempt(const std::string& bytes) {
    const BlockTotals before = block_totals();
    try {
      Decoder<T> plain;
      const Ref<T> expected = format_ == Format::kJson ? plain.json(bytes) : plain.protobuf(bytes);
      const Ref<T> object = decode(bytes);
      ++accepted_;
      ASSERT_EQ(*object, *expected);
      try {
        static_cast<void>(encode_json(*object));
      } catch (const CodecError&) {
        // Embedded JSON that was corrupted in protobuf cannot be encoded as JSON.
      }
    } catch (const CodecError& error) {
      ++refused_;
      EXPECT_LE(error.offset(), bytes.size());
      EXPECT_EQ(block_totals().blocks, before.blocks);
    }
  }

  Format format_;
  std::string document_;
  std::shared_ptr<Pool> pool_;
  Decoder<T> decoder_;
  std::size_t refused_ = 0;
  std::size_t accepted_ = 0;
};

TEST(DamagedJson, OfAPodIsRefusedOrReadSoundly) {
  for (const std::string& item : recorded("core_v1_pods.json", Format::kJson)) {
    Damage<core::v1::Pod>{Format::kJson, item}.run();
  }
}

TEST(DamagedJson, OfADeploymentAsAnyValueIsRefusedOrReadSoundly) {
  const auto items = recorded("apps_v1_deployments.json", Format::kJson);
  Damage<Value>{Format::kJson, items.front().substr(0, items.front().size())}.run();
}

TEST(DamagedProtobuf, OfAPodIsRefusedOrReadSoundly) {
  for (const std::string& item : recorded("core_v1_pods.pb", Format::kProtobuf)) {
    Damage<core::v1::Pod>{Format::kProtobuf, item}.run();
  }
}

TEST(DamagedProtobuf, OfADeploymentIsRefusedOrReadSoundly) {
  const auto items = recorded("apps_v1_deployments.pb", Format::kProtobuf);
  Damage<apps::v1::Deployment>{Format::kProtobuf, items.front()}.run();
}

TEST(Damaged, ObjectsLeaveNoNodeInThePool) {
  const auto items = recorded("core_v1_pods.pb", Format::kProtobuf);
  auto pool = std::make_shared<Pool>();
  {
    Decoder<core::v1::Pod> decoder{{.pool = pool}};
    for (std::size_t size = 0; size <= items.front().size(); ++size) {
      for (int times = 0; times < 3; ++times) {
        try {
          static_cast<void>(decoder.protobuf(std::string_view{items.front()}.substr(0, size)));
        } catch (const CodecError&) {
          continue;
        }
      }
    }
  }
  EXPECT_EQ(pool->totals().nodes, 0U);
  EXPECT_EQ(pool->totals().bytes, 0U);
}

}  // namespace
}  // namespace kube

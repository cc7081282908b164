// SPDX-License-Identifier: Apache-2.0
// Memory that decoders retain between documents, and their behaviour with little address space.
#include "base/heap.hpp"
#include <kube/api/core/v1.hpp>
#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/value.hpp>

#include "support/allocations.hpp"
#include "unit/codec/samples.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <deque>
#include <fstream>
#include <memory>
#include <string>

namespace kube {
namespace {

using core::v1::ConfigMap;
using core::v1::Pod;

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct ProcessSize {
  std::size_t addresses = 0;
  std::size_t resident = 0;
};

ProcessSize process_size() {
  ProcessSize pages;
  std::ifstream{"/proc/self/statm"} >> pages.addresses >> pages.resident;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return {pages.addresses * page, pages.resident * page};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // sanitizers reserve terabytes of address space
#else
constexpr bool kIsSanitized = false;
#endif

/// Limits this process to `more` bytes of additional address space.
void limit_addresses(std::size_t more) {
  const rlimit limit{process_size().addresses + more, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
}

std::string numbered_pod(std::size_t number) {
  Pod pod{.metadata = {.name = "web-" + std::to_string(number), .namespace_ = "shop"}};
  pod.spec.containers.push_back({.name = "main", .image = "registry.example.com/web:1"});
  return encode_json(pod);
}

std::string large_list() { return "[" + test::times(700'000, R"({"a":"some text"},)") + "1]"; }

// Regression: each decoder reserved a quarter of a gigabyte of address space, so that a dozen
// informers exceeded `ulimit -v`.
TEST(DecoderMemory, ManyDecodersNeedLittleAddressSpace) {
  if (kIsSanitized) GTEST_SKIP();
  const auto decode_with_many = [] {
    limit_addresses(1024 * kMiB);
    const auto pool = std::make_shared<Pool>();
    std::deque<Decoder<Pod>> decoders;
    for (std::size_t i = 0; i < 100; ++i) {
      decoders.emplace_back(DecoderOptions{.pool = pool});
      for (std::size_t pod = 0; pod < 5; ++pod) {
        if (decoders.back().json(numbered_pod(pod))->spec.containers.size() != 1) ::_exit(1);
      }
    }
    ::_exit(0);
  };
  EXPECT_EXIT(decode_with_many(), testing::ExitedWithCode(0), "");
}

TEST(DecoderMemory, IdleDecodersKeepNoLargeReservations) {
  if (kIsSanitized) GTEST_SKIP();
  std::deque<Decoder<Value>> decoders;
  const std::string text = large_list();
  static_cast<void>(decoders.emplace_back().json("1"));
  const std::size_t before = process_size().addresses;

  for (int i = 0; i < 5; ++i) static_cast<void>(decoders.emplace_back().json(text));

  EXPECT_LT(process_size().addresses, before + 60 * kMiB);
}

TEST(DecoderMemory, DecodesALargeDocumentInLimitedAddressSpace) {
  if (kIsSanitized) GTEST_SKIP();
  const auto decode_large = [] {
    ConfigMap map{.metadata = {.name = "large"}};
    map.data["text"] = std::string(4 * kMiB, 'x');
    const std::string text = encode_json(map);
    limit_addresses(48 * kMiB);  // less than the arena requests
    ::_exit(Decoder<ConfigMap>{}.json(text)->data.at("text").size() == 4 * kMiB ? 0 : 1);
  };
  EXPECT_EXIT(decode_large(), testing::ExitedWithCode(0), "");
}

TEST(DecoderMemory, ReportsExhaustedAddressSpaceAsBadAlloc) {
  if (kIsSanitized) GTEST_SKIP();
  const auto decode_without = [] {
    const std::string text = large_list();
    Decoder<Value> decoder;
    limit_addresses(8 * kMiB);
    try {
      static_cast<void>(decoder.json(text));
      ::_exit(1);
    } catch (const std::bad_alloc&) {
      // Expected.
    }
    ::_exit(decoder.json("[1]")->size() == 1 ? 0 : 2);
  };
  EXPECT_EXIT(decode_without(), testing::ExitedWithCode(0), "");
}

TEST(DecoderMemory, HeapReservesLessInLimitedAddressSpace) {
  if (kIsSanitized) GTEST_SKIP();
  const auto reserve = [] {
    limit_addresses(2048 * kMiB);
    detail::Heap heap{std::size_t{64} << 30};
    if (heap.reserved_bytes() < 64 * kMiB) ::_exit(1);
    if (heap.reserved_bytes() > 1024 * kMiB) ::_exit(2);  // leaves address space for others
    heap.release(heap.allocate(100));
    ::_exit(heap.chunk_bytes() > 0 ? 0 : 3);
  };
  EXPECT_EXIT(reserve(), testing::ExitedWithCode(0), "");
}

// Regression: a document of 14 MB left ten times its size with its decoder.
TEST(DecoderMemory, ReleasesMemoryAfterALargeDocument) {
  const std::string text = large_list();
  const auto pool = std::make_shared<Pool>();
  Decoder<Value> decoder{{.pool = pool}};
  static_cast<void>(decoder.json("[1]"));
  const std::size_t bytes = test::live_bytes();
  const std::size_t resident = process_size().resident;

  for (int i = 0; i < 2; ++i) static_cast<void>(decoder.json(text));

  EXPECT_LT(test::live_bytes(), bytes + kMiB);
  if (!kIsSanitized) {
    ::malloc_trim(0);  // memory cached by malloc does not count
    EXPECT_LT(process_size().resident, resident + 16 * kMiB);
  }
  EXPECT_EQ(decoder.json("[1]")->size(), 1U);
}

TEST(DecoderMemory, ReleasesMemoryAfterALargeMessage) {
  Pod pod{.metadata = {.name = "large-1"}};
  for (int i = 0; i < 20'000; ++i) {
    pod.spec.containers.push_back({.name = "c" + std::to_string(i), .image = "some/image:version"});
  }
  const std::string message = encode_protobuf_message(pod);
  const std::string small = encode_protobuf_message(Pod{.metadata = {.name = "small-1"}});
  Decoder<Pod> decoder{{.pool = std::make_shared<Pool>()}};
  static_cast<void>(decoder.protobuf(small));
  const std::size_t bytes = test::live_bytes();

  for (int i = 0; i < 2; ++i) static_cast<void>(decoder.protobuf(message));
  static_cast<void>(decoder.protobuf(small));

  EXPECT_LT(test::live_bytes(),
            bytes + 4 * kMiB);  // its family's sibling is one of the small documents
}

}  // namespace
}  // namespace kube

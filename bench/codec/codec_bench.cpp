// SPDX-License-Identifier: Apache-2.0
//
// CPU time to decode, drop, encode, copy and compare pods, for this library and for alternatives,
// in one run.
#include "codecs.hpp"
#include "population.hpp"
#include "slim_pod.hpp"
#include "table_reporter.hpp"

#include <kube/object/operations.hpp>

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <malloc.h>
#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace kube;
using namespace kube::bench;
using benchmark::State;
using core::v1::Pod;

constexpr std::size_t kBatch = 500;
constexpr const char* kDescription =
    R"(CPU time per pod, for kubecxx beside libprotobuf, simdjson and nlohmann::json.

Hot decoding goes through the list, 500 pods at a time; the 500 are dropped before the next, which is not
part of the time (the tables named "drop" measure just that). Updates replace a cached pod by its next
version, in random order, the drop of the old one included. Options of Google Benchmark work, too:
  --benchmark_filter=<regex>   --benchmark_repetitions=<n> (the least counts)   --benchmark_out=<file>)";

PopulationOptions population_options{.pods = 20'000, .templates = 160};

/// Returns the encoded pods, created on first use.
const std::vector<std::string>& documents(Format format, bool managed_fields, unsigned round = 0) {
  static std::map<std::tuple<Format, bool, unsigned>, std::vector<std::string>> known;
  auto& list = known[{format, managed_fields, round}];
  if (list.empty()) {
    auto options = population_options;
    options.managed_fields = managed_fields;
    list = encode_all(Population{options}, format, round);
  }
  return list;
}

// Enough pods to exceed the processor's caches.
std::span<const std::string> some_of(const std::vector<std::string>& list) {
  return std::span{list}.first(std::min<std::size_t>(list.size(), 5'000));
}

void count(State& state, std::size_t bytes) {
  state.counters["pods"] = static_cast<double>(state.iterations() * kBatch);
  if (bytes > 0) state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

/// Decodes 500 pods per iteration.
template <typename Codec>
void decode_hot(State& state, const std::vector<std::string>& list, Codec codec) {
  std::vector<typename Codec::Object> kept(kBatch);
  std::size_t next = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (auto& object : kept) {
      object = codec.decode(list[next]);
      bytes += list[next].size();
      next = next + 1 == list.size() ? 0 : next + 1;
    }
    benchmark::ClobberMemory();
    state.PauseTiming();
    for (auto& object : kept) object = {};
    state.ResumeTiming();
  }
  count(state, bytes);
}

/// Drops 500 pods per iteration, right after they were decoded.
template <typename Codec>
void drop_hot(State& state, const std::vector<std::string>& list, Codec codec) {
  std::vector<typename Codec::Object> kept(kBatch);
  std::size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (auto& object : kept) {
      object = codec.decode(list[next]);
      next = next + 1 == list.size() ? 0 : next + 1;
    }
    state.ResumeTiming();
    for (auto& object : kept) object = {};
    benchmark::ClobberMemory();
  }
  count(state, 0);
}

/// Replaces 500 random pods of the cache per iteration.
template <typename Codec>
void update(State& state, Format format, Codec codec) {
  const std::vector<std::string>* versions[] = {&documents(format, true),
                                                &documents(format, true, 1)};
  std::vector<typename Codec::Object> cache;
  cache.reserve(versions[0]->size());
  for (const std::string& document : *versions[0]) cache.push_back(codec.decode(document));
  const auto order = shuffled(cache.size(), 3);
  std::size_t next = 0;
  unsigned version = 1;
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const std::string& document = (*versions[version])[order[next]];
      cache[order[next]] = codec.decode(document);
      bytes += document.size();
      if (++next == order.size()) {
        next = 0;
        version = 1 - version;
      }
    }
  }
  count(state, bytes);
}

/// Runs `work` on 500 cached pods per iteration; it returns the number of bytes produced.
template <typename Codec>
void on_cached(State& state, const std::vector<std::string>& list, Codec codec,
               const std::function<std::size_t(const typename Codec::Object&)>& work) {
  std::vector<typename Codec::Object> cache;
  for (const std::string& document : some_of(list)) cache.push_back(codec.decode(document));
  std::size_t next = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      bytes += work(cache[next]);
      next = next + 1 == cache.size() ? 0 : next + 1;
    }
  }
  count(state, bytes);
}

/// Compares 500 cached pods per iteration with equal ones that were decoded separately.
template <typename Codec>
void compare(State& state, const std::vector<std::string>& list, Codec codec, Codec other,
             const std::function<bool(const typename Codec::Object&,
                                      const typename Codec::Object&)>& equal) {
  std::vector<std::pair<typename Codec::Object, typename Codec::Object>> pairs;
  for (const std::string& document : some_of(list)) {
    pairs.emplace_back(codec.decode(document), other.decode(document));
  }
  std::size_t next = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      if (!equal(pairs[next].first, pairs[next].second)) state.SkipWithError("they differ");
      next = next + 1 == pairs.size() ? 0 : next + 1;
    }
  }
  count(state, 0);
}

// `passes` is the number of passes over `pods`; 0 lets Google Benchmark decide, which starts
// several times to find a number, and with a large cache the preparation would take longer than the
// measurement.
void add(const std::string& name, const std::function<void(State&)>& run, std::size_t pods = 0,
         std::size_t passes = 0) {
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMicrosecond);
  if (passes > 0) {
    const std::size_t batches = std::max<std::size_t>(1, pods * passes / kBatch);
    registered->Iterations(static_cast<benchmark::IterationCount>(batches));
  }
}

void add_update(const std::string& name, const std::function<void(State&)>& run) {
  add(name, run, population_options.pods, 2);
}

// Also for drops, whose preparation takes much longer than they do.
void add_on_cached(const std::string& name, const std::function<void(State&)>& run) {
  add(name, run, 5'000, 4);
}

using PodProtobuf = OurProtobuf<Pod>;
using PodJson = OurJson<Pod>;
using Slim = SlimPod;

template <typename Codec>
void add_decode(const std::string& name, Format format, bool managed_fields,
                const std::function<Codec()>& make) {
  add(name, [=](State& state) { decode_hot(state, documents(format, managed_fields), make()); });
}

void add_decoding() {
  for (const bool managed : {true, false}) {
    const std::string suffix = managed ? "" : ", without managedFields";
    const std::string protobuf = "decode protobuf" + suffix + '/';
    add_decode<PodProtobuf>(protobuf + "kubecxx", Format::kProtobuf, managed,
                            [] { return PodProtobuf{Sharing::kPool}; });
    add_decode<PodProtobuf>(protobuf + "kubecxx, no pool", Format::kProtobuf, managed,
                            [] { return PodProtobuf{Sharing::kNone}; });
    add_decode<HeapProtobuf>(protobuf + "libprotobuf, heap", Format::kProtobuf, managed,
                             [] { return HeapProtobuf{}; });
    add_decode<ArenaProtobuf>(protobuf + "libprotobuf, arena each", Format::kProtobuf, managed,
                              [] { return ArenaProtobuf{}; });
    const std::string json = "decode JSON" + suffix + '/';
    add_decode<PodJson>(json + "kubecxx", Format::kJson, managed,
                        [] { return PodJson{Sharing::kPool}; });
    add_decode<PodJson>(json + "kubecxx, no pool", Format::kJson, managed,
                        [] { return PodJson{Sharing::kNone}; });
    add_decode<NlohmannTree>(json + "nlohmann, a tree only", Format::kJson, managed,
                             [] { return NlohmannTree{}; });
    add_decode<SimdjsonStructs>(json + "simdjson, to std structs", Format::kJson, managed,
                                [] { return SimdjsonStructs{}; });
    add_decode<NlohmannStructs>(json + "nlohmann, to std structs", Format::kJson, managed,
                                [] { return NlohmannStructs{}; });
  }
}

void add_updates() {
  const std::string group = "update from protobuf, random order/";
  add_update(group + "kubecxx",
             [](State& state) { update(state, Format::kProtobuf, PodProtobuf{Sharing::kPool}); });
  add_update(group + "kubecxx, no pool",
             [](State& state) { update(state, Format::kProtobuf, PodProtobuf{Sharing::kNone}); });
  add_update(group + "libprotobuf, heap",
             [](State& state) { update(state, Format::kProtobuf, HeapProtobuf{}); });
  add_update(group + "libprotobuf, arena each",
             [](State& state) { update(state, Format::kProtobuf, ArenaProtobuf{}); });
  const std::string json = "update from JSON, random order/";
  add_update(json + "kubecxx",
             [](State& state) { update(state, Format::kJson, PodJson{Sharing::kPool}); });
  add_update(json + "kubecxx, no pool",
             [](State& state) { update(state, Format::kJson, PodJson{Sharing::kNone}); });
  add_update(json + "simdjson, to std structs",
             [](State& state) { update(state, Format::kJson, SimdjsonStructs{}); });
  add_update(json + "nlohmann, to std structs",
             [](State& state) { update(state, Format::kJson, NlohmannStructs{}); });
}

void add_projections() {
  const std::string protobuf = "decode six fields of protobuf/";
  add_decode<PodProtobuf>(protobuf + "kubecxx, projection", Format::kProtobuf, true, [] {
    return PodProtobuf{Sharing::kPool, slim_projection()};
  });
  add_decode<OurProtobuf<Slim>>(protobuf + "kubecxx, slim type", Format::kProtobuf, true,
                                [] { return OurProtobuf<Slim>{Sharing::kPool}; });
  add_decode<OurProtobuf<Slim>>(protobuf + "kubecxx, slim type, no pool", Format::kProtobuf, true,
                                [] { return OurProtobuf<Slim>{Sharing::kNone}; });
  add_decode<SlimProtobuf>(protobuf + "libprotobuf, slim message", Format::kProtobuf, true,
                           [] { return SlimProtobuf{}; });
  const std::string json = "decode six fields of JSON/";
  add_decode<PodJson>(json + "kubecxx, projection", Format::kJson, true, [] {
    return PodJson{Sharing::kPool, slim_projection()};
  });
  add_decode<OurJson<Slim>>(json + "kubecxx, slim type", Format::kJson, true,
                            [] { return OurJson<Slim>{Sharing::kPool}; });
  add_decode<OurJson<Slim>>(json + "kubecxx, slim type, no pool", Format::kJson, true,
                            [] { return OurJson<Slim>{Sharing::kNone}; });
  add_decode<SimdjsonSlim>(json + "simdjson, to a slim std struct", Format::kJson, true,
                           [] { return SimdjsonSlim{}; });
}

void add_drops() {
  const std::string group = "drop/";
  const auto list = [](Format format) -> const auto& { return documents(format, true); };
  add_on_cached(group + "kubecxx", [=](State& state) {
    drop_hot(state, list(Format::kProtobuf), PodProtobuf{Sharing::kPool});
  });
  add_on_cached(group + "kubecxx, no pool", [=](State& state) {
    drop_hot(state, list(Format::kProtobuf), PodProtobuf{Sharing::kNone});
  });
  add_on_cached(group + "libprotobuf, heap",
                [=](State& state) { drop_hot(state, list(Format::kProtobuf), HeapProtobuf{}); });
  add_on_cached(group + "libprotobuf, arena each",
                [=](State& state) { drop_hot(state, list(Format::kProtobuf), ArenaProtobuf{}); });
  add_on_cached(group + "std structs",
                [=](State& state) { drop_hot(state, list(Format::kJson), SimdjsonStructs{}); });
}

void add_encoding() {
  const auto protobuf = []() -> const auto& { return documents(Format::kProtobuf, true); };
  const auto json = []() -> const auto& { return documents(Format::kJson, true); };
  const std::string to_protobuf = "encode protobuf/";
  add_on_cached(to_protobuf + "kubecxx", [=](State& state) {
    on_cached(state, protobuf(), PodProtobuf{Sharing::kPool},
              [](const auto& pod) { return encode_protobuf_message(*pod).size(); });
  });
  add_on_cached(to_protobuf + "libprotobuf", [=](State& state) {
    on_cached(state, protobuf(), HeapProtobuf{},
              [](const auto& pod) { return pod->SerializeAsString().size(); });
  });
  const std::string to_json = "encode JSON/";
  add_on_cached(to_json + "kubecxx", [=](State& state) {
    on_cached(state, protobuf(), PodProtobuf{Sharing::kPool},
              [](const auto& pod) { return encode_json(*pod).size(); });
  });
  add_on_cached(to_json + "nlohmann, dump of a ready tree", [=](State& state) {
    on_cached(state, json(), NlohmannTree{}, [](const auto& tree) { return tree.dump().size(); });
  });
  add_on_cached(to_json + "nlohmann, from std structs", [=](State& state) {
    on_cached(state, json(), SimdjsonStructs{},
              [](const auto& pod) { return plain::Json(*pod).dump().size(); });
  });
}

void add_copies() {
  const auto protobuf = []() -> const auto& { return documents(Format::kProtobuf, true); };
  const auto json = []() -> const auto& { return documents(Format::kJson, true); };
  const std::string group = "copy a whole pod and drop the copy/";
  add_on_cached(group + "kubecxx", [=](State& state) {
    on_cached(state, protobuf(), PodProtobuf{Sharing::kPool}, [](const auto& pod) {
      Pod copy = *pod;
      benchmark::DoNotOptimize(copy);
      return std::size_t{0};
    });
  });
  add_on_cached(group + "libprotobuf, heap", [=](State& state) {
    on_cached(state, protobuf(), HeapProtobuf{}, [](const auto& pod) {
      wire::Pod copy{*pod};
      benchmark::DoNotOptimize(copy);
      return std::size_t{0};
    });
  });
  add_on_cached(group + "std structs", [=](State& state) {
    on_cached(state, json(), SimdjsonStructs{}, [](const auto& pod) {
      plain::Pod copy = *pod;
      benchmark::DoNotOptimize(copy);
      return std::size_t{0};
    });
  });
}

void add_comparisons() {
  const auto protobuf = []() -> const auto& { return documents(Format::kProtobuf, true); };
  const auto json = []() -> const auto& { return documents(Format::kJson, true); };
  const std::string group = "compare two equal pods/";
  add_on_cached(group + "kubecxx, one pool", [=](State& state) {
    PodProtobuf shared{Sharing::kPool};
    struct Codec {
      using Object = Ref<Pod>;
      PodProtobuf* codec;
      Object decode(std::string_view document) { return codec->decode(document); }
    };
    compare(state, protobuf(), Codec{&shared}, Codec{&shared},
            [](const auto& a, const auto& b) { return deep_equal(*a, *b); });
  });
  add_on_cached(group + "kubecxx, no pool", [=](State& state) {
    compare(state, protobuf(), PodProtobuf{Sharing::kNone}, PodProtobuf{Sharing::kNone},
            [](const auto& a, const auto& b) { return deep_equal(*a, *b); });
  });
  add_on_cached(group + "libprotobuf, MessageDifferencer", [=](State& state) {
    compare(state, protobuf(), HeapProtobuf{}, HeapProtobuf{}, [](const auto& a, const auto& b) {
      return google::protobuf::util::MessageDifferencer::Equals(*a, *b);
    });
  });
  add_on_cached(group + "std structs", [=](State& state) {
    compare(state, json(), SimdjsonStructs{}, SimdjsonStructs{},
            [](const auto& a, const auto& b) { return *a == *b; });
  });
}

}  // namespace

int main(int count, char** arguments) {
  // Keeps freed memory from being returned to the system and faulted in again for every model.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  CLI::App app{kDescription};
  app.add_option("--pods", population_options.pods, "How many pods")->capture_default_str();
  app.add_option("--templates", population_options.templates, "How many ReplicaSets they belong to")
      ->capture_default_str();
  app.allow_extras();  // passed to Google Benchmark, which would print its own help
  CLI11_PARSE(app, count, arguments);
  benchmark::Initialize(&count, arguments);

  add_decoding();
  add_updates();
  add_projections();
  add_drops();
  add_encoding();
  add_copies();
  add_comparisons();
  fmt::print(
      "{} pods, {} templates; {:.0f} B protobuf, {:.0f} B JSON; without managedFields {:.0f} B, "
      "{:.0f} B\n",
      population_options.pods, population_options.templates,
      mean_size(documents(Format::kProtobuf, true)), mean_size(documents(Format::kJson, true)),
      mean_size(documents(Format::kProtobuf, false)), mean_size(documents(Format::kJson, false)));
  TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

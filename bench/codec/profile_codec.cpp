// SPDX-License-Identifier: Apache-2.0
//
// Runs a single decoding job, for a profiler. Prints CPU time per pod.
#include "population.hpp"

#include <kube/codec/decoder.hpp>
#include <kube/object/pool.hpp>

#include <fmt/format.h>

#include <malloc.h>
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace kube;
using namespace kube::bench;

constexpr std::string_view kHelp = R"(usage: profile_codec [option=value]...

  format=pb|json            what to decode                              (pb)
  mode=hot|list|update|encode                                           (hot)
      hot      decode 500 pods, free them, and so on through the list
      list     decode all pods in the order of the list and keep them
      update   decode new versions of pods in random order, each replacing the old one
      encode   encode pods that are cached
  pods=N                    how many pods                               (50000)
  templates=T               how many ReplicaSets they belong to         (400)
  managed=yes|no            with managedFields                          (yes)
  pool=yes|no               share content between objects               (yes)
  keep=all|few              few: a projection to name, labels, node, address, phase  (all)
  repeat=R                  how often to do it; the least time counts   (3)

The input is made first and takes no part in the numbers. To profile the job alone, have the profiler
start at the function run_job (callgrind: --toggle-collect='*run_job*').
)";

struct Job {
  std::string format = "pb";
  std::string mode = "hot";
  bool pool = true;
  bool keep_all = true;
  int repeat = 3;
  PopulationOptions population;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Ref<core::v1::Pod> decode(Decoder<core::v1::Pod>& decoder, bool is_json,
                          const std::string& document) {
  return is_json ? decoder.json(document) : decoder.protobuf(document);
}

DecoderOptions options_of(const Job& job) {
  DecoderOptions options;
  if (job.pool) options.pool = std::make_shared<Pool>();
  if (!job.keep_all) {
    options.projection =
        fields<core::v1::Pod>("metadata.name", "metadata.namespace", "metadata.labels",
                              "spec.nodeName", "status.podIP", "status.phase");
  }
  return options;
}

using Cache = std::vector<Ref<core::v1::Pod>>;

// Not inlined, so that a profiler can attach to it.
[[gnu::noinline]] void run_job(const Job& job, Decoder<core::v1::Pod>& decoder, Cache& cache,
                               const std::vector<std::string>& documents,
                               const std::vector<std::size_t>& order) {
  const bool is_json = job.format == "json";
  if (job.mode == "hot") {
    constexpr std::size_t kBatch = 500;
    cache.resize(kBatch);
    for (std::size_t i = 0; i < documents.size(); ++i) {
      if (i % kBatch == 0) {
        for (auto& ref : cache) ref.reset();
      }
      cache[i % kBatch] = decode(decoder, is_json, documents[i]);
    }
  } else if (job.mode == "list") {
    cache.reserve(documents.size());
    for (const std::string& document : documents)
      cache.push_back(decode(decoder, is_json, document));
  } else if (job.mode == "update") {
    for (const std::size_t i : order) cache[i] = decode(decoder, is_json, documents[i]);
  } else {
    for (const auto& ref : cache) {
      const std::string text = encode(*ref, is_json ? Format::kJson : Format::kProtobuf);
      if (text.empty()) std::abort();
    }
  }
}

double measure(const Job& job, const std::vector<std::string>& documents,
               const std::vector<std::string>& updates, const std::vector<std::size_t>& order) {
  Decoder<core::v1::Pod> decoder{options_of(job)};
  Cache cache;
  const bool needs_cache = job.mode == "update" || job.mode == "encode";
  if (needs_cache) {
    for (const std::string& document : documents) {
      cache.push_back(decode(decoder, job.format == "json", document));
    }
  }
  const double before = cpu_seconds();
  run_job(job, decoder, cache, job.mode == "update" ? updates : documents, order);
  return (cpu_seconds() - before) * 1e6 / static_cast<double>(documents.size());
}

Job parse(int count, char** arguments) {
  Job job;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const std::string value{equals == std::string_view::npos ? "" : argument.substr(equals + 1)};
    if (name == "format" && (value == "pb" || value == "json")) {
      job.format = value;
    } else if (name == "mode" &&
               (value == "hot" || value == "list" || value == "update" || value == "encode")) {
      job.mode = value;
    } else if (name == "pods") {
      job.population.pods = std::stoull(value);
    } else if (name == "templates") {
      job.population.templates = std::stoull(value);
    } else if (name == "managed") {
      job.population.managed_fields = value != "no";
    } else if (name == "pool") {
      job.pool = value != "no";
    } else if (name == "keep") {
      job.keep_all = value != "few";
    } else if (name == "repeat") {
      job.repeat = std::stoi(value);
    } else {
      fmt::print("{}", kHelp);
      std::exit(name == "--help" ? 0 : 2);
    }
  }
  return job;
}

}  // namespace

int main(int count, char** arguments) {
  const Job job = parse(count, arguments);
  // Keeps freed memory from being returned to the system and faulted in again.
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_MMAP_THRESHOLD, 64 << 20);

  const Population population{job.population};
  const Format format = job.format == "json" ? Format::kJson : Format::kProtobuf;
  const auto documents = encode_all(population, format);
  const auto updates =
      job.mode == "update" ? encode_all(population, format, 1) : std::vector<std::string>{};
  const auto order = shuffled(population.size(), 7);
  const double size = mean_size(documents);

  double best = 0;
  for (int i = 0; i < job.repeat; ++i) {
    const double micros = measure(job, documents, updates, order);
    best = i == 0 ? micros : std::min(best, micros);
  }
  fmt::print("{} {} {} pods of {:.0f} B, {} templates, {}, {}: {:.2f} us per pod, {:.0f} MB/s\n",
             job.format, job.mode, population.size(), size, job.population.templates,
             job.population.managed_fields ? "managedFields" : "no managedFields",
             job.pool ? "pool" : "no pool", best, size / best);
}

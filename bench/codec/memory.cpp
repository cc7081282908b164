// SPDX-License-Identifier: Apache-2.0
//
// Memory per cached pod, as the system sees it (resident anonymous memory), for several object models.
#include "corpus.hpp"
#include "models.hpp"
#include "population.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace kube::bench;

constexpr const char* kDescription =
    R"(Bytes of memory per cached pod, and relative to the pod's size in protobuf.

Each model is measured in a process of its own: the pods are decoded in the order of a list and kept, then
all of them are replaced by new versions, in random order, for some rounds. What counts is the growth of
resident anonymous memory (RssAnon); the encoded pods are not in it. Everything that a model keeps does
count: kubecxx's pool and the decoder's scratch and sibling memory, the table of pointers, and what the
allocator wastes.

Columns:
  B/pod     after the list
  x wire    that, relative to the size of the pod in protobuf
  vs first  relative to the first model of the table
  updated   B/pod after the rounds of updates
  growth    how much more that is. The pods themselves stay about as large
  trimmed   B/pod after a malloc_trim(0) then: what is left when the allocator returns all it can
  (last)    the library's own count of its memory, after the list and after the updates

The structs of the standard library are filled by nlohmann::json, from JSON, and the others from protobuf.)";

struct Options {
  std::size_t pods = 50'000;
  unsigned rounds = 4;
  bool quick = false;
  std::string only;
};

struct Scenario {
  std::size_t templates = 400;
  bool managed_fields = true;
  bool ours_only = false;  ///< models without sharing do not depend on the number of templates
  bool partial = false;    ///< includes models that hold only some fields
};

/// The result that a child process sends to its parent.
struct Measured {
  double listed = 0;
  double updated = 0;
  double trimmed = 0;
  double wire = 0;
  char note[160] = {};  ///< the model's own statistics after the list and after the updates
  bool complete = false;
};

double resident_bytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == "RssAnon:" && status >> kibibytes) return kibibytes * 1024;
  }
  throw std::runtime_error("/proc/self/status has no RssAnon");
}

void measure(const ModelInfo& info, const PopulationOptions& population, unsigned rounds,
             Measured& result) {
  Corpus corpus{population, info.format};
  corpus.fill(0);
  result.wire = corpus.mean_size();
  const auto per_pod = [&, before = resident_bytes()] {
    return (resident_bytes() - before) / static_cast<double>(corpus.size());
  };

  const auto model = info.make(corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) model->put(i, corpus[i]);
  result.listed = per_pod();
  std::string note = model->note();
  for (unsigned round = 1; round <= rounds; ++round) {
    corpus.fill(round);
    for (const std::size_t i : shuffled(corpus.size(), round)) model->put(i, corpus[i]);
  }
  result.updated = per_pod();
  if (!note.empty()) note += "; updated " + model->note();
  std::strncpy(result.note, note.c_str(), sizeof(result.note) - 1);
  malloc_trim(0);
  result.trimmed = per_pod();
  result.complete = true;
}

Measured measure_apart(const ModelInfo& info, const PopulationOptions& population,
                       unsigned rounds) {
  void* memory =
      mmap(nullptr, sizeof(Measured), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  auto* result = new (memory) Measured;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    try {
      measure(info, population, rounds, *result);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", info.name, error.what());
    }
    _exit(0);  // without freeing a gigabyte of small objects first
  }
  int status = 0;
  waitpid(child, &status, 0);
  const Measured copy = *result;
  munmap(memory, sizeof(Measured));
  if (!copy.complete) throw std::runtime_error(fmt::format("measuring \"{}\" failed", info.name));
  return copy;
}

void print_row(const ModelInfo& info, const Measured& measured, double wire, double reference) {
  fmt::print("  {:<28} {:>8.0f} {:>8.2f} {:>9.1f} {:>9.0f} {:>7.1f} % {:>8.0f}   {}\n", info.name,
             measured.listed, measured.listed / wire, measured.listed / reference, measured.updated,
             (measured.updated / measured.listed - 1) * 100, measured.trimmed, measured.note);
  std::fflush(stdout);
}

void run(const Scenario& scenario, const Options& options) {
  const PopulationOptions population{.pods = options.pods,
                                     .templates = scenario.templates,
                                     .managed_fields = scenario.managed_fields};
  std::optional<double> wire;
  std::optional<double> reference;
  for (const bool whole : {true, false}) {
    if (!whole && !scenario.partial) continue;
    reference.reset();
    for (const ModelInfo& info : all_models()) {
      if (info.is_whole != whole || (scenario.ours_only && !info.is_ours)) continue;
      if (info.name.find(options.only) == std::string_view::npos) continue;
      const Measured measured = measure_apart(info, population, options.rounds);
      if (!wire && info.format == Format::kProtobuf) {
        wire = measured.wire;
        fmt::print("\n{} pods, {} templates, {} managedFields: {:.0f} B each in protobuf\n",
                   options.pods, scenario.templates, scenario.managed_fields ? "with" : "without",
                   *wire);
        fmt::print("  {:<28} {:>8} {:>8} {:>9} {:>9} {:>9} {:>8}\n", "model", "B/pod", "x wire",
                   "vs first", "updated", "growth", "trimmed");
      }
      if (!reference) {
        reference = measured.listed;
        if (!whole) fmt::print("  only name, namespace, labels, node, address, phase:\n");
      }
      print_row(info, measured, wire.value_or(measured.wire), *reference);
    }
  }
}

}  // namespace

int main(int count, char** arguments) try {
  CLI::App app{kDescription};
  Options options;
  app.add_option("--pods", options.pods, "How many pods")->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds of updates")->capture_default_str();
  app.add_option("--only", options.only, "Only models whose name contains this text");
  app.add_flag("--quick", options.quick,
               "5,000 pods: a minute instead of several, rougher numbers");
  CLI11_PARSE(app, count, arguments);
  if (options.quick) options.pods = 5'000;

  // Keeps the number of pods per template constant.
  const std::size_t hundred = std::max<std::size_t>(1, options.pods / 125);
  const std::size_t five = std::max<std::size_t>(1, options.pods / 5);
  for (const bool managed_fields : {true, false}) {
    run({.templates = hundred, .managed_fields = managed_fields, .partial = managed_fields},
        options);
    run({.templates = five, .managed_fields = managed_fields, .ours_only = true}, options);
    run({.templates = options.pods, .managed_fields = managed_fields, .ours_only = true}, options);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "memory: {}\n", error.what());
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// The cost of informers of 50,000 realistic pods, compared with the targets. Servers and measured
// clients
// are separate processes.
#include "processes.hpp"
#include "scenarios.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kube::bench {
namespace {

constexpr const char* kDescription =
    R"(Measures informers of realistic pods: initial sync, watch, relist, reading, latency, rest.

The pods are those of bench/codec. The replaying server plays recorded protobuf streams over HTTP/1.1 on
loopback; latency and rest are measured against the in-process API server. What is measured is a process of
its own each time, so that memory and CPU time are those of the client alone. Memory is resident memory of
the whole process (of a million bytes), CPU time is user and system time of all its threads.)";

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

/// Returns the path of the server program, which is in the same folder.
std::string server_path() {
  return std::filesystem::path{own_path()}.replace_filename("informers_server");
}

using Numbers = std::map<std::string, double>;

/// Runs a scenario in a separate process.
Numbers measure(const std::string& arguments) {
  std::fflush(stdout);
  std::FILE* output = ::popen((own_path() + ' ' + arguments).c_str(), "r");
  if (output == nullptr) throw std::runtime_error("popen");
  Numbers numbers;
  std::array<char, 64> name{};
  double value = 0;
  while (std::fscanf(output, "%63s %lf", name.data(), &value) == 2) numbers[name.data()] = value;
  if (::pclose(output) != 0) throw std::runtime_error("failed: " + arguments);
  return numbers;
}

/// Returns the minimum of each number; of memory the maximum, because other load on the machine
/// does not affect it.
Numbers least(const std::string& arguments, int repetitions) {
  Numbers best;
  for (int i = 0; i < repetitions; ++i) {
    fmt::print(stderr, "{} ({}/{}):", arguments, i + 1, repetitions);
    for (const auto& [name, value] : measure(arguments)) {
      const auto [place, is_new] = best.emplace(name, value);
      const bool is_memory = name.starts_with("peak") || name == "settled";
      if (!is_new)
        place->second = is_memory ? std::max(place->second, value) : std::min(place->second, value);
      fmt::print(stderr, " {} {:.4g}", name, value);
    }
    fmt::print(stderr, "\n");
  }
  return best;
}

void row(std::string_view what, std::string_view unit, double limit, double measured) {
  fmt::print("  {:<62}{:>10.4g}{:>10.4g} {:<7}{}\n", what, limit, measured, unit,
             measured <= limit ? "met" : "NOT MET");
}
void note(std::string_view what, std::string_view unit, double measured) {
  fmt::print("  {:<62}{:>10}{:>10.4g} {}\n", what, "", measured, unit);
}
void title(std::string_view text) { fmt::print("\n{:<64}{:>10}{:>10}\n", text, "goal", "is"); }

struct Options {
  std::size_t pods = 50'000;
  int repetitions = 3;
  bool tls = false;
  std::string only;
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  void run() {
    const std::string folder = make_folder();
    {
      const std::string ca = options_.tls ? folder + "/ca.pem" : "";
      fmt::print(stderr, "recording {} pods\n", options_.pods);
      const Background replaying{{server_path(), "replay", std::to_string(options_.pods), ca}};
      fmt::print("{} pods, {}, on loopback; of {} runs the least time and the most memory\n",
                 options_.pods, options_.tls ? "HTTP/1.1 over TLS" : "plain HTTP/1.1",
                 options_.repetitions);
      common_ = fmt::format(" --pods={} --url={} {}", options_.pods, replaying.line(), ca);
      if (wanted("sync")) sync();
      if (wanted("storm")) storm();
      if (wanted("relist")) relist();
      if (wanted("reads")) reads();
      if (wanted("stall")) stall();
    }
    if (wanted("server")) {
      const Background serving{{server_path(), "serve", "1000"}};
      common_ = " --url=" + serving.line();
      against_server();
    }
    std::filesystem::remove_all(folder);
  }

 private:
  static std::string make_folder() {
    std::string folder =
        std::filesystem::temp_directory_path() / fmt::format("informers-bench-{}", ::getpid());
    std::filesystem::create_directory(folder);
    return folder;
  }
  [[nodiscard]] bool wanted(std::string_view part) const {
    return options_.only.empty() || options_.only == part;
  }
  Numbers get(const std::string& scenario, int repetitions = 1) {
    return least(scenario + common_, repetitions);
  }

  void sync() {
    Numbers reading = get("transport", options_.repetitions);
    const double wire = reading["initial_bytes"] * static_cast<double>(options_.pods) / 1e6;
    title("Initial sync");
    note("bytes of the initial state", "MB", wire);
    note("CPU per pod to read them, and do nothing", "us", reading["initial_cpu"]);
    for (const bool watch_list : {true, false}) {
      Numbers is = get(watch_list ? "sync" : "sync --list", options_.repetitions);
      const char* how = watch_list ? "streamed" : "listed";
      row(fmt::format("{}: settled memory / bytes read", how), "", 0.6, is["settled"] / wire);
      row(fmt::format("{}: peak / settled memory", how), "", 1.1, is["peak"] / is["settled"]);
      row(fmt::format("{}: CPU per pod beyond reading", how), "us", 15,
          is["cpu"] - reading["initial_cpu"]);
    }
  }

  void storm() {
    Numbers reading = get("transport", options_.repetitions);
    Numbers is = get("storm", options_.repetitions);
    Numbers with_reader = get("storm --reader", options_.repetitions);
    title("Watch: an endless storm of updates of random pods");
    note("CPU per event to read it, and do nothing", "us", reading["update_cpu"]);
    row("CPU per event, all in", "us", 12, is["cpu"]);
    row("peak / settled memory", "", 1.1, is["peak"]);
    note("part of the events that the handler was called for", "", is["calls"]);
    row("peak / settled memory, with a reader that lists in a loop", "", 1.1, with_reader["peak"]);
    row("slower with a reader that lists in a loop: by a factor of", "", 1.1,
        with_reader["cpu"] / is["cpu"]);
    note("lists that it read meanwhile, at least", "", with_reader["lists"]);
  }

  void relist() {
    title("Relist of an unchanged cache, after 410");
    for (const bool watch_list : {true, false}) {
      Numbers is = get(watch_list ? "relist" : "relist --list");
      const char* how = watch_list ? "streamed" : "listed";
      row(fmt::format("{}: peak / settled memory", how), "", 1.15, is["peak"]);
      row(fmt::format("{}: handler calls", how), "", 0, is["calls"]);
      row(fmt::format("{}: part of the pods whose block is another one", how), "", 0,
          1 - is["same"]);
      note(fmt::format("{}: CPU per pod", how), "us", is["cpu"]);
    }
  }

  void reads() {
    Numbers is = get("reads", options_.repetitions);
    title("Reading from the cache");
    row("find by key, always the same 16 pods", "ns", 80, is["find_few"]);
    row("find by key, one of 1,000 pods", "ns", 80, is["find_hot"]);
    note("the same while another thread does so, too", "ns", is["find_two"]);
    row("find by key, any of all pods", "ns", 80, is["find"]);
    note("find by \"namespace/name\", any of all pods", "ns", is["find_key"]);
    note("find in a snapshot, any of all pods", "ns", is["snapshot_find"]);
    note("one look at a pod that is known, any of all pods", "ns", is["touch"]);
    row(fmt::format("list of {} pods by a label, per 50 pods", is["selected"]), "us", 20,
        is["select"] / is["selected"] * 50);
    row("list of all pods", "us", 1000, is["list"]);
  }

  void stall() {
    Numbers is = get("stall");
    title("A handler that stalls during a storm of updates of all pods");
    note("notifications that wait in the end", "", is["waiting"]);
    note("memory / settled memory, once all pods wait", "", is["first_round"]);
    row("peak from then on / that", "", 1.1, is["peak"]);
    row("part of the pods of which it misses the newest state", "", 0, 1 - is["newest"]);
    note("calls per event", "", is["calls"]);
    note("memory / settled memory, when it has caught up", "", is["afterwards"]);
  }

  void against_server() {
    title("From a PATCH of the status to the handler (in-process API server, 2,000 pods)");
    for (const bool small : {true, false}) {
      Numbers is = get(small ? "latency --small" : "latency", options_.repetitions);
      const char* which = small ? "a small pod" : "a pod as above";
      row(fmt::format("{}: median", which), "us", 300, is["median"]);
      row(fmt::format("{}: p99", which), "us", 2000, is["p99"]);
      note(fmt::format("{}: until the answer to the PATCH: median", which), "us",
           is["answer_median"]);
    }
    for (const int informers : {50, 1000}) {
      Numbers is = get(fmt::format("idle --informers={}", informers));
      title(fmt::format("{} dynamic informers at rest", informers));
      row("memory of the process", "MB", informers == 50 ? 8.5 : 30, is["settled"]);
      note("of which it had before the first one", "MB", is["client"]);
      row("threads", "", 8, is["threads"]);
      row("times that a thread woke up in 10 s", "", 0, is["sleeps"]);
      note("CPU in 10 s", "us", is["cpu"]);
    }
  }

  const Options options_;
  std::string common_;
};

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

int main_of(int count, char** arguments) {
  CLI::App app{kDescription};
  Options options;
  std::string url;
  std::string ca;
  std::string kubeconfig;
  bool list = false;
  bool reader = false;
  bool small = false;
  bool json = false;
  bool inlined = false;
  int informers = 50;
  app.add_option("--pods", options.pods, "How many pods")->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "How often to measure")
      ->capture_default_str();
  app.add_flag("--tls", options.tls, "Replay over TLS");
  app.add_option("--only", options.only, "sync, storm, relist, reads, stall or server");

  // The scenarios; each runs in its own process.
  std::map<std::string, std::function<void(const Server&)>> scenarios{
      {"transport", [&](const Server& server) { transport(server, options.pods); }},
      {"sync", [&](const Server& server) { sync(server, options.pods, !list); }},
      {"storm", [&](const Server& server) { storm(server, options.pods, reader); }},
      {"relist", [&](const Server& server) { relist(server, options.pods, !list); }},
      {"reads", [&](const Server& server) { reads(server, options.pods); }},
      {"stall", [&](const Server& server) { stall(server, options.pods); }},
      {"delivery", [&](const Server& server) {
         delivery(server, inlined ? Delivery::kInline : Delivery::kQueued);
       }},
      {"latency", [&](const Server& server) { latency(server, small); }},
      {"idle", [&](const Server& server) { idle(server, informers); }}};
  const auto add_part = [&](const std::string& name) {
    CLI::App* part = app.add_subcommand(name, "")->group("");
    part->add_option("--pods", options.pods);
    part->add_option("--url", url);
    part->add_option("ca", ca);
    part->add_option("--kubeconfig", kubeconfig);
    part->add_flag("--list", list);
    part->add_flag("--reader", reader);
    part->add_flag("--small", small);
    part->add_option("--informers", informers);
    part->add_flag("--json", json);
    part->add_flag("--inline", inlined);
  };
  for (const auto& [name, run] : scenarios) add_part(name);
  CLI11_PARSE(app, count, arguments);

  for (const auto& [name, run] : scenarios) {
    if (!app.got_subcommand(name)) continue;
    run({url, ca.empty() ? "" : read_file(ca), json, kubeconfig});
    std::fflush(stdout);
    ::_exit(0);  // without freeing 50,000 pods first
  }
  Bench{options}.run();
  return 0;
}

}  // namespace
}  // namespace kube::bench

int main(int count, char** arguments) {
  try {
    return kube::bench::main_of(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "informers_bench: {}\n", error.what());
    return 1;
  }
}

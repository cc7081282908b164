// SPDX-License-Identifier: Apache-2.0
// Sends the same random requests to a real API server and to the in-process one, and compares the
// answers.
#include <kube/base/error.hpp>
#include <kube/config/load.hpp>
#include <kube/testkit/api_server.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <future>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compare.hpp"
#include "generator.hpp"
#include "kinds.hpp"
#include "known_differences.hpp"
#include "peer.hpp"

namespace kube::differential {
namespace {

using namespace std::chrono_literals;

struct Options {
  std::string kubeconfig;
  std::string known;
  std::uint64_t seed = 0;
  double seconds = 30;
  std::size_t rounds = 0;
  std::size_t requests = 150;
  std::size_t shown = 40;
  bool messages = false;
};

std::string cut(const std::string& text, std::size_t most = 1500) {
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Returns the message of a failure, for display.
std::string message_of(const Answer& answer) {
  const std::size_t begin = answer.body.find("\"message\":\"");
  return begin == std::string::npos ? std::string{} : cut(answer.body.substr(begin + 10), 200);
}

class Run {
 public:
  Run(const Options& options, const Config& real, const Config& ours)
      : options_(options), known_(options.known), real_(real), ours_(ours), dice_(options.seed) {}

  /// Returns 0 if there are no unknown differences.
  int run() {
    fmt::print("seed {}\n", options_.seed);
    std::fflush(stdout);
    prepare();
    // Names are unique per run, so that leftovers of earlier runs do not interfere.
    const auto run = std::chrono::system_clock::now().time_since_epoch() / 1s;
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(
                                               std::chrono::duration<double>{options_.seconds});
    play_directed(fmt::format("d{:x}", run));
    for (std::size_t round = 0; options_.rounds == 0 || round < options_.rounds; ++round) {
      if (std::chrono::steady_clock::now() >= end) break;
      play(fmt::format("d{:x}-{}", run, round));
    }
    return report();
  }

 private:
  void require(const Request& request) {
    for (Peer* peer : {&real_, &ours_}) {
      const Answer answer = peer->send(request);
      if (answer.status != 409 && (answer.status < 200 || answer.status > 299)) {
        throw Error(fmt::format("{} {}: {} {}", request.method, request.path, answer.status,
                                cut(answer.body)));
      }
      peer->learn(request, answer);
    }
  }

  /// Creates the custom resources and waits until they are served.
  void prepare() {
    for (const std::string& definition : definitions()) {
      require({.method = "POST",
               .path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
               .content_type = "application/json",
               .body = definition});
    }
    for (const Kind& kind : kinds()) {
      const Request request{.path = kind.collection("")};
      for (Peer* peer : {&real_, &ours_}) {
        for (int attempt = 0; peer->send(request).status != 200; ++attempt) {
          if (attempt == 100) throw Error(request.path + " is not served");
          std::this_thread::sleep_for(100ms);
        }
      }
    }
  }

  /// The servers diverge after these requests, so they have their own namespace.
  void play_directed(const std::string& space) {
    make_space(space);
    const Generator generator{dice_, space};
    for (const Request& request : generator.directed()) static_cast<void>(exchange(request));
    clean_up(generator);
  }

  void make_space(const std::string& space) {
    real_.forget();
    ours_.forget();
    require({.method = "POST",
             .path = "/api/v1/namespaces",
             .content_type = "application/json",
             .body = fmt::format(R"({{"metadata":{{"name":"{0}","labels":{{"space":"{0}"}}}}}})",
                                 space)});
  }

  void clean_up(const Generator& generator) {
    for (const Request& request : generator.cleanup()) {
      static_cast<void>(real_.send(request));
      static_cast<void>(ours_.send(request));
    }
  }

  void play(const std::string& space) {
    make_space(space);
    Generator generator{dice_, space};
    bool alike = true;
    for (std::size_t i = 0; i < options_.requests && alike; ++i) {
      alike = exchange(generator.next());
    }
    // After a difference the servers are in different states, so their histories are not
    // comparable.
    if (alike) watch(generator.watches());
    clean_up(generator);
  }

  /// Sends a request to both servers. Returns false if their states may differ now.
  bool exchange(const Request& request) {
    ++requests_;
    Answer real = real_.send(request);
    Answer ours = ours_.send(request);
    real_.learn(request, real);
    ours_.learn(request, ours);
    std::vector<Difference> found = compare(request, real_, real, ours_, ours);
    if (!found.empty() && request.is_read()) {
      settle(request);
      real = real_.send(request);
      ours = ours_.send(request);
      found = compare(request, real_, real, ours_, ours);
    }
    note(request, real, ours, found);
    return found.empty() || request.is_read() || (real.status >= 400 && ours.status >= 400);
  }

  /// Waits for the cache of the real server: a list of the latest state is consistent.
  void settle(const Request& request) {
    const auto kind = std::ranges::find_if(kinds(), [&](const Kind& known) {
      return request.label.ends_with(fmt::format(" {}", known.plural));
    });
    if (kind == kinds().end()) return;
    static_cast<void>(real_.send({.path = kind->collection(""), .query = {{"limit", "1"}}}));
  }

  void watch(const std::vector<Request>& requests) {
    for (const Request& request : requests) settle(request);
    std::vector<std::future<Answer>> answers;
    for (const Request& request : requests) {
      for (const Peer* peer : {&real_, &ours_}) {
        answers.push_back(
            std::async(std::launch::async, [peer, request] { return peer->send(request); }));
      }
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      ++requests_;
      const Answer real = answers[2 * i].get();
      const Answer ours = answers[2 * i + 1].get();
      note(requests[i], real, ours, compare(requests[i], real_, real, ours_, ours));
    }
  }

  void note(const Request& request, const Answer& real, const Answer& ours,
            const std::vector<Difference>& found) {
    ++statuses_[real.status];
    if (options_.messages && real.status >= 400 && message_of(real) != message_of(ours)) {
      fmt::print("{} {}\n  {}\n  {}\n", request.label, real.status, message_of(real),
                 message_of(ours));
    }
    for (const Difference& difference : found) {
      const std::string line = fmt::format("{} | {}", request.label, difference.str());
      if (known_.covers(line)) continue;
      if (findings_[line]++ > 0 || findings_.size() > options_.shown) continue;
      fmt::print(
          "\nDIFFERENT {}\n  {} {}\n  Content-Type: {}  Accept: {}\n  body: {}\n  real: {} {}\n"
          "  ours: {} {}\n",
          line, request.method, ours.target, request.content_type, request.accept, cut(ours.sent),
          real.status, cut(real.body), ours.status, cut(ours.body));
      std::fflush(stdout);
    }
  }

  int report() {
    fmt::print("\n{} requests;", requests_);
    for (const auto& [status, count] : statuses_) fmt::print(" {}: {}", status, count);
    fmt::print("\n");
    for (const auto& [line, count] : findings_) fmt::print("{} times: {}\n", count, line);
    bool complete = true;
    for (const std::string& pattern : known_.unused()) {
      fmt::print("\nUNUSED {}: no difference matched\n", pattern);
      complete = false;
    }
    if (!findings_.empty()) {
      fmt::print("\nFAILED: {} differences; repeat with --seed {}\n", findings_.size(),
                 options_.seed);
    }
    return findings_.empty() && complete ? 0 : 1;
  }

  Options options_;
  KnownDifferences known_;
  Peer real_;
  Peer ours_;
  Dice dice_;
  std::size_t requests_ = 0;
  std::map<int, std::size_t> statuses_;
  std::map<std::string, std::size_t> findings_;
};

int run(const Options& options) {
  // Like a bare API server without a controller manager: no garbage collection.
  testkit::ApiServer server{{.garbage_collection = false, .namespace_controller = false}};
  return Run{options, load_config({.sources = {.explicit_file = options.kubeconfig}}),
             server.config()}
      .run();
}

}  // namespace
}  // namespace kube::differential

int main(int argc, char** argv) {
  kube::differential::Options options;
  CLI::App app{"Compares the in-process API server with a real one."};
  app.add_option("--kubeconfig", options.kubeconfig,
                 "kubeconfig of the real server's administrator")
      ->required();
  app.add_option("--known", options.known, "the file of known differences")->required();
  app.add_option("--seed", options.seed, "seed of the random requests; 0: a new one");
  app.add_option("--seconds", options.seconds, "duration")->capture_default_str();
  app.add_option("--rounds", options.rounds, "maximum number of namespaces; 0: no limit");
  app.add_option("--requests", options.requests, "requests in each namespace")
      ->capture_default_str();
  app.add_option("--shown", options.shown, "maximum number of differences to print")
      ->capture_default_str();
  app.add_flag("--messages", options.messages, "print failures whose messages differ");
  CLI11_PARSE(app, argc, argv);
  if (options.seed == 0) options.seed = std::random_device{}();
  try {
    return kube::differential::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "differential: {}\n", error.what());
    return 1;
  }
}

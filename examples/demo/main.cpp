// SPDX-License-Identifier: Apache-2.0
// The demo of `make run`: the sample controller at work, on an in-process API server or on a real
// cluster, while its objects change and the server fails.
#include "cluster.hpp"
#include "journal.hpp"
#include "pipeline.hpp"
#include "recording.hpp"
#include "screen.hpp"
#include "story.hpp"
#include "view.hpp"

#include <kube/config/load.hpp>
#include <kube/controller/signals.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace demo {
namespace {

using namespace std::chrono_literals;

constexpr auto kFrameTime = 200ms;

struct Arguments {
  std::string kubeconfig;
  bool yes = false;
  double seconds = 0;
  std::string record;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--kubeconfig", arguments.kubeconfig,
                 "Play on the cluster of this file instead of one in the process");
  app.add_flag("--yes", arguments.yes, "Do not ask before creating something there")
      ->envname("YES");
  app.add_option("--seconds", arguments.seconds, "End after that time; 0: after the story")
      ->envname("DEMO_SECONDS")
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--record", arguments.record, "Draw into this SVG file, not on the terminal");
}

/// The output mode: drawn, recorded, or line by line.
enum class Mode { kScreen, kRecording, kLines };

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Asks for the user's consent. Without a terminal, --yes is required.
bool confirmed(const Arguments& arguments, const std::string& what) {
  fmt::print("{}", what);
  std::fflush(stdout);
  if (arguments.yes) return true;
  if (::isatty(STDIN_FILENO) != 1) {
    throw std::runtime_error{"standard input is not a terminal; confirm with YES=1 (or --yes)"};
  }
  fmt::print("Go on? [y/N] ");
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

class Demo {
 public:
  Demo(const Arguments& arguments, Mode mode, Cluster& cluster)
      : arguments_(arguments),
        mode_(mode),
        cluster_(cluster),
        journal_(mode == Mode::kLines
                     ? [](const Journal::Entry& entry) { print_line(line_text(entry)); }
                     : std::function<void(const Journal::Entry&)>{}),
        pipeline_(cluster.config(), cluster.namespace_(), journal_) {}

  /// Runs until the story ends, the time is over or a stop is requested. Returns the number of
  /// failed steps.
  int run(const std::stop_token& stop) {
    std::stop_source end;
    const std::stop_callback forward{stop, [&] { end.request_stop(); }};
    std::jthread controller{[&] { pipeline_.run(end.get_token()); }};
    std::jthread viewer{[&](const std::stop_token& stop_viewing) {
      if (mode_ != Mode::kLines) view(end.get_token(), stop_viewing);
    }};
    std::jthread timer{[&](std::stop_token over) {
      if (arguments_.seconds <= 0) return;
      const std::chrono::duration<double> limit{arguments_.seconds};
      if (kube::system_clock().sleep_for(std::chrono::duration_cast<kube::Clock::Duration>(limit),
                                         std::move(over))) {
        end.request_stop();
      }
    }};
    Story story{cluster_.config(),
                pipeline_,
                journal_,
                {.namespace_ = cluster_.namespace_(),
                 .server = cluster_.server(),
                 .pace = pace(),
                 .patience = cluster_.server() != nullptr ? 20s : 120s}};
    do {
      story.play(end.get_token());
    } while (repeats() && !end.stop_requested());
    failures_ = story.failures();
    end.request_stop();
    return failures_;
  }

  /// Returns a summary in a few lines.
  [[nodiscard]] std::string summary() {
    const ControllerStatus done = pipeline_.controller();
    std::size_t lists = 0;
    std::size_t watches = 0;
    for (const InformerStatus& one : pipeline_.informers()) {
      lists += one.lists;
      watches += one.watches;
    }
    std::string text = fmt::format(
        "\n== {:.1f} s: {} reconciles ({} succeeded, {} failed and were tried again), {} lists, {} "
        "watches\n",
        std::chrono::duration<double>{journal_.time()}.count(), done.succeeded + done.failed,
        done.succeeded, done.failed, lists, watches);
    if (failures_ > 0) text += fmt::format("   {} steps did not end in time\n", failures_);
    return text;
  }

 private:
  [[nodiscard]] kube::Clock::Duration pace() const {
    if (mode_ == Mode::kRecording) return 2500ms;
    return mode_ == Mode::kScreen || arguments_.seconds > 0 ? 3000ms : 100ms;
  }
  /// Returns whether the story repeats until it is stopped or the time is over.
  [[nodiscard]] bool repeats() const {
    return mode_ == Mode::kScreen || (mode_ == Mode::kLines && arguments_.seconds > 0);
  }

  void view(const std::stop_token& end, const std::stop_token& stop_viewing) {
    if (mode_ == Mode::kRecording) return record(stop_viewing);
    Screen screen;
    // The screen is restored at once, because a second Ctrl-C ends the process immediately.
    const std::stop_callback leave{end, [&] { screen.leave(); }};
    do {
      screen.show(draw(pipeline_, journal_, cluster_.where(), Screen::size()));
    } while (kube::system_clock().sleep_for(kFrameTime, end));
  }
  void record(const std::stop_token& stop) {
    const Size size;
    Recording recording{size};
    do {
      recording.add(journal_.time(), draw(pipeline_, journal_, cluster_.where(), size));
    } while (kube::system_clock().sleep_for(kFrameTime, stop));
    std::ofstream file{arguments_.record};
    file << recording.svg(journal_.time());
    if (!file.flush()) throw std::runtime_error{arguments_.record + " cannot be written"};
  }

  const Arguments& arguments_;
  const Mode mode_;
  Cluster& cluster_;
  Journal journal_;
  Pipeline pipeline_;
  int failures_ = 0;
};

int run(const Arguments& arguments) {
  const Mode mode = !arguments.record.empty() ? Mode::kRecording
                    : can_draw()              ? Mode::kScreen
                                              : Mode::kLines;
  std::optional<kube::Config> real;
  if (!arguments.kubeconfig.empty()) {
    real = kube::load_config({.sources = {.explicit_file = arguments.kubeconfig}});
    if (!confirmed(arguments, announcement(*real))) return 0;
  }
  const kube::SignalStop stop = kube::stop_on_signals();
  const std::unique_ptr<Cluster> cluster =
      real ? make_real_cluster(*real, stop) : make_simulated_cluster();
  int failures = 0;
  std::string summary;
  std::exception_ptr failure;
  try {
    Demo demo{arguments, mode, *cluster};
    failures = demo.run(stop);
    summary = demo.summary();
  } catch (...) {
    failure = std::current_exception();  // the created objects must be deleted in any case
  }
  if (real) print_line("deleting what was created; Ctrl-C would leave it behind");
  fmt::print("{}   {}\n", summary, cluster->clean_up());
  if (failure) std::rethrow_exception(failure);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  try {
    demo::Arguments arguments;
    CLI::App app{"Shows the sample controller at work while things happen to its objects."};
    demo::add_options(app, arguments);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? 0 : 2;
    }
    return demo::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo: %s\n", error.what());
    return 1;
  }
}

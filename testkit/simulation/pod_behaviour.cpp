// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/pod_behaviour.hpp"

#include <kube/api/time_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kube::testkit::detail {
namespace {

void read_duration(const core::v1::Pod& pod, std::string_view annotation,
                   std::chrono::nanoseconds& duration, std::string& problem) {
  const String* text = pod.metadata.annotations.find(annotation);
  if (text == nullptr) return;
  const auto length = time_text::parse_duration(text->view());
  if (length && *length >= 0) {
    duration = std::chrono::nanoseconds{*length};
  } else {
    problem = fmt::format("annotation {}: \"{}\" is no duration such as \"90s\"", annotation,
                          text->view());
  }
}

}  // namespace

PodBehaviour behaviour_of(const core::v1::Pod& pod) {
  using Outcome = PodBehaviour::Outcome;
  static constexpr std::array<std::pair<std::string_view, Outcome>, 5> kOutcomes{
      {{"pending", Outcome::kPending},
       {"unready", Outcome::kUnready},
       {"running", Outcome::kRunning},
       {"succeeded", Outcome::kSucceeded},
       {"failed", Outcome::kFailed}}};
  const auto& annotations = pod.metadata.annotations;
  PodBehaviour behaviour;
  const bool restarts = pod.spec.restart_policy.empty() || pod.spec.restart_policy == "Always";
  behaviour.outcome = restarts ? Outcome::kRunning : Outcome::kSucceeded;
  if (const String* text = annotations.find(kOutcomeAnnotation)) {
    const auto found =
        std::ranges::find(kOutcomes, text->view(), &std::pair<std::string_view, Outcome>::first);
    if (found == kOutcomes.end()) {
      behaviour.problem = fmt::format(
          "annotation {}: \"{}\" is none of pending, unready, running, succeeded, failed",
          kOutcomeAnnotation, text->view());
    } else {
      behaviour.outcome = found->second;
    }
  }
  read_duration(pod, kAfterAnnotation, behaviour.after, behaviour.problem);
  read_duration(pod, kStopAfterAnnotation, behaviour.stop_after, behaviour.problem);
  return behaviour;
}

}  // namespace kube::testkit::detail

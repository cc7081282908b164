// SPDX-License-Identifier: Apache-2.0
#include "manifest_plan.hpp"
#include "object_state.hpp"

#include "base/deadline.hpp"
#include <kube/client/manifest.hpp>
#include <kube/client/wait.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace kube {

namespace {

using detail::PlannedObject;

/// Waits for objects of one manifest, with one deadline for all.
class ManifestWait {
 public:
  ManifestWait(const Client& client, const ManifestWaitOptions& options, std::stop_token stop)
      : client_(client),
        options_(options),
        stop_(std::move(stop)),
        clock_(*client.options().clock),
        deadline_(detail::time_after(clock_, options.timeout)) {}

  /// Returns why the object is not ready; an empty text if it is.
  std::string wait(const PlannedObject& planned) {
    const Resource<Value> resource = planned.resource(client_);
    std::string problem = "does not exist";
    const auto is_ready = [&](const Value& object) {
      problem = check(planned, object);
      return problem.empty();
    };
    const Clock::Duration left = deadline_ - clock_.now();
    try {
      if (left > Clock::Duration::zero()) {
        wait_until(resource, planned.key.name, is_ready, left, stop_);
      } else if (const Ref<Value> object = resource.find(planned.key.name, {}, stop_)) {
        (void)is_ready(*object);
      }
    } catch (const WaitTimeoutError&) {
      // `problem` has the reason.
    } catch (const ApiError& error) {
      return error.what();
    }
    return problem;
  }

 private:
  [[nodiscard]] std::string check(const PlannedObject& planned, const Value& object) const {
    const auto condition = options_.conditions.find(planned.mapping.kind.group_kind());
    if (condition == options_.conditions.end()) return detail::why_not_ready(object);
    const detail::WantedCondition wanted{condition->second};
    return wanted.is_met_by(object)
               ? std::string{}
               : wanted.text() + " is missing: " + detail::describe_state(object);
  }

  const Client& client_;
  const ManifestWaitOptions& options_;
  const std::stop_token stop_;
  Clock& clock_;
  const Clock::TimePoint deadline_;
};

}  // namespace

void wait_for_manifest(const Client& client, const Manifest& manifest,
                       const ManifestWaitOptions& options, std::stop_token stop) {
  RestMapper mapper{client};
  const auto plan = detail::make_plan(client, mapper, manifest, options.namespace_,
                                      detail::UnknownKind::kRefuse, stop);
  ManifestWait wait{client, options, stop};
  std::vector<ManifestResult> results = detail::untried(plan);
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    results[i].action = ManifestAction::kUnchanged;
    results[i].problem = wait.wait(plan[i]);
    if (results[i].problem.empty()) continue;
    results[i].action = ManifestAction::kFailed;
    problems.push_back(detail::describe_object(results[i].place, results[i].kind, results[i].key) +
                       results[i].problem);
  }
  if (problems.empty()) return;
  throw ManifestError(
      fmt::format("{} of {} objects are not ready after {:g} s: {}", problems.size(), plan.size(),
                  std::chrono::duration<double>{options.timeout}.count(),
                  detail::join_problems(problems)),
      std::move(results));
}

}  // namespace kube

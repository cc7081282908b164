// SPDX-License-Identifier: Apache-2.0
#include "manifest_delete.hpp"

#include "manifest_plan.hpp"

#include "base/deadline.hpp"
#include <kube/api/errors.hpp>
#include <kube/client/manifest.hpp>
#include <kube/client/wait.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kube {

namespace {

using detail::PlannedObject;
using Metadata = Resource<meta::v1::PartialObjectMetadata>;

/// Deletes the objects of a plan, and waits until they are gone.
class Deleter {
 public:
  Deleter(const Client& client, const ManifestDeleteOptions& options, std::stop_token stop)
      : client_(client),
        options_(options),
        stop_(std::move(stop)),
        clock_(*client.options().clock),
        deadline_(detail::time_after(clock_, options.wait)) {}

  std::vector<ManifestResult> run(const std::vector<PlannedObject>& plan) {
    std::vector<ManifestResult> results = detail::untried(plan);
    std::size_t gone = 0;  // the objects before this one are not waited for any more
    for (std::size_t i = 0; i < plan.size() && !stop_.stop_requested(); ++i) {
      // Without its definition, an object could neither be watched nor lose its finalizers.
      if (plan[i].is_definition() && !wait_for_absence(plan, results, gone, i)) return results;
      if (!detail::attempt(results[i], [&] { remove(plan[i], results[i]); })) return results;
    }
    (void)wait_for_absence(plan, results, gone, plan.size());
    return results;
  }

 private:
  [[nodiscard]] Metadata metadata_of(const PlannedObject& planned) const {
    return client_.metadata(planned.mapping.resource, planned.key.namespace_);
  }

  void remove(const PlannedObject& planned, ManifestResult& result) {
    result.action = ManifestAction::kAbsent;
    if (!planned.is_served) return;
    const Metadata resource = metadata_of(planned);
    const auto found = resource.find(planned.key.name, {}, stop_);
    const DeleteOptions request{.propagation_policy = options_.propagation_policy,
                                .dry_run = options_.dry_run};
    if (!found || !detail::request_deletion(resource, planned.key.name, request, stop_)) return;
    result.action = ManifestAction::kDeleted;
    uids_[planned.from] = found->metadata.uid.str();
  }

  /// Waits for the objects from `gone` to `end`. Returns false if one of them is not gone in time.
  bool wait_for_absence(const std::vector<PlannedObject>& plan,
                        std::vector<ManifestResult>& results, std::size_t& gone, std::size_t end) {
    if (options_.wait <= Clock::Duration::zero() || options_.dry_run) return true;
    bool all_gone = true;
    for (bool go_on = true; gone < end && go_on; ++gone) {
      ManifestResult& result = results[gone];
      if (result.action != ManifestAction::kDeleted) continue;
      go_on = detail::attempt(result, [&] { wait_for_absence(plan[gone]); });
      if (result.action != ManifestAction::kFailed) continue;
      result.problem = "deletion was requested, but is not complete: " + result.problem;
      all_gone = false;
    }
    return all_gone;
  }

  void wait_for_absence(const PlannedObject& planned) {
    const Metadata resource = metadata_of(planned);
    const std::string& uid = uids_[planned.from];
    const Clock::Duration left = deadline_ - clock_.now();
    if (left > Clock::Duration::zero()) {
      wait_for_deletion(resource, planned.key.name, left, uid, stop_);
    } else if (const auto found = resource.find(planned.key.name, {}, stop_);
               found && found->metadata.uid == uid) {
      throw Error("it still exists");
    }
  }

  const Client& client_;
  const ManifestDeleteOptions& options_;
  const std::stop_token stop_;
  Clock& clock_;
  const Clock::TimePoint deadline_;
  std::map<const ManifestObject*, std::string> uids_;
};

}  // namespace

bool detail::request_deletion(const Metadata& resource, std::string_view name,
                              const DeleteOptions& options, std::stop_token stop) {
  try {
    resource.delete_(name, options, std::move(stop));
    return true;
  } catch (const ApiError& error) {
    if (is_not_found(error) || (is_conflict(error) && !options.uid.empty())) return false;
    throw;
  }
}

std::vector<ManifestResult> delete_manifest(const Client& client, const Manifest& manifest,
                                            const ManifestDeleteOptions& options,
                                            std::stop_token stop) {
  RestMapper mapper{client};
  auto plan = detail::make_plan(client, mapper, manifest, options.namespace_,
                                detail::UnknownKind::kAccept, stop);
  std::ranges::reverse(plan);
  std::vector<ManifestResult> results = Deleter{client, options, std::move(stop)}.run(plan);
  detail::throw_failures("deleting the manifest", results);
  return results;
}

}  // namespace kube

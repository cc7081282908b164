// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testkit/rest/rest.hpp"
#include "testkit/requests/services.hpp"

namespace kube::testkit::detail {

/// Deletes what nobody owns any more, as the deletion of the owner asked for it (DL-8).
/// Thread safety: none; belongs to the thread of the controllers.
class GarbageCollector {
 public:
  GarbageCollector(Services& services, Rest& rest) : services_(services), rest_(rest) {}

  /// Whether a write can be any of its business. Most updates are not.
  [[nodiscard]] static bool is_concerned(const StoreEvent& event);
  /// An object was written or is gone.
  void object_changed(Collection& collection, const StoreEvent& event);
  /// Forgets everything.
  void clear() {
    dependents_.clear();
    owners_.clear();
    waiting_.clear();
  }

 private:
  /// An object, by its collection and key.
  using Place = std::pair<Collection*, std::string>;
  enum class Owner { kPresent, kWaiting, kGone };

  void index(const Place& place, const std::vector<std::string>& owners);
  [[nodiscard]] ResourcePtr resource_of(const Collection& collection) const;
  [[nodiscard]] Owner state_of(const std::string& namespace_,
                               const meta::v1::OwnerReference& reference) const;
  /// Deletes a dependent whose owners are all gone, and drops references to those that are.
  void check_dependent(const Place& place);
  /// Whether something that `uid` owns waits for its own dependents: the owners may stand in a circle.
  [[nodiscard]] bool has_waiting_dependent(const std::string& uid) const;
  /// Lets no owner wait for this dependent.
  void unblock_owners(const Place& place);
  /// Goes on with an owner that waits for its dependents.
  void delete_in_foreground(const Place& place, const std::string& uid);
  void orphan_dependents(const Place& place, const std::string& uid);
  void remove_finalizer(const Place& place, std::string_view finalizer);

  Services& services_;
  Rest& rest_;
  std::map<std::string, std::set<Place>, std::less<>> dependents_;  // by uid of the owner
  std::map<Place, std::vector<std::string>> owners_;
  std::map<std::string, Place, std::less<>> waiting_;  // owners in foreground deletion, by uid
};

}  // namespace kube::testkit::detail

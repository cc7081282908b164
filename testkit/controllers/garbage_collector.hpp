// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Deletes objects without remaining owners, according to the propagation policy of the deletion
/// (DL-8).
///
/// Thread safety: none; used by the controllers' thread only.
class GarbageCollector {
 public:
  GarbageCollector(Services& services, Rest& rest) : services_(services), rest_(rest) {}

  /// Returns whether a write can affect garbage collection. Most updates cannot.
  [[nodiscard]] static bool is_concerned(const StoreEvent& event);
  /// Handles an object that was written or deleted.
  void object_changed(Collection& collection, const StoreEvent& event);
  /// Discards all state.
  void clear() {
    dependents_.clear();
    owners_.clear();
    waiting_.clear();
  }

 private:
  /// Identifies an object by collection and key.
  using Place = std::pair<Collection*, std::string>;
  enum class Owner { kPresent, kWaiting, kGone };

  void index(const Place& place, const std::vector<std::string>& owners);
  [[nodiscard]] ResourcePtr resource_of(const Collection& collection) const;
  [[nodiscard]] Owner state_of(const std::string& namespace_,
                               const meta::v1::OwnerReference& reference) const;
  /// Deletes a dependent without remaining owners; otherwise removes references to deleted owners.
  void check_dependent(const Place& place);
  /// Returns whether a dependent of `uid` is itself waiting for dependents: ownership may be
  /// circular.
  [[nodiscard]] bool has_waiting_dependent(const std::string& uid) const;
  /// Clears blockOwnerDeletion on the references of this dependent.
  void unblock_owners(const Place& place);
  /// Continues the foreground deletion of an owner.
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

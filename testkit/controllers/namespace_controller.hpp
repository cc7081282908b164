// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// Deletes the content of namespaces that are being deleted, then the namespaces (DL-10, DL-13).
///
/// Thread safety: none; used by the controllers' thread only.
class NamespaceController {
 public:
  NamespaceController(Services& services, Rest& rest)
      : services_(services),
        rest_(rest),
        namespaces_(services.store.collection({"", "namespaces"})) {}

  [[nodiscard]] bool is_concerned(const Collection& collection) const {
    return &collection == &namespaces_;
  }
  /// Handles an object that was written or deleted.
  void object_changed(const Collection& collection, const StoreEvent& event);
  /// Discards all state.
  void clear() { terminating_.clear(); }

 private:
  struct Remaining;

  /// Deletes the content of a namespace; finalizes the namespace when it is empty.
  void empty(const std::string& name);
  void delete_all(const Resource& resource, const std::string& namespace_, Remaining& remaining);
  /// Writes the conditions of a namespace that is not empty yet.
  void report(const std::string& name, const Remaining& remaining);
  void finalize(const std::string& name);

  Services& services_;
  Rest& rest_;
  Collection& namespaces_;
  std::set<std::string, std::less<>> terminating_;
};

}  // namespace kube::testkit::detail

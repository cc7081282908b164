// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peer.hpp"
#include "request.hpp"

#include <string>
#include <vector>

namespace kube::differential {

/// A difference between two answers to a request.
struct Difference {
  /// The location: "status", "content type", "body.spec.replicas".
  std::string place;
  std::string real;
  std::string ours;

  /// Formats "PLACE: REAL is OURS here".
  [[nodiscard]] std::string str() const;
};

/// Returns all differences between the answers of a real server and of ours. Nondeterministic
/// values (UIDs, versions, times, addresses, the wording of messages) are not compared, but their
/// presence is.
[[nodiscard]] std::vector<Difference> compare(const Request& request, const Peer& real_peer,
                                              const Answer& real, const Peer& our_peer,
                                              const Answer& ours);

}  // namespace kube::differential

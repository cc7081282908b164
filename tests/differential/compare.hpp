// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peer.hpp"
#include "request.hpp"

#include <string>
#include <vector>

namespace kube::differential {

/// One thing in which two answers to a request differ.
struct Difference {
  /// Where: "status", "content type", "body.spec.replicas".
  std::string place;
  std::string real;
  std::string ours;

  /// "PLACE: REAL is OURS here"
  [[nodiscard]] std::string str() const;
};

/// All differences between answers of a real server and of ours. What chance decides (uids, versions, times,
/// addresses, the words of messages) is no difference, but whether it is there is one.
[[nodiscard]] std::vector<Difference> compare(const Request& request, const Peer& real_peer,
                                              const Answer& real, const Peer& our_peer,
                                              const Answer& ours);

}  // namespace kube::differential

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kube::chaos {

/// Names shared by the agents and the chaos program.
inline constexpr const char* kSourceNamespace = "chaos-source";
inline constexpr const char* kCopyNamespace = "chaos-copy";
inline constexpr const char* kLeaseName = "chaos-agents";

struct AgentOptions {
  std::string kubeconfig;
  std::string name;
};

/// Runs an agent under test: informers of all config maps, of those with a label, and of their
/// metadata; and a controller with leader election that maintains a copy of each source. Reads
/// commands from standard input, one per line, and answers each with one line of JSON:
///   report   content of the caches, and statistics so far
///   jump N   the wall time jumps by N seconds
///   stop     ends; the answer is the last report
int run_agent(const AgentOptions& options);

}  // namespace kube::chaos

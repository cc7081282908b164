// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kube::chaos {

/// Names that agents and the program that plagues them have in common.
inline constexpr const char* kSourceNamespace = "chaos-source";
inline constexpr const char* kCopyNamespace = "chaos-copy";
inline constexpr const char* kLeaseName = "chaos-agents";

struct AgentOptions {
  std::string kubeconfig;
  std::string name;
};

/// What the plagued run: informers of all config maps, of those with a label, and of their metadata; and a
/// controller, led by one of all agents, that keeps a copy of each source. Reads commands from standard input,
/// one per line, and answers each with one line of JSON:
///   report   what the caches hold, and what happened so far
///   jump N   the time of day leaps by N seconds
///   stop     ends; the answer is the last report
int run_agent(const AgentOptions& options);

}  // namespace kube::chaos

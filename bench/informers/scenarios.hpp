// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rig.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

/// The measured scenarios, each run in a separate process. They print one "name value" per line,
/// and throw on errors. Times are CPU time in us, memory is in MB (of a million bytes). `pods` is
/// the number of pods on the server.
namespace kube::bench {

void report(std::string_view name, double value);
/// The value below which `part` of them are.
[[nodiscard]] double quantile(std::vector<double> values, double part);

/// Reads the bytes of the initial state, and of the same number of updates, with the transport
/// alone.
void transport(const Server& server, std::size_t pods);
/// Syncs an informer.
void sync(const Server& server, std::size_t pods, bool watch_list);
/// Receives updates of random pods; optionally with a reader that lists all the time.
void storm(const Server& server, std::size_t pods, bool with_reader);
/// The version expires on the server without any change: relists.
void relist(const Server& server, std::size_t pods, bool watch_list);
/// Reads from the cache.
void reads(const Server& server, std::size_t pods);
/// Receives a storm of updates while the handler is blocked.
void stall(const Server& server, std::size_t pods);
/// From the server's write of an event to the call of the handler; events come one at a time.
void delivery(const Server& server, Delivery how);

// Against the in-process API server:

/// Measures from a write to the call of the handler; with realistic or small pods.
void latency(const Server& server, bool small);
/// Runs idle dynamic informers, with a handler each.
void idle(const Server& server, int informers);

}  // namespace kube::bench

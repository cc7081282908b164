// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rig.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

/// What is measured, each in a process of its own. They print one "name value" per line, and throw what goes
/// wrong. Times are CPU time in us, memory is in MB (of a million bytes). `pods` is how many the server has.
namespace kube::bench {

void report(std::string_view name, double value);
/// The value below which `part` of them are.
[[nodiscard]] double quantile(std::vector<double> values, double part);

/// Reads the bytes of the initial state, and of as many updates, with the transport alone.
void transport(const Server& server, std::size_t pods);
/// Gets the initial state with an informer.
void sync(const Server& server, std::size_t pods, bool watch_list);
/// Updates of random pods, without end in sight; if asked to, with a reader that lists all the time.
void storm(const Server& server, std::size_t pods, bool with_reader);
/// The server forgets the version; nothing has changed.
void relist(const Server& server, std::size_t pods, bool watch_list);
/// Reading from the cache.
void reads(const Server& server, std::size_t pods);
/// A storm of updates for a handler that does not return.
void stall(const Server& server, std::size_t pods);
/// From the server's write of an event to the call of the handler; events come one at a time.
void delivery(const Server& server);

// Against the in-process API server:

/// From a write to the call of the handler; of pods as they are, or of small ones.
void latency(const Server& server, bool small);
/// Dynamic informers to which nothing happens, with a handler each.
void idle(const Server& server, int informers);

}  // namespace kube::bench

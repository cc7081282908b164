// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::bench {

/// CPU time of this process, CPU time of this thread, and wall-clock time; in seconds.
[[nodiscard]] double process_cpu();
[[nodiscard]] double thread_cpu();
[[nodiscard]] double now();

/// Resident memory of this process in MB (of a million bytes).
[[nodiscard]] double resident();
/// Peak resident memory since the start, or since forget_peak().
[[nodiscard]] double peak();
void forget_peak();

[[nodiscard]] int threads();
/// Number of voluntary context switches of this process so far.
[[nodiscard]] long sleeps();

}  // namespace kube::bench

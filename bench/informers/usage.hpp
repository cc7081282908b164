// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::bench {

/// CPU time of this process, of this thread alone, and what the clock says; in seconds.
[[nodiscard]] double process_cpu();
[[nodiscard]] double thread_cpu();
[[nodiscard]] double now();

/// Resident memory of this process in MB (of a million bytes).
[[nodiscard]] double resident();
/// The most it ever was since the start, or since forget_peak().
[[nodiscard]] double peak();
void forget_peak();

[[nodiscard]] int threads();
/// How often a thread of this process went to sleep, so far.
[[nodiscard]] long sleeps();

}  // namespace kube::bench

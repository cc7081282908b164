// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testkit/faults/timers.hpp"
#include "testkit/http/service.hpp"

#include <kube/testkit/faults.hpp>

#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <vector>

namespace kube::testkit::detail {

struct Fault {
  enum class Kind {
    kRespond,
    kDelay,
    kBreakBeforeHead,
    kLoseAnswer,
    kSilent,
    // The following kinds apply to the body.
    kBreakAfterBytes,
    kSilentAfter,
    kDropAfter,
    kEndAfter,
    kDropAtRevision,
    kTruncate,
    kCorrupt,
    kWithholdBookmarks,
    kWithholdInitialEnd,
    kDrip,
    kSlow,
  };
  Kind kind = Kind::kRespond;
  /// Events, frames or bytes, depending on the kind.
  std::size_t count = 0;
  std::uint64_t revision = 0;
  Clock::Duration time{};
  /// For kRespond.
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

struct FaultRule {
  RequestFilter filter = {};
  /// The number of requests that the fault still applies to; negative means all.
  int left = -1;
  int skip = 0;
  double probability = 1;
  Fault fault = {};
};

/// The faults that apply to one request.
using FaultPlan = std::vector<Fault>;

[[nodiscard]] const Fault* find_fault(const FaultPlan& plan, Fault::Kind kind) noexcept;

/// The installed faults. Thread safety: all methods, from any thread.
class FaultTable {
 public:
  struct Hooks {
    std::function<void()> expire_history;
    std::function<void()> drop_connections;
  };

  FaultTable(std::uint64_t seed, Hooks hooks) : hooks_(std::move(hooks)), random_(seed) {}

  void add(FaultRule rule);
  void clear();
  /// Decides which faults apply to a request, and counts it.
  [[nodiscard]] FaultPlan plan(const RequestInfo& request);
  [[nodiscard]] std::uint64_t struck() const;
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] const Hooks& hooks() const noexcept { return hooks_; }

 private:
  const Hooks hooks_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::mt19937_64 random_;
  std::list<FaultRule> rules_;
  std::uint64_t struck_ = 0;
};

/// Creates the response of kRespond.
[[nodiscard]] Reply injected_reply(const Fault& fault);
/// Applies the faults of `plan` to the body of `reply`, which is complete or `stream`.
void damage(Reply& reply, std::unique_ptr<BodyStream> stream, const FaultPlan& plan,
            Timers& timers);

}  // namespace kube::testkit::detail

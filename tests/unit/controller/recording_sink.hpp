// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/errors.hpp>
#include <kube/controller/event_sink.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kube {

/// Keeps the events it receives. A test may make calls fail by throwing from `fault`.
template <typename Event>
class RecordingSink final : public EventSinkFor<Event> {
 public:
  struct Call {
    Event event;
    std::string patch;  // empty: created
  };

  Event create(const Event& event, std::stop_token stop) override { return take(event, "", stop); }
  Event patch(const Event& event, const std::string& patch, std::stop_token stop) override {
    return take(event, patch, stop);
  }
  void set_fault(std::function<void(const Call&, std::stop_token)> fault) {
    const std::lock_guard guard{mutex_};
    fault_ = std::move(fault);
  }
  std::vector<Call> calls() {
    const std::lock_guard guard{mutex_};
    return calls_;
  }
  std::size_t attempts() {
    const std::lock_guard guard{mutex_};
    return attempts_;
  }

 private:
  Event take(const Event& event, const std::string& patch, std::stop_token stop) {
    std::function<void(const Call&, std::stop_token)> fault;
    {
      const std::lock_guard guard{mutex_};
      ++attempts_;
      fault = fault_;
    }
    if (fault) fault({event, patch}, stop);
    const std::lock_guard guard{mutex_};
    calls_.push_back({event, patch});
    return event;
  }

  std::mutex mutex_;
  // Guarded by mutex_:
  std::function<void(const Call&, std::stop_token)> fault_;
  std::vector<Call> calls_;
  std::size_t attempts_ = 0;
};

inline core::v1::ObjectReference pod_reference(std::string_view name = "web-0") {
  return {.kind = "Pod", .namespace_ = "team-a", .name = name, .uid = "u-1", .api_version = "v1"};
}

}  // namespace kube

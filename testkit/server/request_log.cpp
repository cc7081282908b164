// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/request_log.hpp>

#include <algorithm>
#include <utility>

namespace kube::testkit {

bool RequestFilter::matches(const RequestInfo& request) const {
  const auto same = [](const std::string& wanted, const std::string& found) {
    return wanted.empty() || wanted == found;
  };
  return same(verb, request.verb) && same(group, request.group) &&
         same(resource, request.resource) && same(subresource, request.subresource) &&
         same(namespace_, request.namespace_) && same(name, request.name) &&
         same(user, request.user) && request.user_agent.starts_with(user_agent) &&
         request.path.starts_with(path);
}

void RequestLog::add(LoggedRequest request) {
  const std::lock_guard guard{mutex_};
  ++total_;
  entries_.push_back(std::move(request));
  if (entries_.size() > capacity_) entries_.pop_front();
  changed_.notify_all();
}

std::vector<LoggedRequest> RequestLog::entries(const RequestFilter& filter) const {
  const std::lock_guard guard{mutex_};
  std::vector<LoggedRequest> found;
  std::ranges::copy_if(entries_, std::back_inserter(found),
                       [&](const LoggedRequest& entry) { return filter.matches(entry.info); });
  return found;
}

std::size_t RequestLog::count_locked(const RequestFilter& filter) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [&](const LoggedRequest& entry) { return filter.matches(entry.info); }));
}

std::size_t RequestLog::count(const RequestFilter& filter) const {
  const std::lock_guard guard{mutex_};
  return count_locked(filter);
}

std::uint64_t RequestLog::total() const {
  const std::lock_guard guard{mutex_};
  return total_;
}

bool RequestLog::wait_for(const RequestFilter& filter, std::size_t count,
                          std::chrono::milliseconds limit) const {
  std::unique_lock lock{mutex_};
  return changed_.wait_for(lock, limit, [&] { return count_locked(filter) >= count; });
}

void RequestLog::clear() {
  const std::lock_guard guard{mutex_};
  entries_.clear();
  total_ = 0;
}

}  // namespace kube::testkit

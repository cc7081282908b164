// SPDX-License-Identifier: Apache-2.0
#include <kube/controller/event_source.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>

namespace kube::detail {
namespace {

constexpr std::size_t kMaxWaiting = 1024;

}  // namespace

std::string describe(const WatchedKind& kind) {
  return to_string(kind.names.resource.group_version().with_kind(kind.names.kind));
}

void check_kind(const ResourceKind& names) {
  if (names.resource.resource.empty() || names.resource.version.empty() || names.kind.empty()) {
    throw std::invalid_argument(
        "objects without a type of their own need the names of their kind: resource, version and "
        "kind");
  }
}

std::vector<kube::Request> requests_of(const ObjectEvent& event, const EventMapper& map) {
  if (!map) return {{event.key}};
  std::vector<kube::Request> found;
  if (event.before) map(event.before, event.what, found);
  if (event.object) map(event.object, event.what, found);
  std::vector<kube::Request> requests;
  for (kube::Request& request : found) {
    if (std::ranges::find(requests, request) == requests.end()) {
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

EventMapper owners_of_kind(const WatchedKind& dependent, const ResourceKind& owner,
                           bool every_owner) {
  return [metadata = dependent.metadata, owner, every_owner](const ObjectRef& object,
                                                             const ObjectChange& /*what*/,
                                                             std::vector<kube::Request>& requests) {
    const Ref<meta::v1::ObjectMeta> of = metadata(object);
    for (const meta::v1::OwnerReference& reference : of->owner_references) {
      if (!every_owner && !reference.controller.value_or(false)) continue;
      const std::string_view version = reference.api_version.view();
      const std::size_t slash = version.find('/');
      const std::string_view group =
          slash == std::string_view::npos ? std::string_view{} : version.substr(0, slash);
      if (group != owner.resource.group || reference.kind != owner.kind) continue;
      requests.push_back(
          {{owner.namespaced ? of->namespace_.str() : std::string{}, reference.name.str()}});
    }
  };
}

struct EventChannelCore::State {
  std::mutex mutex;
  // Guarded by mutex:
  std::map<std::uint64_t, std::shared_ptr<const Receive>> receivers;
  std::uint64_t next = 0;
  std::deque<ObjectRef> waiting;  // until the first receiver connects
};

EventChannelCore::EventChannelCore() : state_(std::make_shared<State>()) {}
EventChannelCore::~EventChannelCore() = default;

bool EventChannelCore::send(const ObjectRef& object) {
  std::vector<std::shared_ptr<const Receive>> receivers;
  {
    const std::lock_guard guard{state_->mutex};
    if (state_->receivers.empty()) {
      if (state_->waiting.size() >= kMaxWaiting) return false;
      state_->waiting.push_back(object);
      return true;
    }
    for (const auto& [number, receiver] : state_->receivers) receivers.push_back(receiver);
  }
  for (const auto& receiver : receivers) (*receiver)(object);
  return true;
}

std::shared_ptr<const void> EventChannelCore::connect(Receive receive) {
  auto receiver = std::make_shared<const Receive>(std::move(receive));
  std::deque<ObjectRef> waiting;
  std::uint64_t number = 0;
  {
    const std::lock_guard guard{state_->mutex};
    number = state_->next++;
    state_->receivers.emplace(number, receiver);
    waiting.swap(state_->waiting);
  }
  for (const ObjectRef& object : waiting) (*receiver)(object);
  return {receiver.get(), [number, state = state_](const void*) {
            const std::lock_guard guard{state->mutex};
            state->receivers.erase(number);
          }};
}

}  // namespace kube::detail

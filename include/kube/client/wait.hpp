// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/clock.hpp>
#include <kube/base/error.hpp>
#include <kube/base/inside.hpp>
#include <kube/client/async_verbs.hpp>
#include <kube/client/object_fields.hpp>
#include <kube/client/resource.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/client/retry_watch.hpp>
#include <kube/codec/json.hpp>
#include <kube/engine/task.hpp>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

/// Waits until an object has a certain state.
///
///   const auto web = client.apps().v1().deployments("shop");
///   kube::wait_for_condition(web, "web", "Available", 2min);
///
/// A wait lists the object and then watches it. It begins again after a watch that ends or expires
/// (410), a server that restarts, and errors that may pass. An object, or a kind, that does not
/// exist yet is waited for. The resource must have a namespace if its kind is namespaced.
///
/// All functions throw:
///   WaitTimeoutError   the state was not seen within the timeout
///   ApiError           the server refuses the request (400, 401, 403, 405, 422)
///   TransportError     kCanceled after a stop
///   std::invalid_argument   an argument is invalid: an empty name, a missing namespace
/// and what a predicate throws. Times are those of the client's clock.
///
/// The functions with the suffix `_async` are for coroutines; see AsyncVerbs. Their timeout begins
/// when the Task is awaited or spawned, and predicates are called on its queue.
namespace kube {

/// Thrown when a wait takes too long. The message names the object, the awaited state and the last
/// state that was seen.
class WaitTimeoutError : public Error {
 public:
  WaitTimeoutError(const std::string& message, std::string last_state)
      : Error(message), last_state_(std::move(last_state)) {}

  /// Phase and conditions of the object: "phase Pending; Ready=False (ContainersNotReady)", "does
  /// not exist". Never contains other fields, such as the data of a Secret.
  [[nodiscard]] const std::string& last_state() const noexcept { return last_state_; }

 private:
  std::string last_state_;
};

namespace detail {

/// A wait without the type of the object.
struct WaitRequest {
  std::string name = {};
  /// The awaited state, for messages: "condition Ready=True".
  std::string awaited = {};
  Clock::Duration timeout{};
  /// Called with each state of the object; null while it does not exist.
  std::function<bool(const AnyRef& object)> is_done = nullptr;
  RetryWatchCore::VersionOf version_of = nullptr;
  Ref<Value> (*document_of)(const AnyRef& object) = nullptr;
};

AnyRef wait(const ResourceCore& resource, WaitRequest request, std::stop_token stop);
[[nodiscard]] Await<AnyRef> wait_async(const ResourceCore& resource, WaitRequest request,
                                       std::stop_token stop);

template <typename T>
[[nodiscard]] Ref<Value> document_of(const AnyRef& object) {
  if constexpr (std::same_as<T, Value>) {
    return cast<Value>(object);
  } else {
    return kube::decode_json<Value>(kube::encode_json(*cast<T>(object)));
  }
}

template <typename T>
[[nodiscard]] std::string_view uid_of(const T& object) {
  if constexpr (std::same_as<T, Value>) {
    const Value& uid = object["metadata"]["uid"];
    return uid.is_string() ? uid.as_string() : std::string_view{};
  } else {
    return object.metadata.uid.view();
  }
}

template <typename T>
[[nodiscard]] WaitRequest wait_request(std::string_view name, std::string awaited,
                                       Clock::Duration timeout,
                                       std::function<bool(const AnyRef& object)> is_done) {
  return {.name = std::string{name},
          .awaited = std::move(awaited),
          .timeout = timeout,
          .is_done = std::move(is_done),
          .version_of = &version_of<T>,
          .document_of = &document_of<T>};
}

template <typename T, typename Predicate>
[[nodiscard]] WaitRequest wait_for_state(std::string_view name, Predicate predicate,
                                         Clock::Duration timeout) {
  return wait_request<T>(name, "the awaited state", timeout,
                         [predicate = std::move(predicate)](const AnyRef& object) mutable {
                           return object && predicate(*cast<T>(object));
                         });
}

/// A condition of an object, and the status that it should have.
struct WantedCondition {
  /// Parses "Ready" or "Ready=False". Throws std::invalid_argument if the type or the status is
  /// empty.
  explicit WantedCondition(std::string_view text);

  /// True if the object has the condition with that status, computed for its current generation.
  [[nodiscard]] bool is_met_by(const Value& object) const;
  [[nodiscard]] std::string text() const { return "condition " + type + '=' + status; }

  std::string type;
  std::string status;
};

template <typename T>
[[nodiscard]] WaitRequest wait_for_wanted(std::string_view name, std::string_view condition,
                                          Clock::Duration timeout) {
  WantedCondition wanted{condition};
  std::string awaited = wanted.text();
  return wait_request<T>(name, std::move(awaited), timeout,
                         [wanted = std::move(wanted)](const AnyRef& object) {
                           return object && wanted.is_met_by(*document_of<T>(object));
                         });
}

template <typename T>
[[nodiscard]] WaitRequest wait_for_absence(std::string_view name, std::string_view uid,
                                           Clock::Duration timeout) {
  return wait_request<T>(name, "the deletion", timeout,
                         [uid = std::string{uid}](const AnyRef& object) mutable {
                           if (!object) return true;
                           const std::string_view found = uid_of(*cast<T>(object));
                           if (uid.empty()) uid = found;
                           return found != uid;  // another object has taken the name
                         });
}

}  // namespace detail

/// Waits until `predicate(const T&)` is true and returns the object in that state. The predicate is
/// not called while the object does not exist.
template <typename T, std::predicate<const T&> Predicate>
Ref<T> wait_until(const Resource<T>& resource, std::string_view name, Predicate predicate,
                  Clock::Duration timeout, std::stop_token stop = {}) {
  return detail::cast<T>(detail::wait(
      detail::Inside::core(resource),
      detail::wait_for_state<T>(name, std::move(predicate), timeout), std::move(stop)));
}
/// See wait_until().
template <typename T, std::predicate<const T&> Predicate>
[[nodiscard]] Task<Ref<T>> wait_until_async(const Resource<T>& resource, std::string_view name,
                                            Predicate predicate, Clock::Duration timeout,
                                            std::stop_token stop = {}) {
  return detail::object_task<T>(detail::wait_async(
      detail::Inside::core(resource),
      detail::wait_for_state<T>(name, std::move(predicate), timeout), std::move(stop)));
}

/// Waits until a condition has a status: "Available" waits for True, "Available=False" for False.
/// A condition that was computed for an older generation of the object does not count
/// (observedGeneration of the condition or else of the status). Returns the object.
template <detail::Writable T>
Ref<T> wait_for_condition(const Resource<T>& resource, std::string_view name,
                          std::string_view condition, Clock::Duration timeout,
                          std::stop_token stop = {}) {
  return detail::cast<T>(detail::wait(detail::Inside::core(resource),
                                      detail::wait_for_wanted<T>(name, condition, timeout),
                                      std::move(stop)));
}
/// See wait_for_condition().
template <detail::Writable T>
[[nodiscard]] Task<Ref<T>> wait_for_condition_async(const Resource<T>& resource,
                                                    std::string_view name,
                                                    std::string_view condition,
                                                    Clock::Duration timeout,
                                                    std::stop_token stop = {}) {
  return detail::object_task<T>(
      detail::wait_async(detail::Inside::core(resource),
                         detail::wait_for_wanted<T>(name, condition, timeout), std::move(stop)));
}

/// Waits until the object does not exist, or another object has its name. `uid` is that of the
/// object; if empty, that of the first object seen. Requests no deletion.
template <typename T>
void wait_for_deletion(const Resource<T>& resource, std::string_view name, Clock::Duration timeout,
                       std::string_view uid = {}, std::stop_token stop = {}) {
  detail::wait(detail::Inside::core(resource), detail::wait_for_absence<T>(name, uid, timeout),
               std::move(stop));
}
/// See wait_for_deletion().
template <typename T>
[[nodiscard]] Task<void> wait_for_deletion_async(const Resource<T>& resource, std::string_view name,
                                                 Clock::Duration timeout, std::string_view uid = {},
                                                 std::stop_token stop = {}) {
  return detail::success_task(detail::wait_async(detail::Inside::core(resource),
                                                 detail::wait_for_absence<T>(name, uid, timeout),
                                                 std::move(stop)));
}

}  // namespace kube

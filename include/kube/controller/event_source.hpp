// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/inside.hpp>
#include <kube/controller/predicates.hpp>
#include <kube/controller/reconcile.hpp>
#include <kube/controller/watched_kind.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kube {

/// Describes the change of an object, for map functions that need it.
struct ObjectChange {
  /// The kind of change.
  enum class Kind {
    kCreate,
    kUpdate,
    kDelete,
    kGeneric,  ///< an event from outside the cluster; see EventChannel
  };
  Kind kind = Kind::kGeneric;
  /// for a creation: the object existed before the controller started
  bool in_initial_list = false;
  bool final_state_known =
      true;  ///< for a deletion: false if it was not observed, and the object is an older state
};

/// Settings of the watch of one kind of object.
template <typename T>
struct WatchOptions {
  std::vector<Predicate<T>> predicates{};  ///< an event must pass all of them
  ResourceKind kind{};       ///< required if T is Value or meta::v1::PartialObjectMetadata
  bool every_owner = false;  ///< for owns(): enqueues all owners, not only the controlling one
};

namespace detail {

/// A type-erased event of a source.
struct ObjectEvent {
  ObjectChange what;
  ObjectRef before;  ///< for an update
  ObjectRef object;  ///< null for a deletion with only a key
  ObjectKey key;
};
using EventFilter = std::function<bool(const ObjectEvent& event)>;
/// Adds the requests for an object to `requests`. Called for both states of an updated object.
using EventMapper = std::function<void(const ObjectRef& object, const ObjectChange& what,
                                       std::vector<kube::Request>& requests)>;

/// Returns the requests for an event, without duplicates. With an empty mapper: the object itself.
[[nodiscard]] std::vector<kube::Request> requests_of(const ObjectEvent& event,
                                                     const EventMapper& map);
/// Returns a mapper to the owners of an object that have the group and kind of `owner`.
[[nodiscard]] EventMapper owners_of_kind(const WatchedKind& dependent, const ResourceKind& owner,
                                         bool every_owner);

/// Adapts a typed predicate. `view(const ObjectRef&)` returns a pointer-like object that
/// dereferences to T.
template <typename T, typename View>
[[nodiscard]] EventFilter erase_predicate(Predicate<T> predicate, View view) {
  return [predicate = std::move(predicate), view](const ObjectEvent& event) {
    if (!event.object) return true;  // no object to evaluate
    const auto now = view(event.object);
    switch (event.what.kind) {
      case ObjectChange::Kind::kCreate:
        return predicate.create(*now);
      case ObjectChange::Kind::kUpdate:
        return predicate.update(*view(event.before), *now);
      case ObjectChange::Kind::kDelete:
        return predicate.remove(*now);
      default:
        return predicate.generic(*now);
    }
  };
}
template <typename T>
[[nodiscard]] std::vector<EventFilter> erase_predicates(std::vector<Predicate<T>> predicates) {
  std::vector<EventFilter> filters;
  filters.reserve(predicates.size());
  for (Predicate<T>& predicate : predicates) {
    filters.push_back(erase_predicate(
        std::move(predicate), [](const ObjectRef& object) { return &object.template as<T>(); }));
  }
  return filters;
}
/// Any container of requests.
template <typename Requests>
concept RequestRange = requires(const Requests& requests) {
  { *requests.begin() } -> std::convertible_to<kube::Request>;
  requests.end();
};
template <typename Map, typename... Arguments>
concept MapsFrom = requires(const Map& map, const Arguments&... arguments) {
  { map(arguments...) } -> RequestRange;
};
/// Adapts a map function. It takes an object, or an object and an ObjectChange, and returns
/// requests.
template <typename T, typename Map>
[[nodiscard]] EventMapper erase_map(Map map) {
  if constexpr (!MapsFrom<Map, T, ObjectChange> && !MapsFrom<Map, T>) {
    static_assert(
        MapsFrom<Map, T>,
        "a map function takes (const T& object) or (const T& object, const "
        "kube::ObjectChange& change), is const, and returns std::vector<kube::Request>; T is "
        "the type that is watched");
    return nullptr;
  } else {
    return [map = std::move(map)](const ObjectRef& object, const ObjectChange& what,
                                  std::vector<kube::Request>& requests) {
      const T& typed = object.template as<T>();
      const auto found = [&] {
        if constexpr (MapsFrom<Map, T, ObjectChange>) {
          return map(typed, what);
        } else {
          return map(typed);
        }
      }();
      requests.insert(requests.end(), found.begin(), found.end());
    };
  }
}

/// The type-erased channel behind EventChannel.
class EventChannelCore {
 public:
  using Receive = std::function<void(const ObjectRef& object)>;

  EventChannelCore();
  ~EventChannelCore();
  EventChannelCore(const EventChannelCore&) = delete;
  EventChannelCore& operator=(const EventChannelCore&) = delete;

  [[nodiscard]] bool send(const ObjectRef& object);
  /// Delivers waiting events, then all later ones, to `receive` until the result is destroyed.
  [[nodiscard]] std::shared_ptr<const void> connect(Receive receive);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// Sends controllers events from outside the cluster, each about one object. Copies refer to the
/// same channel. Any number of controllers may watch it.
///   kube::EventChannel<Foo> channel;
///   builder.watches(channel, [](const Foo& foo) {
///     return std::vector{kube::Request{kube::key_of(foo)}};
///   });
///
/// Thread safety: all methods, from any thread.
template <typename T>
class EventChannel {
 public:
  /// Sends an event. Predicates and map functions are called before it returns. Up to 1024 events
  /// wait for the first controller; beyond that the event is lost, and send() returns false.
  bool send(const Ref<T>& object) { return core_->send(detail::ObjectRef::from(object)); }
  bool send(const T& object) { return send(freeze(object)); }

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::EventChannelCore> core_ = std::make_shared<detail::EventChannelCore>();
};

}  // namespace kube

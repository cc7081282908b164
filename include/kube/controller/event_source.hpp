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

/// What happened to an object, for a map function that wants to know.
struct ObjectChange {
  enum class Kind {
    kCreate,
    kUpdate,
    kDelete,
    kGeneric,  ///< something outside of the cluster; see EventChannel
  };
  Kind kind = Kind::kGeneric;
  bool in_initial_list = false;  ///< of a creation: the object existed before the controller did
  bool final_state_known =
      true;  ///< of a deletion: false if nobody saw it, and the object is an older state
};

/// How a controller listens to one kind of object.
template <typename T>
struct WatchOptions {
  std::vector<Predicate<T>> predicates{};  ///< all must let an event pass
  ResourceKind kind{};                     ///< if T is Value or meta::v1::PartialObjectMetadata
  bool every_owner = false;                ///< of owns(): tell all owners, not only the controller
};

namespace detail {

struct ObjectEvent {
  ObjectChange what;
  ObjectRef before;  ///< of an update
  ObjectRef object;  ///< null for a deletion of which only the key is known
  ObjectKey key;
};
using EventFilter = std::function<bool(const ObjectEvent& event)>;
/// Adds to `requests` whom an object is about. Called for both states of an updated one.
using EventMapper = std::function<void(const ObjectRef& object, const ObjectChange& what,
                                       std::vector<kube::Request>& requests)>;

/// Each request once. The mapper may be empty: the object itself.
[[nodiscard]] std::vector<kube::Request> requests_of(const ObjectEvent& event,
                                                     const EventMapper& map);
/// The owners of an object that are of `owner`'s group and kind.
[[nodiscard]] EventMapper owners_of_kind(const WatchedKind& dependent, const ResourceKind& owner,
                                         bool every_owner);

/// A predicate on whatever `view(const ObjectRef&)` makes of an object: something that `*` leads to a T from.
template <typename T, typename View>
[[nodiscard]] EventFilter erase_predicate(Predicate<T> predicate, View view) {
  return [predicate = std::move(predicate), view](const ObjectEvent& event) {
    if (!event.object) return true;  // nobody can say
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
/// Some requests, in any container.
template <typename Requests>
concept RequestRange = requires(const Requests& requests) {
  { *requests.begin() } -> std::convertible_to<kube::Request>;
  requests.end();
};
template <typename Map, typename... Arguments>
concept MapsFrom = requires(const Map& map, const Arguments&... arguments) {
  { map(arguments...) } -> RequestRange;
};
/// `map` is called with an object, or with an object and an ObjectChange; it returns requests.
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

/// See EventChannel.
class EventChannelCore {
 public:
  using Receive = std::function<void(const ObjectRef& object)>;

  EventChannelCore();
  ~EventChannelCore();
  EventChannelCore(const EventChannelCore&) = delete;
  EventChannelCore& operator=(const EventChannelCore&) = delete;

  [[nodiscard]] bool send(const ObjectRef& object);
  /// Receives from now on, and first what waits, until the result is gone.
  [[nodiscard]] std::shared_ptr<const void> connect(Receive receive);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace detail

/// Tells controllers of something that happened outside of the cluster, and which object it is about. Copies are
/// the same channel, which any number of controllers may listen to.
///   kube::EventChannel<Foo> channel;
///   builder.watches(channel, [](const Foo& foo) { return std::vector{kube::Request{kube::key_of(foo)}}; })
///
/// Thread safety: all methods, from any thread.
template <typename T>
class EventChannel {
 public:
  /// Predicates and map functions are called before it returns. Up to 1024 events wait for the first controller
  /// that listens; false if there are more, and the event is lost.
  bool send(const Ref<T>& object) { return core_->send(detail::ObjectRef::from(object)); }
  bool send(const T& object) { return send(freeze(object)); }

 private:
  friend struct detail::Inside;
  std::shared_ptr<detail::EventChannelCore> core_ = std::make_shared<detail::EventChannelCore>();
};

}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/controller/controller_options.hpp>
#include <kube/controller/event_source.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kube {
namespace detail {

class ManagerCore;

/// One thing that a controller listens to: a kind of object, or a channel.
struct SourcePlan {
  std::optional<WatchedKind> kind = std::nullopt;
  std::shared_ptr<EventChannelCore> channel = nullptr;
  std::vector<EventFilter> filters = {};
  EventMapper map = nullptr;  ///< null: the object itself
  Ref<meta::v1::ObjectMeta> (*metadata)(const ObjectRef& object) = nullptr;
  bool of_owners = false;  ///< `map` has to be made when it is known who owns
  bool every_owner = false;
};
struct ControllerDraft;

}  // namespace detail

/// Puts a controller together; see Manager::controller(). The last call is reconcile(). Without it Manager::run()
/// throws std::logic_error: when it is called or, if the manager runs, when the builder is destroyed.
///
///   manager.controller<Foo>("foo")
///       .owns<apps::v1::Deployment>()
///       .watches<core::v1::Secret>([](const auto& secret) -> std::vector<kube::Request> { ... })
///       .reconcile([&](const kube::Request& request) { ...; return kube::done(); });
///
/// Belongs to one thread, and must not be used after the manager is gone.
class ControllerBuilder {
 public:
  ControllerBuilder(ControllerBuilder&& other) noexcept;
  ControllerBuilder& operator=(ControllerBuilder&&) = delete;
  ~ControllerBuilder();

  /// The kind that the controller is about: each object is a request. Throws std::logic_error the second time.
  template <typename T>
  ControllerBuilder& for_(WatchOptions<T> options = {}) {
    return add_for(source<T>(std::move(options)));
  }
  /// Objects that those of for_() own, as their owner references tell: a change of one is a request for its owner.
  template <typename T>
  ControllerBuilder& owns(WatchOptions<T> options = {}) {
    const bool every_owner = options.every_owner;
    detail::SourcePlan plan = source<T>(std::move(options));
    plan.of_owners = true;
    plan.every_owner = every_owner;
    return add(std::move(plan));
  }
  /// Any objects. `map(const T&)` or `map(const T&, const ObjectChange&)` returns requests (a std::vector<Request>).
  /// It is called from several threads, for both states of an object that changes, and must not wait for long.
  template <typename T, typename Map>
  ControllerBuilder& watches(Map map, WatchOptions<T> options = {}) {
    detail::SourcePlan plan = source<T>(std::move(options));
    plan.map = detail::erase_map<T>(std::move(map));
    return add(std::move(plan));
  }
  /// What happens outside of the cluster; predicates are asked for on_generic.
  template <typename T, typename Map>
  ControllerBuilder& watches(const EventChannel<T>& channel, Map map,
                             std::vector<Predicate<T>> predicates = {}) {
    return add({.channel = detail::Inside::core(channel),
                .filters = detail::erase_predicates<T>(std::move(predicates)),
                .map = detail::erase_map<T>(std::move(map)),
                .metadata = &detail::metadata_of<T>});
  }
  /// Events of all sources must pass this one, and then their own predicates. It sees the metadata of any object:
  /// `with_event_filter(generation_changed<meta::v1::ObjectMeta>())`
  ControllerBuilder& with_event_filter(Predicate<meta::v1::ObjectMeta> predicate);
  ControllerBuilder& with_options(ControllerOptions options);

  /// What to do: `function(const Request&)` or `function(const Request&, std::stop_token)` returns a Result. It is
  /// called by max_concurrent_reconciles threads, but never for one request by two. What it throws is logged and
  /// counted, and the request comes again; except a TerminalError.
  ///
  /// The controller starts with the manager. Throws std::logic_error if the plan makes no sense: there is no source,
  /// owns() without for_(), or the name is taken.
  template <typename Function>
  void reconcile(Function function) {
    if constexpr (std::is_invocable_r_v<Result, Function&, const Request&, std::stop_token>) {
      finish(std::move(function));
    } else if constexpr (std::is_invocable_r_v<Result, Function&, const Request&>) {
      finish(
          [function = std::move(function)](const Request& request, const std::stop_token&) mutable {
            return function(request);
          });
    } else {
      static_assert(
          std::is_invocable_r_v<Result, Function&, const Request&>,
          "a reconcile function takes (const kube::Request& request) or (const kube::Request& "
          "request, std::stop_token stop), and returns a kube::Result, such as kube::done()");
    }
  }

 private:
  friend struct detail::Inside;
  ControllerBuilder(detail::ManagerCore& manager, std::string name);

  template <typename T>
  static detail::SourcePlan source(WatchOptions<T> options) {
    return {.kind = detail::watched_kind<T>(options.kind),
            .filters = detail::erase_predicates<T>(std::move(options.predicates)),
            .metadata = &detail::metadata_of<T>};
  }
  ControllerBuilder& add(detail::SourcePlan plan);
  ControllerBuilder& add_for(detail::SourcePlan plan);
  void finish(std::function<Result(const Request& request, std::stop_token stop)> reconcile);

  std::shared_ptr<detail::ControllerDraft> draft_;
};

}  // namespace kube

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

/// One event source of a controller: a kind of object, or a channel.
struct SourcePlan {
  std::optional<WatchedKind> kind = std::nullopt;
  std::shared_ptr<EventChannelCore> channel = nullptr;
  std::vector<EventFilter> filters = {};
  EventMapper map = nullptr;  ///< null: the request is for the object itself
  Ref<meta::v1::ObjectMeta> (*metadata)(const ObjectRef& object) = nullptr;
  bool of_owners = false;  ///< `map` can only be made once the kind of the owner is known
  bool every_owner = false;
};
struct ControllerDraft;

}  // namespace detail

/// Configures a controller; see Manager::controller(). The last call is reconcile(). Without it
/// std::logic_error is thrown: by Manager::run() or, if the manager runs already, when the builder
/// is destroyed.
///
///   manager.controller<Foo>("foo")
///       .owns<apps::v1::Deployment>()
///       .watches<core::v1::Secret>([](const auto& secret) -> std::vector<kube::Request> { ... })
///       .reconcile([&](const kube::Request& request) { ...; return kube::done(); });
///
/// Thread safety: used by one thread. It must not outlive the manager.
class ControllerBuilder {
 public:
  ControllerBuilder(ControllerBuilder&& other) noexcept;
  ControllerBuilder& operator=(ControllerBuilder&&) = delete;
  ~ControllerBuilder();

  /// Sets the kind that the controller reconciles: each of its objects is a request. Throws
  /// std::logic_error if called twice.
  template <typename T>
  ControllerBuilder& for_(WatchOptions<T> options = {}) {
    return add_for(source<T>(std::move(options)));
  }
  /// Watches objects owned by those of for_(), according to their owner references: a change of one
  /// is a request for its owner.
  template <typename T>
  ControllerBuilder& owns(WatchOptions<T> options = {}) {
    const bool every_owner = options.every_owner;
    detail::SourcePlan plan = source<T>(std::move(options));
    plan.of_owners = true;
    plan.every_owner = every_owner;
    return add(std::move(plan));
  }
  /// Watches any objects. `map(const T&)` or `map(const T&, const ObjectChange&)` returns requests
  /// (a std::vector<Request>). It is called from several threads, for both states of an updated
  /// object, and must not block for long.
  template <typename T, typename Map>
  ControllerBuilder& watches(Map map, WatchOptions<T> options = {}) {
    detail::SourcePlan plan = source<T>(std::move(options));
    plan.map = detail::erase_map<T>(std::move(map));
    return add(std::move(plan));
  }
  /// Watches events from outside the cluster. Predicates are evaluated with `on_generic`.
  template <typename T, typename Map>
  ControllerBuilder& watches(const EventChannel<T>& channel, Map map,
                             std::vector<Predicate<T>> predicates = {}) {
    return add({.channel = detail::Inside::core(channel),
                .filters = detail::erase_predicates<T>(std::move(predicates)),
                .map = detail::erase_map<T>(std::move(map)),
                .metadata = &detail::metadata_of<T>});
  }
  /// Adds a predicate that events of all sources must pass, before the predicates of their own
  /// source. It sees the metadata of any object:
  /// `with_event_filter(generation_changed<meta::v1::ObjectMeta>())`
  ControllerBuilder& with_event_filter(Predicate<meta::v1::ObjectMeta> predicate);
  /// Sets the options, replacing those of an earlier call.
  ControllerBuilder& with_options(ControllerOptions options);

  /// Sets the reconcile function: `function(const Request&)` or `function(const Request&,
  /// std::stop_token)` returns a Result. It is called by max_concurrent_reconciles threads, but
  /// never concurrently for the same request. Exceptions are logged and counted, and the request is
  /// retried, except after a TerminalError.
  ///
  /// The controller starts with the manager. Throws std::logic_error if the configuration is
  /// invalid: there is no source, owns() without for_(), or the name is taken.
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

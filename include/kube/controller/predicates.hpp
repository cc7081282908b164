// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace kube {

/// Filter for the events of a controller. A function that is not set accepts every event. Combine
/// predicates with &&, || and !:
///   generation_changed<Foo>() || annotations_changed<Foo>()
/// T may also be meta::v1::ObjectMeta, for ControllerBuilder::with_event_filter().
/// Thread safety: the functions are called from several threads concurrently.
template <typename T>
struct Predicate {
  std::function<bool(const T& object)> on_create{};
  std::function<bool(const T& before, const T& now)> on_update{};
  std::function<bool(const T& object)> on_delete{};
  std::function<bool(const T& object)> on_generic{};  ///< for events from outside the cluster

  /// Returns whether a creation is accepted.
  [[nodiscard]] bool create(const T& object) const { return !on_create || on_create(object); }
  /// Returns whether an update is accepted.
  [[nodiscard]] bool update(const T& before, const T& now) const {
    return !on_update || on_update(before, now);
  }
  /// Returns whether a deletion is accepted.
  [[nodiscard]] bool remove(const T& object) const { return !on_delete || on_delete(object); }
  /// Returns whether an event from outside the cluster is accepted.
  [[nodiscard]] bool generic(const T& object) const { return !on_generic || on_generic(object); }
};

namespace detail {
/// Returns the metadata of a typed object, or the object itself if it is metadata.
template <typename T>
[[nodiscard]] const auto& metadata_part(const T& object) {
  if constexpr (std::same_as<T, meta::v1::ObjectMeta>) {
    return object;
  } else {
    return (object.metadata);
  }
}
template <typename T>
[[nodiscard]] bool same_resource_version(const T& a, const T& b) {
  if constexpr (std::same_as<T, Value>) {
    return a["metadata"]["resourceVersion"] == b["metadata"]["resourceVersion"];
  } else {
    return metadata_part(a).resource_version == metadata_part(b).resource_version;
  }
}
template <typename T>
[[nodiscard]] bool same_generation(const T& a, const T& b) {
  if constexpr (std::same_as<T, Value>) {
    return a["metadata"]["generation"] == b["metadata"]["generation"];
  } else {
    return metadata_part(a).generation == metadata_part(b).generation;
  }
}
template <typename T>
[[nodiscard]] bool same_annotations(const T& a, const T& b) {
  if constexpr (std::same_as<T, Value>) {
    return a.get_object("metadata.annotations") == b.get_object("metadata.annotations");
  } else {
    return metadata_part(a).annotations == metadata_part(b).annotations;
  }
}
template <typename T>
[[nodiscard]] bool same_labels(const T& a, const T& b) {
  if constexpr (std::same_as<T, Value>) {
    return a.get_object("metadata.labels") == b.get_object("metadata.labels");
  } else {
    return metadata_part(a).labels == metadata_part(b).labels;
  }
}

/// Combines the results of two predicates, function by function.
template <typename T, typename Combine>
[[nodiscard]] Predicate<T> combined(Predicate<T> a, Predicate<T> b, Combine combine) {
  const auto of_one = [&](auto method) {
    return [=](const T& object) {
      return combine([&] { return (a.*method)(object); }, [&] { return (b.*method)(object); });
    };
  };
  return {.on_create = of_one(&Predicate<T>::create),
          .on_update =
              [=](const T& before, const T& now) {
                return combine([&] { return a.update(before, now); },
                               [&] { return b.update(before, now); });
              },
          .on_delete = of_one(&Predicate<T>::remove),
          .on_generic = of_one(&Predicate<T>::generic)};
}
}  // namespace detail

/// Accepts events that both predicates accept.
template <typename T>
[[nodiscard]] Predicate<T> operator&&(Predicate<T> a, Predicate<T> b) {
  return detail::combined(std::move(a), std::move(b),
                          [](auto first, auto second) { return first() && second(); });
}
/// Accepts events that at least one predicate accepts.
template <typename T>
[[nodiscard]] Predicate<T> operator||(Predicate<T> a, Predicate<T> b) {
  return detail::combined(std::move(a), std::move(b),
                          [](auto first, auto second) { return first() || second(); });
}
/// Accepts events that the predicate rejects.
template <typename T>
[[nodiscard]] Predicate<T> operator!(Predicate<T> a) {
  return detail::combined(std::move(a), Predicate<T>{},
                          [](auto first, auto /*second*/) { return !first(); });
}

/// Accepts objects for which `matches` returns true; for an update, the new state is checked.
template <typename T>
[[nodiscard]] Predicate<T> matching(std::function<bool(const T&)> matches) {
  return {.on_create = matches,
          .on_update = [=](const T&, const T& now) { return matches(now); },
          .on_delete = matches,
          .on_generic = matches};
}
/// Accepts objects whose labels match the selector.
template <typename T>
[[nodiscard]] Predicate<T> matching_labels(labels::Selector selector) {
  return matching<T>([selector = std::move(selector)](const T& object) {
    if constexpr (std::same_as<T, Value>) {
      Map<String> labels;
      for (const auto& [key, value] : object.get_object("metadata.labels")) {
        if (value.is_string()) labels[key.view()] = value.as_string();
      }
      return selector.matches(labels);
    } else {
      return selector.matches(detail::metadata_part(object).labels);
    }
  });
}

// The following restrict only updates. The first two reject a resync, which delivers the same
// object again.
/// Accepts updates that changed anything.
template <typename T>
[[nodiscard]] Predicate<T> resource_version_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_resource_version(before, now);
  }};
}
/// Accepts updates that changed the spec; changes of only status or metadata are rejected.
template <typename T>
[[nodiscard]] Predicate<T> generation_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_generation(before, now);
  }};
}
/// Accepts updates that changed annotations.
template <typename T>
[[nodiscard]] Predicate<T> annotations_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_annotations(before, now);
  }};
}
/// Accepts updates that changed labels.
template <typename T>
[[nodiscard]] Predicate<T> labels_changed() {
  return {
      .on_update = [](const T& before, const T& now) { return !detail::same_labels(before, now); }};
}

}  // namespace kube

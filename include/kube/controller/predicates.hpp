// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/labels.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/object/value.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace kube {

/// Which events a controller wants to hear of. A function that is not there lets everything pass. Combine
/// predicates with &&, || and !:
///   generation_changed<Foo>() || annotations_changed<Foo>()
/// T may also be meta::v1::ObjectMeta, for ControllerBuilder::with_event_filter().
/// Thread safety: the functions are called from several threads at once.
template <typename T>
struct Predicate {
  std::function<bool(const T& object)> on_create{};
  std::function<bool(const T& before, const T& now)> on_update{};
  std::function<bool(const T& object)> on_delete{};
  std::function<bool(const T& object)> on_generic{};  ///< for events from outside of the cluster

  [[nodiscard]] bool create(const T& object) const { return !on_create || on_create(object); }
  [[nodiscard]] bool update(const T& before, const T& now) const {
    return !on_update || on_update(before, now);
  }
  [[nodiscard]] bool remove(const T& object) const { return !on_delete || on_delete(object); }
  [[nodiscard]] bool generic(const T& object) const { return !on_generic || on_generic(object); }
};

namespace detail {
/// The metadata of a typed object; or the metadata itself, for predicates on objects of any type.
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

/// Combines what two predicates say, function by function.
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

template <typename T>
[[nodiscard]] Predicate<T> operator&&(Predicate<T> a, Predicate<T> b) {
  return detail::combined(std::move(a), std::move(b),
                          [](auto first, auto second) { return first() && second(); });
}
template <typename T>
[[nodiscard]] Predicate<T> operator||(Predicate<T> a, Predicate<T> b) {
  return detail::combined(std::move(a), std::move(b),
                          [](auto first, auto second) { return first() || second(); });
}
template <typename T>
[[nodiscard]] Predicate<T> operator!(Predicate<T> a) {
  return detail::combined(std::move(a), Predicate<T>{},
                          [](auto first, auto /*second*/) { return !first(); });
}

/// The objects for which `matches` holds; of an update, the new one counts.
template <typename T>
[[nodiscard]] Predicate<T> matching(std::function<bool(const T&)> matches) {
  return {.on_create = matches,
          .on_update = [=](const T&, const T& now) { return matches(now); },
          .on_delete = matches,
          .on_generic = matches};
}
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

// The following restrict updates only; a resync, which delivers the same object again, does not pass the first two.
template <typename T>
[[nodiscard]] Predicate<T> resource_version_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_resource_version(before, now);
  }};
}
/// The spec changed; writes of the status and of metadata do not count.
template <typename T>
[[nodiscard]] Predicate<T> generation_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_generation(before, now);
  }};
}
template <typename T>
[[nodiscard]] Predicate<T> annotations_changed() {
  return {.on_update = [](const T& before, const T& now) {
    return !detail::same_annotations(before, now);
  }};
}
template <typename T>
[[nodiscard]] Predicate<T> labels_changed() {
  return {
      .on_update = [](const T& before, const T& now) { return !detail::same_labels(before, now); }};
}

}  // namespace kube

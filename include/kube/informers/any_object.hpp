// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/object_key.hpp>
#include <kube/base/inside.hpp>
#include <kube/cache/object_access.hpp>
#include <kube/object/object_ref.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace kube {

/// A cached object whose type is known only at run time; may be null. Copies share the object.
class AnyObject {
 public:
  AnyObject() = default;

  /// False if null.
  explicit operator bool() const noexcept { return static_cast<bool>(object_); }
  /// Returns the object as Ref<T>, or null if it is not a T.
  template <typename T>
  [[nodiscard]] Ref<T> as() const noexcept {
    if (access_ == nullptr || access_->type != &type_of<T>()) return {};
    return object_.template to<T>();
  }

  // The accessors below require that the object is not null. Views point into the object.
  [[nodiscard]] const Type& type() const noexcept { return *access_->type; }
  [[nodiscard]] std::string_view name() const { return access_->name(object_.get()); }
  [[nodiscard]] std::string_view namespace_() const { return access_->namespace_(object_.get()); }
  [[nodiscard]] std::string_view resource_version() const {
    return access_->resource_version(object_.get());
  }
  [[nodiscard]] std::string_view uid() const { return access_->uid(object_.get()); }
  /// Returns the value of a label; nothing if it is absent.
  [[nodiscard]] std::optional<std::string_view> label(std::string_view key) const {
    return access_->label(object_.get(), key);
  }
  /// Returns the value of an annotation; nothing if it is absent.
  [[nodiscard]] std::optional<std::string_view> annotation(std::string_view key) const {
    return access_->annotation(object_.get(), key);
  }
  [[nodiscard]] ObjectKey key() const { return {std::string{namespace_()}, std::string{name()}}; }
  /// Returns the object encoded as JSON.
  [[nodiscard]] std::string json() const;

 private:
  friend struct detail::Inside;
  AnyObject(detail::ObjectRef object, const detail::ObjectAccess& access)
      : object_(std::move(object)), access_(&access) {}

  detail::ObjectRef object_;
  const detail::ObjectAccess* access_ = nullptr;
};

}  // namespace kube

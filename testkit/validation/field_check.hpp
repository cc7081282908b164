// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/validation/field_error.hpp"

namespace kube::testkit::detail {

class Field;

/// Collects the errors of one object. Fields are created from it; it must outlive them.
class FieldErrors {
 public:
  FieldErrors() { steps_.reserve(64); }
  FieldErrors(const FieldErrors&) = delete;
  FieldErrors& operator=(const FieldErrors&) = delete;

  /// Returns the field for the object itself, whose path is empty. `object` must outlive the
  /// fields.
  [[nodiscard]] Field root(const Value& object);
  void add(FieldError error) { errors_.push_back(std::move(error)); }
  [[nodiscard]] std::size_t count() const noexcept { return errors_.size(); }
  [[nodiscard]] std::vector<FieldError> take() { return std::move(errors_); }

 private:
  friend class Field;
  /// One element of a path. Paths are formatted lazily, only when there is an error.
  struct Step {
    enum class Kind { kMember, kIndex, kKey };
    std::uint32_t parent;
    Kind kind;
    std::string_view name;
    std::size_t index;
  };

  [[nodiscard]] std::string path(std::uint32_t step) const;

  std::vector<Step> steps_;
  std::vector<FieldError> errors_;
};

/// A value in an object that is validated, together with its path. Cheap to copy.
///
/// Names and keys are not copied: they are literals or parts of the object.
class Field {
 public:
  /// Returns the member `path.name`; its value is absent if there is none.
  [[nodiscard]] Field operator[](std::string_view name) const;
  /// Returns the element `path[index]`.
  [[nodiscard]] Field at(std::size_t index) const;
  /// Returns the map entry `path[key]`.
  [[nodiscard]] Field key(std::string_view key) const;
  /// Returns the same value with the path `path.name`, for error messages.
  [[nodiscard]] Field shown_as(std::string_view name) const;
  /// Returns the same path with another value, for error messages.
  [[nodiscard]] Field with(const Value& value) const;

  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  /// Returns the string value; "" if it is absent or not a string.
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] std::optional<std::int64_t> number() const;
  [[nodiscard]] std::size_t size() const noexcept { return value_->size(); }
  [[nodiscard]] bool is_set() const { return !value_->is_absent() && !value_->is_null(); }
  [[nodiscard]] bool is(std::string_view text) const { return this->text() == text; }
  [[nodiscard]] bool is_true() const { return *value_ == Value{true}; }
  [[nodiscard]] std::string path() const { return errors_->path(step_); }
  [[nodiscard]] FieldErrors& errors() const noexcept { return *errors_; }

  void required(std::string_view detail = {}) const;
  void invalid(std::string_view detail) const;
  /// Like invalid(detail), but shows another value in the message.
  void invalid(const Value& shown, std::string_view detail) const;
  void forbidden(std::string_view detail) const;
  void duplicate() const;
  void duplicate(const Value& shown) const;
  void not_found() const;
  void unsupported(std::initializer_list<std::string_view> supported) const;
  void unsupported(const Value& shown, std::initializer_list<std::string_view> supported) const;

 private:
  friend class FieldErrors;
  Field(FieldErrors& errors, const Value& value, std::uint32_t step)
      : errors_(&errors), value_(&value), step_(step) {}
  [[nodiscard]] Field step(FieldErrors::Step step, const Value& value) const;

  FieldErrors* errors_;
  const Value* value_;
  std::uint32_t step_;
};

}  // namespace kube::testkit::detail

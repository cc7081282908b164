// SPDX-License-Identifier: Apache-2.0
#include "testkit/validation/field_check.hpp"

#include <fmt/format.h>

#include <utility>

namespace kube::testkit::detail {

namespace {

constexpr std::uint32_t kRoot = 0;

}  // namespace

Field FieldErrors::root(const Value& object) {
  if (steps_.empty()) steps_.push_back({kRoot, Step::Kind::kMember, {}, 0});
  return {*this, object, kRoot};
}

std::string FieldErrors::path(std::uint32_t step) const {
  if (step == kRoot) return {};
  const Step& last = steps_[step];
  std::string text = path(last.parent);
  switch (last.kind) {
    case Step::Kind::kMember:
      if (!text.empty()) text += '.';
      return text.append(last.name);
    case Step::Kind::kIndex:
      return fmt::format("{}[{}]", text, last.index);
    case Step::Kind::kKey:
      return fmt::format("{}[{}]", text, last.name);
  }
  return text;
}

Field Field::step(FieldErrors::Step step, const Value& value) const {
  errors_->steps_.push_back(step);
  return {*errors_, value, static_cast<std::uint32_t>(errors_->steps_.size() - 1)};
}

Field Field::operator[](std::string_view name) const {
  return step({step_, FieldErrors::Step::Kind::kMember, name, 0}, (*value_)[name]);
}

Field Field::at(std::size_t index) const {
  return step({step_, FieldErrors::Step::Kind::kIndex, {}, index}, (*value_)[index]);
}

Field Field::key(std::string_view key) const {
  return step({step_, FieldErrors::Step::Kind::kKey, key, 0}, (*value_)[key]);
}

Field Field::shown_as(std::string_view name) const {
  return step({step_, FieldErrors::Step::Kind::kMember, name, 0}, *value_);
}

Field Field::with(const Value& value) const { return {*errors_, value, step_}; }

std::string_view Field::text() const {
  return value_->is_string() ? value_->as_string() : std::string_view{};
}

std::optional<std::int64_t> Field::number() const {
  if (value_->kind() != Value::Kind::kInteger) return std::nullopt;
  return value_->as_integer();
}

void Field::required(std::string_view detail) const {
  errors_->add(required_value(path(), detail));
}

void Field::invalid(std::string_view detail) const { invalid(*value_, detail); }

void Field::invalid(const Value& shown, std::string_view detail) const {
  errors_->add(invalid_value(path(), shown.is_absent() ? Value{nullptr} : Value{shown}, detail));
}

void Field::forbidden(std::string_view detail) const {
  errors_->add(forbidden_value(path(), detail));
}

void Field::duplicate() const { duplicate(*value_); }

void Field::duplicate(const Value& shown) const { errors_->add(duplicate_value(path(), shown)); }

void Field::not_found() const { errors_->add(value_not_found(path(), text())); }

void Field::unsupported(std::initializer_list<std::string_view> supported) const {
  unsupported(value_->is_absent() ? Value{""} : Value{*value_}, supported);
}

void Field::unsupported(const Value& shown,
                        std::initializer_list<std::string_view> supported) const {
  const std::vector<std::string> texts{supported.begin(), supported.end()};
  errors_->add(not_supported(path(), shown, texts));
}

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/json_path.hpp"

#include "testkit/values/value_edit.hpp"

#include "base/text.hpp"
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>

#include <charconv>
#include <stdexcept>

namespace kube::testkit::detail {

namespace {

/// Reads the text of a path from left to right.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return at_ == text_.size(); }
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  /// Reads up to one of `ends`, which is not consumed; a backslash escapes any character.
  std::string name(std::string_view ends) {
    std::string result;
    for (; !done() && ends.find(text_[at_]) == std::string_view::npos; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      result += text_[at_];
    }
    return result;
  }
  std::string up_to(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) fail();
    std::string result{text_.substr(at_, found - at_)};
    at_ = found + end.size();
    return result;
  }
  [[noreturn]] void fail() const {
    throw std::invalid_argument("unrecognized column definition \"" + std::string{text_} + '"');
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Parses a literal: a string in single or double quotes, a number or a boolean.
Value literal(std::string_view text, const Cursor& cursor) {
  text = kube::detail::trimmed(text);
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
    return text.substr(1, text.size() - 2);
  }
  try {
    return *decode_json<Value>(text);
  } catch (const CodecError&) {
    cursor.fail();
  }
}

}  // namespace

JsonPath::JsonPath(std::string_view text) {
  Cursor cursor{text};
  if (text.starts_with('{') && text.ends_with('}'))
    cursor = Cursor{text.substr(1, text.size() - 2)};
  cursor.take("$");
  while (!cursor.done()) {
    Step step;
    if (cursor.take("[?(@")) {
      step.kind = Step::Kind::kFilter;
      const std::string expression = cursor.up_to(")]");
      const std::size_t equal = expression.find("==");
      const std::size_t unequal = expression.find("!=");
      const std::size_t at = std::min(equal, unequal);
      if (at == std::string::npos) cursor.fail();
      step.equal = equal < unequal;
      step.operand = literal(std::string_view{expression}.substr(at + 2), cursor);
      const std::string left{kube::detail::trimmed(std::string_view{expression}.substr(0, at))};
      Cursor names{left};
      while (names.take(".")) step.filter.push_back(names.name("."));
      if (!names.done()) cursor.fail();
    } else if (cursor.take("['") || cursor.take("[\"")) {
      step.name = cursor.name("'\"");
      if (!cursor.take("']") && !cursor.take("\"]")) cursor.fail();
    } else if (cursor.take("[*]")) {
      step.kind = Step::Kind::kAll;
    } else if (cursor.take("[")) {
      step.kind = Step::Kind::kIndex;
      const std::string index = cursor.up_to("]");
      const auto [end, error] =
          std::from_chars(index.data(), index.data() + index.size(), step.index);
      if (error != std::errc{} || end != index.data() + index.size()) cursor.fail();
    } else if (cursor.take(".")) {
      step.name = cursor.name(".[");
      if (step.name == "*") step.kind = Step::Kind::kAll;
      if (step.name.empty()) {
        if (cursor.done()) break;  // "." alone selects the whole object
        continue;
      }
    } else {
      cursor.fail();
    }
    steps_.push_back(std::move(step));
  }
}

bool JsonPath::matches(const Step& filter, const Value& element) {
  const Value* here = &element;
  for (const std::string& name : filter.filter) {
    here = member(*here, name);
    if (here == nullptr) return false;
  }
  return (*here == filter.operand) == filter.equal;
}

const Value* JsonPath::first(const Value& root) const { return first(root, 0); }

const Value* JsonPath::first(const Value& here, std::size_t step) const {
  if (step == steps_.size()) return &here;
  const Step& next = steps_[step];
  switch (next.kind) {
    case Step::Kind::kMember: {
      const Value* found = member(here, next.name);
      return found == nullptr ? nullptr : first(*found, step + 1);
    }
    case Step::Kind::kIndex: {
      const auto size = static_cast<std::int64_t>(here.size());
      const std::int64_t index = next.index < 0 ? next.index + size : next.index;
      if (!here.is_array() || index < 0 || index >= size) return nullptr;
      return first(here[index], step + 1);
    }
    case Step::Kind::kAll:
    case Step::Kind::kFilter:
      break;
  }
  const auto look = [&](const Value& element) -> const Value* {
    if (next.kind == Step::Kind::kFilter && !matches(next, element)) return nullptr;
    return first(element, step + 1);
  };
  if (here.is_array()) {
    for (const Value& element : here.as_array()) {
      if (const Value* found = look(element)) return found;
    }
  } else if (here.is_object()) {
    for (const auto& [key, element] : here.as_object()) {
      if (const Value* found = look(element)) return found;
    }
  }
  return nullptr;
}

}  // namespace kube::testkit::detail

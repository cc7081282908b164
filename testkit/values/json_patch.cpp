// SPDX-License-Identifier: Apache-2.0
#include "testkit/values/json_patch.hpp"

#include "testkit/validation/field_error.hpp"
#include "testkit/values/value_edit.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

namespace kube::testkit::detail {

namespace {

[[noreturn]] void fail() {
  meta::v1::Status status =
      failure_status(422, meta::v1::status_reason::kInvalid,
                     "the server rejected our request due to an error in our request");
  status.details.emplace();
  throw ApiError{std::move(status)};
}

std::size_t depth_of(const Value& value) {
  std::size_t deepest = 0;
  if (value.is_array()) {
    for (const Value& element : value.as_array()) deepest = std::max(deepest, depth_of(element));
  } else if (value.is_object()) {
    for (const auto& [key, element] : value.as_object()) {
      deepest = std::max(deepest, depth_of(element));
    }
  } else {
    return 0;
  }
  return deepest + 1;
}

using Tokens = std::vector<std::string>;

/// Returns the unescaped tokens of a JSON pointer.
Tokens tokens_of(std::string_view path) {
  Tokens tokens;
  std::size_t slash = path.find('/');
  while (slash != std::string_view::npos) {
    const std::size_t end = std::min(path.find('/', slash + 1), path.size());
    std::string token;
    for (std::size_t i = slash + 1; i < end; ++i) {
      const bool escape = path[i] == '~' && i + 1 < end;
      if (escape && (path[i + 1] == '0' || path[i + 1] == '1')) {
        token += path[++i] == '0' ? '~' : '/';
      } else {
        token += path[i];
      }
    }
    tokens.push_back(std::move(token));
    slash = end < path.size() ? end : std::string_view::npos;
  }
  return tokens;
}

/// Parses an array index. `size` is the first index that is out of range.
std::size_t index_of(std::string_view token, std::size_t size) {
  std::int64_t index = 0;
  if (token.starts_with('+')) token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc{} || end != token.data() + token.size()) fail();
  if (index < 0) index += static_cast<std::int64_t>(size);
  if (index < 0 || index >= static_cast<std::int64_t>(size)) fail();
  return static_cast<std::size_t>(index);
}

class Patcher {
 public:
  Patcher(Value document, const JsonPatchLimits& limits)
      : document_(std::move(document)), depth_(depth_of(document_)), limits_(limits) {}

  void run(const Value& operation) {
    const std::string_view op = text_member(operation, "op");
    const Value* path = member(operation, "path");
    if (path == nullptr || !path->is_string()) fail();
    const Tokens to = tokens_of(path->as_string());
    if (op == "add") {
      add(to, value_of(operation));
    } else if (op == "remove") {
      remove(to);
    } else if (op == "replace") {
      replace(path->as_string(), to, value_of(operation));
    } else if (op == "test") {
      test(path->as_string(), to, operation["value"]);
    } else if (op == "move" || op == "copy") {
      const Value* from = member(operation, "from");
      if (from == nullptr || !from->is_string()) fail();
      const Tokens source = tokens_of(from->as_string());
      if (op == "move") {
        add(to, remove(source), depth_);
      } else {
        add(to, copied(source));
      }
    } else {
      fail();
    }
  }

  Value take() { return std::move(document_); }

 private:
  static Value value_of(const Value& operation) {
    const Value* value = member(operation, "value");
    return value == nullptr ? Value{nullptr} : *value;
  }

  /// Returns the array or object that contains the last of `tokens`.
  Value& parent(const Tokens& tokens) {
    if (tokens.empty()) fail();
    Value* here = &document_;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      here = child(*here, tokens[i]);
      if (here == nullptr) fail();
    }
    if (!here->is_array() && !here->is_object()) fail();
    return *here;
  }

  /// Returns the value at `tokens`, or null.
  Value* target(const Tokens& tokens) {
    Value& container = parent(tokens);  // comes first, because it throws if there are no tokens
    return child(container, tokens.back());
  }

  static Value* child(Value& container, std::string_view token) {
    if (container.is_array()) return &elements(container)[index_of(token, container.size())];
    return member(container, token);
  }

  void add(const Tokens& tokens, Value value) {
    const std::size_t depth = depth_of(value);
    add(tokens, std::move(value), depth);
  }

  /// `depth` is an upper bound of the depth of `value`.
  void add(const Tokens& tokens, Value value, std::size_t depth) {
    Value& container = parent(tokens);
    if (container.is_object()) {
      container[tokens.back()] = std::move(value);
    } else if (tokens.back() == "-") {
      container.push_back(std::move(value));
    } else {
      insert_element(container, index_of(tokens.back(), container.size() + 1), std::move(value));
    }
    grown(tokens.size() + depth);
  }

  /// Maintains an upper bound of the depth, and measures the actual depth only when the bound
  /// exceeds the limit.
  void grown(std::size_t depth) {
    depth_ = std::max(depth_, depth);
    if (depth_ <= limits_.max_depth) return;
    depth_ = depth_of(document_);
    if (depth_ > limits_.max_depth) fail();
  }

  Value remove(const Tokens& tokens) {
    Value& container = parent(tokens);
    Value removed;
    if (container.is_object()) {
      Value* value = member(container, tokens.back());
      if (value == nullptr) fail();
      removed = std::move(*value);
      container.erase(tokens.back());
    } else {
      const std::size_t index = index_of(tokens.back(), container.size());
      removed = std::move(elements(container)[index]);
      erase_element(container, index);
    }
    return removed;
  }

  void replace(std::string_view path, const Tokens& tokens, Value value) {
    if (path.empty()) {
      if (!value.is_object() && !value.is_array()) fail();
      document_ = std::move(value);
      depth_ = depth_of(document_);
      return;
    }
    const std::size_t depth = tokens.size() + depth_of(value);
    Value& container = parent(tokens);
    if (container.is_object()) {
      container[tokens.back()] = std::move(value);
    } else {
      elements(container)[index_of(tokens.back(), container.size())] = std::move(value);
    }
    grown(depth);
  }

  void test(std::string_view path, const Tokens& tokens, const Value& expected) {
    const Value* found = path.empty() ? &document_ : target(tokens);
    const auto is_nothing = [](const Value& value) { return value.is_absent() || value.is_null(); };
    const bool nothing = found == nullptr || is_nothing(*found);
    if (nothing ? !is_nothing(expected) : !(*found == expected)) fail();
  }

  Value copied(const Tokens& tokens) {
    const Value* found = target(tokens);
    if (found == nullptr) return nullptr;
    copied_bytes_ += encode_json(*found).size();
    if (copied_bytes_ > limits_.max_copied_bytes) fail();
    return *found;
  }

  Value document_;
  std::size_t depth_;
  std::size_t copied_bytes_ = 0;
  const JsonPatchLimits& limits_;
};

}  // namespace

Value json_patch(Value document, const Value& patch, const JsonPatchLimits& limits) {
  if (patch.is_null()) return document;
  if (!patch.is_array()) {
    throw ApiError{failure_status(400, meta::v1::status_reason::kBadRequest,
                                  "error decoding patch: the patch is not a list of operations")};
  }
  for (const Value& operation : patch.as_array()) {
    if (operation.is_object()) continue;
    throw ApiError{failure_status(400, meta::v1::status_reason::kBadRequest,
                                  "error decoding patch: an operation is not a JSON object")};
  }
  if (patch.size() > limits.max_operations) {
    throw ApiError{
        failure_status(413, meta::v1::status_reason::kRequestEntityTooLarge,
                       fmt::format("Request entity too large: The allowed maximum operations in a "
                                   "JSON patch is {}, got {}",
                                   limits.max_operations, patch.size()))};
  }
  Patcher patcher{std::move(document), limits};
  for (const Value& operation : patch.as_array()) patcher.run(operation);
  return patcher.take();
}

}  // namespace kube::testkit::detail

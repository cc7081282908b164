// SPDX-License-Identifier: Apache-2.0
#include "testkit/server/manifests.hpp"

#include "codec/list_splitter.hpp"
#include <kube/base/error.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <utility>

namespace kube::testkit::detail {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view kind_of(const Value& object) {
  const Value& kind = object["kind"];
  return kind.is_string() ? kind.as_string() : std::string_view{};
}

/// Returns the offset of the second YAML document of `text`, or npos. A line that begins with three
/// dashes and a blank starts a document anywhere, even inside an open scalar.
std::size_t next_document(std::string_view text) {
  for (std::size_t at = text.find("\n---"); at != std::string_view::npos;
       at = text.find("\n---", at + 1)) {
    const std::size_t behind = at + 4;
    if (behind == text.size() || kBlank.find(text[behind]) != std::string_view::npos) return at + 1;
  }
  return std::string_view::npos;
}

}  // namespace

void Manifests::add(std::string_view text, const std::string& origin) {
  origins_.push_back(origin);
  try {
    // JSON is valid YAML, but the YAML parser needs several hundred bytes for each JSON value.
    if (!add_json(text)) add_yaml(text);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", origin, error.what()));
  }
}

Ref<Value> Manifests::object(std::size_t index) const {
  return decode_json<Value>(entries_[index].json);
}

bool Manifests::add_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos || text[first] != '{') return false;
  const std::size_t before = entries_.size();
  try {
    if (add_json_list(text)) return true;
    add_object(*decode_json<Value>(text), std::string{text});
    return true;
  } catch (const CodecError&) {
    entries_.resize(before);  // the YAML parser may accept it, or reports line and column
    return false;
  }
}

bool Manifests::add_json_list(std::string_view text) {
  const std::size_t before = entries_.size();
  kube::detail::ListSplitter splitter{Format::kJson, DecodeLimits{}};
  bool has_items = false;
  splitter.feed(text, [&](std::string_view item, std::size_t /*offset*/) {
    has_items = true;
    add_object(*decode_json<Value>(item), std::string{item});
  });
  splitter.finish();
  if (splitter.metadata().kind.ends_with("List")) {
    // An empty list has no items; an object whose kind merely ends in List has no such member.
    return has_items || (*decode_json<Value>(text))["items"].is_array();
  }
  entries_.resize(before);
  return false;
}

void Manifests::add_yaml(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t next = next_document(text.substr(start));
    const std::size_t size = next == std::string_view::npos ? text.size() - start : next;
    try {
      add_documents(text.substr(start, size));
    } catch (const CodecError&) {
      if (start > 0) add_documents(text.substr(0, start + size));  // reports the line in the file
      throw;
    }
    start += size;
  }
}

void Manifests::add_documents(std::string_view text) {
  for (const Ref<Value>& document : decode_yaml_documents(text)) {
    const Value& items = (*document)["items"];
    if (kind_of(*document).ends_with("List") && items.is_array()) {
      for (const Value& item : items.as_array()) add_object(item, encode_json(item));
    } else {
      add_object(*document, encode_json(*document));
    }
  }
}

void Manifests::add_object(const Value& object, std::string json) {
  entries_.push_back(
      {std::move(json), origins_.size() - 1, kind_of(object) == "CustomResourceDefinition"});
}

}  // namespace kube::testkit::detail

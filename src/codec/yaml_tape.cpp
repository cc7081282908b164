// SPDX-License-Identifier: Apache-2.0
#include "yaml_tape.hpp"

#include <kube/codec/error.hpp>

namespace kube::detail {

namespace {

/// The parser expands a tag for each value that has it, so a long prefix (%TAG) would be copied
/// many times.
constexpr std::size_t kLongestTag = 1024;

void check_tag(const YAML::Mark& mark, const std::string& tag) {
  if (tag.size() > kLongestTag) fail_yaml(mark, "", "tag is too long");
}

}  // namespace

void fail_yaml(const YAML::Mark& mark, const std::string& path, std::string_view problem) {
  const std::string place = mark.is_null() ? std::string{}
                                           : "line " + std::to_string(mark.line + 1) + ", column " +
                                                 std::to_string(mark.column + 1) + ": ";
  throw CodecError(path, place + std::string{problem},
                   mark.is_null() ? 0 : static_cast<std::size_t>(mark.pos));
}

void YamlTape::OnDocumentStart(const YAML::Mark& mark) {
  // yaml-cpp does not skip some misplaced tokens, such as a comma between documents, and would emit
  // empty documents forever.
  if (mark.pos == last_start_) fail_yaml(mark, "", "expected a document");
  last_start_ = mark.pos;
  items_.clear();
  texts_.clear();
  open_.clear();
  anchors_.clear();
}

YamlTape::Item& YamlTape::add(Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto index = static_cast<std::uint32_t>(items_.size());
  if (anchor != YAML::NullAnchor) {
    if (anchor >= anchors_.size()) anchors_.resize(anchor + 1);
    anchors_[anchor] = index;
  }
  Item& item = items_.emplace_back();
  item.kind = kind;
  item.next = index + 1;
  item.mark = mark;
  return item;
}

void YamlTape::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  add(Kind::kNull, mark, anchor);
}

void YamlTape::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const std::uint32_t target = anchors_.at(anchor);
  if (items_[target].next == 0) fail_yaml(mark, "", "alias to a value that contains it");
  add(Kind::kAlias, mark, YAML::NullAnchor).at = target;
}

void YamlTape::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                        const std::string& text) {
  check_tag(mark, tag);
  Item& item = add(Kind::kScalar, mark, anchor);
  // yaml-cpp passes the tag "!" for a quoted scalar, and "?" or none for a plain one.
  item.is_plain = tag == "?" || tag.empty();
  item.is_text = tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary";
  item.at = static_cast<std::uint32_t>(texts_.size());
  item.length = static_cast<std::uint32_t>(text.size());
  texts_ += text;
}

void YamlTape::open(Kind kind, const YAML::Mark& mark, const std::string& tag,
                    YAML::anchor_t anchor) {
  check_tag(mark, tag);
  open_.push_back(static_cast<std::uint32_t>(items_.size()));
  add(kind, mark, anchor).next = 0;
}

void YamlTape::close() {
  items_[open_.back()].next = static_cast<std::uint32_t>(items_.size());
  open_.pop_back();
}

void YamlTape::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                               YAML::anchor_t anchor, YAML::EmitterStyle::value /*style*/) {
  open(Kind::kSequence, mark, tag, anchor);
}

void YamlTape::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                          YAML::EmitterStyle::value /*style*/) {
  open(Kind::kMap, mark, tag, anchor);
}

}  // namespace kube::detail

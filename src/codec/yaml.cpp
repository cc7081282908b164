// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/yaml.hpp>

#include "yaml_reader.hpp"
#include "yaml_words.hpp"

#include <kube/codec/error.hpp>

namespace kube {

namespace {

using detail::bool_word;
using detail::is_null_word;
using detail::number_word;

/// True if a plain scalar would be parsed as something else than this text.
bool needs_quotes(std::string_view text) {
  if (is_null_word(text) || bool_word(text) || number_word(text)) return true;
  constexpr std::string_view kPlainFirst = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-@ ";
  return kPlainFirst.find(text.front()) == std::string_view::npos ||
         text.find_first_not_of(kPlain) != std::string_view::npos || text.back() == ' ';
}

/// YAML requires the colon within 1024 characters; longer keys are written with a question mark.
constexpr std::size_t kLongestSimpleKey = 128;

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  /// Writes a value that starts on the current line, after `indent` columns of its parent.
  void value(const Value& value, std::size_t indent) {
    if (value.is_object() && value.size() > 0) {
      bool first = true;
      for (const auto& [key, member] : value.as_object()) {
        if (!first) out_.append(indent, ' ');
        first = false;
        const bool is_long = key.size() > kLongestSimpleKey;
        if (is_long) out_ += "? ";
        scalar_text(key);
        if (is_long) (out_ += '\n').append(indent, ' ');
        out_ += ':';
        nested(member, indent, is_long);
      }
    } else if (value.is_array() && value.size() > 0) {
      bool first = true;
      for (const Value& element : value.as_array()) {
        if (!first) out_.append(indent, ' ');
        first = false;
        out_ += "- ";
        this->value(element, indent + 2);
      }
    } else {
      scalar(value);
      out_ += '\n';
    }
  }

 private:
  void nested(const Value& member, std::size_t indent, bool is_below_long_key) {
    const bool is_block = (member.is_object() || member.is_array()) && member.size() > 0;
    if (!is_block) {
      out_ += ' ';
      value(member, indent);
      return;
    }
    out_ += '\n';
    const std::size_t below = member.is_object() || is_below_long_key ? indent + 2 : indent;
    out_.append(below, ' ');
    value(member, below);
  }
  void scalar(const Value& value) {
    if (value.is_string()) {
      scalar_text(value.as_string());
    } else {
      out_ += encode_json(value);
    }
  }
  void scalar_text(std::string_view text) {
    if (needs_quotes(text)) {
      detail::JsonWriter{out_}.text(text);  // a JSON string is also a YAML string
    } else {
      out_ += text;
    }
  }

  std::string& out_;
};

}  // namespace

std::vector<YamlDocument> decode_yaml_stream(std::string_view text) {
  std::vector<YamlDocument> documents;
  for (const detail::ReadDocument& one : detail::read_yaml(text)) {
    documents.push_back({freeze(one.content), one.number, one.line});
  }
  return documents;
}

std::vector<Ref<Value>> decode_yaml_documents(std::string_view text) {
  std::vector<Ref<Value>> refs;
  for (YamlDocument& document : decode_yaml_stream(text)) {
    refs.push_back(std::move(document.content));
  }
  return refs;
}

std::string detail::json_from_yaml(std::string_view text) {
  return kube::encode_json(read_yaml_document(text));
}

std::string yaml_from_json(const Value& document) {
  std::string out;
  YamlWriter{out}.value(document, 0);
  return out;
}

}  // namespace kube

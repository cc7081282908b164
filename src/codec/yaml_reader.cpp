// SPDX-License-Identifier: Apache-2.0
#include "yaml_reader.hpp"

#include "yaml_tape.hpp"
#include "yaml_words.hpp"

#include "codec/path.hpp"
#include "codec/utf8.hpp"
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace kube::detail {

namespace {

/// Deep enough for any manifest, and below the limit of yaml-cpp.
constexpr int kMaxDepth = 200;
/// Limit of values that aliases may add. (Without aliases, a text has fewer values than bytes.)
constexpr std::size_t kRepeatedNodes = 10'000;
/// Bytes that aliases may add: a constant, plus a multiple of the size of the text.
constexpr std::size_t kRepeatedBytes = std::size_t{1} << 20;
constexpr std::size_t kRepeatedPerByte = 16;
/// Memory of a value without its text: a word, the header of its allocation, an entry of a map.
constexpr std::size_t kValueBytes = 64;
/// yaml-cpp stores positions in the text as signed 32-bit integers.
constexpr std::size_t kLongestText = std::size_t{1} << 30;

using Members = std::map<std::string, Value>;

/// Converts the documents of one stream to values.
class Converter {
 public:
  Converter(const YamlTape& tape, std::size_t text_size, std::vector<YamlDuplicate>* duplicates)
      : tape_(tape),
        duplicates_(duplicates),
        text_size_(text_size),
        max_nodes_(kRepeatedNodes + text_size),
        max_repeated_(kRepeatedBytes + kRepeatedPerByte * text_size) {}

  Value convert(const YamlTape::Item& item, const PathFrame* path, int depth) {
    if (item.kind == YamlTape::Kind::kAlias) {
      ++aliases_;
      Value value = convert(tape_.target(item), path, depth);
      --aliases_;
      return value;
    }
    charge(item, path, depth);
    switch (item.kind) {
      case YamlTape::Kind::kScalar:
        return scalar(item, path);
      case YamlTape::Kind::kSequence: {
        Value array = Value::array();
        std::size_t i = 0;
        for (const YamlTape::Item& element : tape_.inside(item)) {
          const PathFrame below{path, {}, i++};
          array.push_back(convert(element, &below, depth + 1));
        }
        return array;
      }
      case YamlTape::Kind::kMap: {
        Value object = Value::object();
        // In sorted order, so that each insertion is at the end.
        for (auto& [key, member] : members(item, path, depth)) object[key] = std::move(member);
        return object;
      }
      default:
        return Value{nullptr};
    }
  }

 private:
  /// Counts a value that is about to be created.
  void charge(const YamlTape::Item& item, const PathFrame* path, int depth) {
    if (depth > kMaxDepth) fail(item, path, "nested too deeply");
    if (++nodes_ > max_nodes_) fail(item, path, "too many values (repeated aliases?)");
    charge_repetition(item, path);
  }
  /// Counts the bytes of a value or key that is reached through an alias.
  void charge_repetition(const YamlTape::Item& item, const PathFrame* path) {
    if (aliases_ == 0) return;
    repeated_ += kValueBytes + tape_.text(item).size();
    if (repeated_ > max_repeated_) {
      fail(item, path,
           "aliases repeat more than " + std::to_string(max_repeated_) +
               " bytes, out of proportion to a text of " + std::to_string(text_size_) +
               " bytes; write the values out or refer to smaller ones");
    }
  }

  Members members(const YamlTape::Item& map, const PathFrame* path, int depth) {
    Members named;
    Members merged;  // members of merge keys; `named` has precedence
    const YamlTape::Range inside = tape_.inside(map);
    for (auto at = inside.begin(); at != inside.end(); ++at) {
      const YamlTape::Item& given = *at;
      const YamlTape::Item& value = *++at;
      const YamlTape::Item& key_item =
          given.kind == YamlTape::Kind::kAlias ? tape_.target(given) : given;
      if (key_item.kind != YamlTape::Kind::kScalar) fail(given, path, "key is not a string");
      if (tape_.text(key_item) == "<<" && key_item.is_plain) {
        Members last;
        merge(last, value, path, depth + 1);
        for (auto& [name, member] : last) merged.insert_or_assign(name, std::move(member));
        continue;
      }
      if (&key_item != &given) ++aliases_;
      charge_repetition(key_item, path);
      if (&key_item != &given) --aliases_;
      std::string key = key_text(key_item);
      if (!is_utf8(key)) fail(given, path, "text is not valid UTF-8");
      const bool is_repeated = named.contains(key);
      if (is_repeated && duplicates_ == nullptr) fail_twice(given, path, key);
      const PathFrame below{path, key};
      Value member = convert(value, &below, depth + 1);
      if (is_repeated) {  // recorded after the keys inside of the value, as a real server does
        duplicates_->push_back(
            {static_cast<std::size_t>(value.mark.line) + 1, key_literal(key_item)});
      }
      named.insert_or_assign(std::move(key), std::move(member));
    }
    named.merge(merged);
    return named;
  }

  /// Implements `<<: *base`: merges the members of another map, or of several, of which the first
  /// has precedence.
  void merge(Members& into, const YamlTape::Item& given, const PathFrame* path, int depth) {
    const bool is_alias = given.kind == YamlTape::Kind::kAlias;
    const YamlTape::Item& from = is_alias ? tape_.target(given) : given;
    aliases_ += is_alias ? 1 : 0;
    charge(from, path, depth);
    if (from.kind == YamlTape::Kind::kSequence) {
      for (const YamlTape::Item& element : tape_.inside(from)) {
        const YamlTape::Item& map =
            element.kind == YamlTape::Kind::kAlias ? tape_.target(element) : element;
        if (map.kind != YamlTape::Kind::kMap) fail(element, path, "<<: expected a map");
        merge(into, element, path, depth + 1);
      }
    } else if (from.kind == YamlTape::Kind::kMap) {
      into.merge(members(from, path, depth));  // existing members are kept
    } else {
      fail(given, path, "<<: expected a map or a list of maps");
    }
    aliases_ -= is_alias ? 1 : 0;
  }

  [[noreturn]] static void fail_twice(const YamlTape::Item& item, const PathFrame* path,
                                      std::string_view key) {
    constexpr std::size_t kQuoted = 80;
    fail(item, path, "key \"" + std::string{key.substr(0, kQuoted)} + "\" is set twice");
  }

  /// JSON keys are strings; Kubernetes converts the keys of `yes: 1` and `0x10: 1` to "true" and
  /// "16".
  [[nodiscard]] std::string key_text(const YamlTape::Item& item) const {
    const std::string_view text = tape_.text(item);
    if (!item.is_plain) return std::string{text};
    if (const std::optional<bool> flag = bool_word(text)) return *flag ? "true" : "false";
    if (const std::optional<Value> number = number_word(text)) return encode_json(*number);
    return std::string{text};
  }

  [[nodiscard]] std::string key_literal(const YamlTape::Item& item) const {
    const std::string_view text = tape_.text(item);
    if (item.is_plain && (bool_word(text) || number_word(text))) return key_text(item);
    return encode_json(Value{text});
  }

  [[nodiscard]] Value scalar(const YamlTape::Item& item, const PathFrame* path) const {
    const std::string_view text = tape_.text(item);
    if (!is_utf8(text)) fail(item, path, "text is not valid UTF-8");
    if (item.is_text) return Value{text};
    if (is_null_word(text)) return Value{nullptr};
    if (is_not_finite(text)) fail(item, path, "JSON has no number " + std::string{text});
    if (const std::optional<bool> flag = bool_word(text)) return Value{*flag};
    if (std::optional<Value> number = number_word(text)) return std::move(*number);
    return Value{text};
  }

  [[noreturn]] static void fail(const YamlTape::Item& item, const PathFrame* path,
                                std::string_view problem) {
    fail_yaml(item.mark, path == nullptr ? std::string{} : path->text(), problem);
  }

  const YamlTape& tape_;
  std::vector<YamlDuplicate>* const duplicates_;
  const std::size_t text_size_;
  const std::size_t max_nodes_;
  const std::size_t max_repeated_;
  std::size_t nodes_ = 0;
  std::size_t repeated_ = 0;
  int aliases_ = 0;  ///< number of aliases around the current value
};

}  // namespace

std::vector<ReadDocument> read_yaml(std::string_view text,
                                    std::vector<YamlDuplicate>* duplicates) {
  if (text.size() > kLongestText) {
    throw YamlError(CodecError("", "YAML of more than 1 GiB", 0), 1);
  }
  std::string input{text};
  // Without this marker, yaml-cpp accepts a quoted text that is not terminated before the end of
  // the input.
  if (input.ends_with('\n')) input += "...\n";
  std::vector<ReadDocument> documents;
  std::size_t number = 1;
  try {
    try {
      std::istringstream stream{std::move(input)};
      YAML::Parser parser{stream};
      YamlTape tape;
      Converter converter{tape, text.size(), duplicates};
      for (; parser.HandleNextDocument(tape); ++number) {
        if (tape.is_empty()) continue;
        const auto line = static_cast<std::size_t>(tape.root().mark.line) + 1;
        documents.push_back({converter.convert(tape.root(), nullptr, 0), number, line});
      }
    } catch (const YAML::Exception& error) {
      fail_yaml(error.mark, "", error.msg);
    }
  } catch (const CodecError& error) {
    throw YamlError(error, number);
  }
  return documents;
}

Value read_yaml_document(std::string_view text, std::vector<YamlDuplicate>* duplicates) {
  std::vector<ReadDocument> documents = read_yaml(text, duplicates);
  if (documents.size() != 1) {
    throw CodecError("", "expected one YAML document, found " + std::to_string(documents.size()),
                     0);
  }
  return std::move(documents.front().content);
}

}  // namespace kube::detail

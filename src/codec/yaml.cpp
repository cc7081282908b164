// SPDX-License-Identifier: Apache-2.0
#include <kube/codec/yaml.hpp>

#include <kube/codec/error.hpp>
#include <kube/codec/utf8.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

namespace kube {

namespace {

/// Deep enough for any manifest; below the depth at which yaml-cpp gives up by itself.
constexpr int kMaxDepth = 200;
/// Without aliases a text has fewer values than bytes; with them it may repeat some, but not without end.
constexpr std::size_t kRepeatedNodes = 10'000;

[[noreturn]] void fail(const YAML::Mark& mark, const std::string& path, std::string_view problem) {
  const std::string place = mark.is_null() ? std::string{}
                                           : "line " + std::to_string(mark.line + 1) + ", column " +
                                                 std::to_string(mark.column + 1) + ": ";
  throw CodecError(path, place + std::string{problem},
                   mark.is_null() ? 0 : static_cast<std::size_t>(mark.pos));
}

/// Plain scalars that YAML 1.1, and with it Kubernetes, takes for something else than text.
bool is_null_word(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<bool> bool_word(std::string_view text) {
  for (const std::string_view word :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    if (text == word) return true;
  }
  for (const std::string_view word :
       {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

/// Numbers of YAML that JSON does not have.
bool is_not_finite(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  constexpr std::string_view kWords[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  return std::ranges::find(kWords, text) != std::end(kWords);
}

/// The base that the first characters of `digits` tell, which are removed.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  int base = 10;
  switch (digits[1]) {
    case 'x':
    case 'X':
      base = 16;
      break;
    case 'o':
    case 'O':
      base = 8;
      break;
    case 'b':
    case 'B':
      base = 2;
      break;
    default:  // YAML 1.1
      return digits.find_first_not_of("01234567") == std::string_view::npos ? 8 : 10;
  }
  digits.remove_prefix(2);
  return base;
}

std::optional<Value> number_word(std::string_view text) {
  constexpr std::string_view kFirst = "+-.0123456789";
  if (text.empty() || kFirst.find(text.front()) == std::string_view::npos) return std::nullopt;
  std::string without_underscores;
  if (text.find('_') != std::string_view::npos) {  // 1_000_000
    without_underscores = text;
    std::erase(without_underscores, '_');
    text = without_underscores;
  }
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  std::string_view body = digits;
  const int base = take_base(body);
  std::uint64_t magnitude = 0;
  const auto whole = std::from_chars(body.data(), body.data() + body.size(), magnitude, base);
  if (!body.empty() && whole.ec == std::errc{} && whole.ptr == body.data() + body.size()) {
    if (!negative && magnitude <= INT64_MAX) return Value{static_cast<std::int64_t>(magnitude)};
    if (negative && magnitude <= std::uint64_t{1} << 63) {
      return Value{static_cast<std::int64_t>(-magnitude)};
    }
    return Value{negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude)};
  }
  if (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')) return std::nullopt;
  double number = 0;
  const auto fraction = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fraction.ec == std::errc{} && fraction.ptr == digits.data() + digits.size() &&
      std::isfinite(number)) {
    return Value{negative ? -number : number};
  }
  return std::nullopt;
}

/// Without quotes and without a tag that says what it is.
bool is_plain(const YAML::Node& scalar) { return scalar.Tag() == "?" || scalar.Tag().empty(); }

/// JSON has only text for keys; Kubernetes writes `yes: 1` and `0x10: 1` as "true" and "16".
std::string key_text(const YAML::Node& scalar) {
  const std::string& text = scalar.Scalar();
  if (!is_plain(scalar)) return text;
  if (const std::optional<bool> flag = bool_word(text)) return *flag ? "true" : "false";
  if (const std::optional<Value> number = number_word(text)) return encode_json(*number);
  return text;
}

class Converter {
 public:
  explicit Converter(std::size_t text_size) : max_nodes_(kRepeatedNodes + text_size) {}

  Value convert(const YAML::Node& node, const std::string& path, int depth) {
    if (depth > kMaxDepth) fail(node.Mark(), path, "nested too deeply");
    if (++nodes_ > max_nodes_) fail(node.Mark(), path, "too many values (repeated aliases?)");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return scalar(node, path);
      case YAML::NodeType::Sequence: {
        Value array = Value::array();
        std::size_t i = 0;
        for (const YAML::Node& element : node) {
          const std::string below = path + '[' + std::to_string(i++) + ']';
          array.push_back(convert(element, below, depth + 1));
        }
        return array;
      }
      case YAML::NodeType::Map: {
        Members members;
        Members merged;  // what is named here counts more
        for (const auto& entry : node) {
          if (!entry.first.IsScalar()) fail(entry.first.Mark(), path, "key is not a text");
          if (entry.first.Scalar() == "<<" && is_plain(entry.first)) {
            merge(merged, entry.second, path, depth + 1);
            continue;
          }
          const std::string key = key_text(entry.first);
          if (!detail::is_utf8(key)) fail(entry.first.Mark(), path, "text is not valid UTF-8");
          if (members.contains(key)) {
            fail(entry.first.Mark(), path, "key \"" + key + "\" stands here twice");
          }
          std::string below = path;
          if (!below.empty()) below += '.';
          below += key;
          members.emplace(key, convert(entry.second, below, depth + 1));
        }
        members.merge(merged);
        Value object = Value::object();
        // In order, so that each goes to the end and none has to make room for another.
        for (auto& [key, member] : members) object[key] = std::move(member);
        return object;
      }
      default:
        return Value{nullptr};
    }
  }

 private:
  using Members = std::map<std::string, Value>;

  /// `<<: *base`: the members of another map, or of several, of which the first counts most.
  void merge(Members& members, const YAML::Node& from, const std::string& path, int depth) {
    if (from.IsSequence()) {
      for (std::size_t i = from.size(); i > 0; --i) {
        if (!from[i - 1].IsMap()) fail(from[i - 1].Mark(), path, "<<: expected a map");
        merge(members, from[i - 1], path, depth + 1);
      }
      return;
    }
    if (!from.IsMap()) fail(from.Mark(), path, "<<: expected a map or a list of maps");
    const Value merged = convert(from, path, depth);
    for (const auto& [key, member] : merged.as_object()) {
      members.insert_or_assign(std::string{key.view()}, member);
    }
  }

  static Value scalar(const YAML::Node& node, const std::string& path) {
    const std::string& text = node.Scalar();
    if (!detail::is_utf8(text)) fail(node.Mark(), path, "text is not valid UTF-8");
    // "!" marks a quoted scalar; "?" and no tag a plain one.
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "tag:yaml.org,2002:binary") {
      return Value{text};
    }
    if (is_null_word(text)) return Value{nullptr};
    if (is_not_finite(text)) fail(node.Mark(), path, "JSON has no number " + text);
    if (const std::optional<bool> flag = bool_word(text)) return Value{*flag};
    if (std::optional<Value> number = number_word(text)) return std::move(*number);
    return Value{text};
  }

  std::size_t max_nodes_;
  std::size_t nodes_ = 0;
};

/// yaml-cpp does not move beyond some tokens that cannot stand where they stand, such as a comma between
/// documents, and would deliver empty documents without end. So its parser goes through the text once with
/// nothing to build.
class Progress : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos == last_) fail(mark, "", "expected a document");
    last_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*text*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}

 private:
  int last_ = -1;
};

void check_progress(const std::string& input) {
  std::istringstream stream{input};
  YAML::Parser parser{stream};
  Progress progress;
  while (parser.HandleNextDocument(progress)) {
  }
}

std::vector<Value> documents(std::string_view text) {
  std::vector<Value> values;
  std::string input{text};
  // Without it, yaml-cpp takes a quoted text that has no end to end with the input.
  if (input.ends_with('\n')) input += "...\n";
  try {
    check_progress(input);
    for (const YAML::Node& node : YAML::LoadAll(input)) {
      if (!node.IsDefined() || node.IsNull()) continue;
      values.push_back(Converter{text.size()}.convert(node, "", 0));
    }
  } catch (const YAML::Exception& error) {
    fail(error.mark, "", error.msg);
  }
  return values;
}

/// Whether a plain scalar would be read back as something else.
bool needs_quotes(std::string_view text) {
  if (is_null_word(text) || bool_word(text) || number_word(text)) return true;
  constexpr std::string_view kPlainFirst = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-@ ";
  return kPlainFirst.find(text.front()) == std::string_view::npos ||
         text.find_first_not_of(kPlain) != std::string_view::npos || text.back() == ' ';
}

/// YAML wants the colon within 1024 characters; what is longer is written with a question mark.
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
      detail::JsonWriter{out_}.text(text);  // a JSON string is a YAML string
    } else {
      out_ += text;
    }
  }

  std::string& out_;
};

}  // namespace

std::vector<Ref<Value>> decode_yaml_documents(std::string_view text) {
  std::vector<Ref<Value>> refs;
  for (const Value& value : documents(text)) refs.push_back(freeze(value));
  return refs;
}

std::string detail::json_from_yaml(std::string_view text) {
  const std::vector<Value> values = documents(text);
  if (values.size() != 1) {
    throw CodecError("", "expected one YAML document, found " + std::to_string(values.size()), 0);
  }
  return kube::encode_json(values.front());
}

std::string yaml_from_json(const Value& document) {
  std::string out;
  YamlWriter{out}.value(document, 0);
  return out;
}

}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "object/arena.hpp"
#include <kube/codec/base64.hpp>
#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/config/config.hpp>

#include <exception>

#include <string.h>

namespace kube::detail {

namespace {

bool is_unset(const Value& value) { return value.is_absent() || value.is_null(); }

[[noreturn]] void fail(const std::string& path, std::string_view expected, const Value& found) {
  throw ConfigError(path + (path.empty() ? "" : ": ") + "expected " + std::string{expected} +
                    ", found " + std::string{to_string(found.kind())});
}

std::string text_of(const Value& value, const std::string& path) {
  if (is_unset(value)) return {};
  if (!value.is_string()) fail(path, "string", value);
  return std::string{value.as_string()};
}

/// Casts const away: the document is about to be destroyed, and no other reference exists.
void wipe_texts(const Value& value) noexcept {
  if (value.is_string()) {
    const std::string_view text = value.as_string();
    ::explicit_bzero(const_cast<char*>(text.data()), text.size());
  } else if (value.is_array()) {
    for (const Value& element : value.as_array()) wipe_texts(element);
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.as_object()) wipe_texts(member);
  }
}

/// Frees the idle arena memory of the decoder, which would otherwise keep its content for the next
/// decoder.
struct ArenaWiper {
  ~ArenaWiper() { Arena::drop_idle_memory(); }
};

}  // namespace

WipedDocument::~WipedDocument() {
  if (document_) wipe_texts(*document_);
}

Ref<Value> decode_document(std::string_view text) {
  const ArenaWiper wiper;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    try {
      return decode_json<Value>(text);
    } catch (const CodecError&) {  // may still be YAML in flow style
    }
  }
  std::vector<Ref<Value>> documents = decode_yaml_documents(text);
  if (documents.size() > 1) {
    throw CodecError("", "expected one document, found " + std::to_string(documents.size()), 0);
  }
  return documents.empty() ? Ref<Value>{} : std::move(documents.front());
}

ObjectReader::ObjectReader(const Value& value, std::string path)
    : value_(&value), path_(std::move(path)) {
  if (!is_unset(value) && !value.is_object()) fail(path_, "object", value);
}

std::string ObjectReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string{key} : path_ + '.' + std::string{key};
}

const Value& ObjectReader::value(std::string_view key) const { return (*value_)[key]; }

bool ObjectReader::has(std::string_view key) const { return !is_unset(value(key)); }

std::string ObjectReader::text(std::string_view key) const {
  return text_of(value(key), path_of(key));
}

bool ObjectReader::flag(std::string_view key) const {
  const Value& found = value(key);
  if (is_unset(found)) return false;
  if (found.kind() != Value::Kind::kBool) fail(path_of(key), "boolean", found);
  return found.as_bool();
}

SecretText ObjectReader::data(std::string_view key) const {
  const SecretText encoded{text(key)};
  std::optional<std::string> decoded = base64_decode(encoded);
  if (!decoded) throw ConfigError(path_of(key) + ": expected base64");
  return std::move(*decoded);
}

std::vector<std::string> ObjectReader::texts(std::string_view key) const {
  std::vector<std::string> texts;
  const Value& found = value(key);
  if (is_unset(found)) return texts;
  const std::string path = path_of(key);
  if (!found.is_array()) fail(path, "list", found);
  for (const Value& element : found.as_array()) {
    texts.push_back(text_of(element, path + '[' + std::to_string(texts.size()) + ']'));
  }
  return texts;
}

ObjectReader ObjectReader::object(std::string_view key) const { return {value(key), path_of(key)}; }

std::vector<ObjectReader> ObjectReader::objects(std::string_view key) const {
  std::vector<ObjectReader> objects;
  const Value& found = value(key);
  if (is_unset(found)) return objects;
  const std::string path = path_of(key);
  if (!found.is_array()) fail(path, "list", found);
  for (const Value& element : found.as_array()) {
    objects.emplace_back(element, path + '[' + std::to_string(objects.size()) + ']');
  }
  return objects;
}

std::vector<std::string> ObjectReader::keys() const {
  std::vector<std::string> keys;
  if (!value_->is_object()) return keys;
  for (const auto& [key, member] : value_->as_object()) keys.push_back(key.str());
  return keys;
}

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#include <kube/client/manifest.hpp>

#include "manifest_plan.hpp"

#include <kube/codec/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/yaml.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kube {

namespace {

/// Returns the documents of a text. JSON is valid YAML, except that it may be indented with tabs.
std::vector<YamlDocument> read_documents(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  if (text.substr(first, 1) == "{") {
    try {
      const auto line = 1 + std::count(text.begin(), text.begin() + first, '\n');
      return {{decode_json<Value>(text), 1, static_cast<std::size_t>(line)}};
    } catch (const CodecError&) {  // NOLINT(bugprone-empty-catch): YAML, or reported by its reader
    }
  }
  return decode_yaml_stream(text);
}

std::string text_of(const Value& value) {
  return value.is_string() ? std::string{value.as_string()} : std::string{};
}

/// Reads the objects of one text.
class ManifestReader {
 public:
  explicit ManifestReader(std::string_view source) : source_(source) {}

  Manifest read(std::string_view text) {
    try {
      for (const YamlDocument& document : read_documents(text)) {
        add_document(document.content, {source_, document.number, document.line});
      }
    } catch (const YamlError& error) {
      problems_.push_back(to_string(ManifestPlace{source_, error.document()}) + ": " +
                          error.what());
    }
    detail::throw_problems(problems_);
    return std::move(objects_);
  }

 private:
  void add_document(const Ref<Value>& document, ManifestPlace place) {
    const std::string kind = text_of((*document)["kind"]);
    const Value& items = (*document)["items"];
    if (!kind.ends_with("List") || !items.is_array()) {
      add({.place = std::move(place), .object = document}, kind);
      return;
    }
    // The items of a PodList may have no kind.
    const std::string item_kind = kind.substr(0, kind.size() - std::string_view{"List"}.size());
    for (const Value& item : items.as_array()) {
      ++place.item;
      if (item.is_object() && item["kind"].is_absent() && !item_kind.empty()) {
        Value whole = item;
        whole["kind"] = item_kind;
        whole["apiVersion"] = (*document)["apiVersion"];
        add({.place = place, .object = freeze(whole)}, item_kind);
      } else {
        add({.place = place, .object = Ref<Value>{document, &item}}, text_of(item["kind"]));
      }
    }
  }

  void add(ManifestObject object, const std::string& kind) {
    const std::string problem = check(object, kind);
    if (problem.empty()) {
      objects_.push_back(std::move(object));
    } else {
      problems_.push_back(detail::describe_object(object.place, object.kind, object.key) + problem);
    }
  }

  /// Fills in kind and key. Returns what is wrong with the object.
  static std::string check(ManifestObject& object, const std::string& kind) {
    const Value& document = *object.object;
    if (!document.is_object()) {
      return fmt::format("expected an object, found {}", to_string(document.kind()));
    }
    const Value& metadata = document["metadata"];
    object.kind.kind = kind;
    object.key = {text_of(metadata["namespace"]), text_of(metadata["name"])};
    try {
      object.kind = parse_group_version(text_of(document["apiVersion"])).with_kind(kind);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    if (object.kind.version.empty()) return "apiVersion is missing";
    if (kind.empty()) return "kind is missing";
    if (!metadata["namespace"].is_absent() && !metadata["namespace"].is_string()) {
      return "metadata.namespace is not a string";
    }
    if (!object.key.name.empty()) return {};
    return metadata["generateName"].is_absent()
               ? "metadata.name is missing"
               : "an object with generateName cannot be applied: set metadata.name";
  }

  const std::string source_;
  Manifest objects_;
  std::vector<std::string> problems_;
};

}  // namespace

std::string to_string(const ManifestPlace& place) {
  std::string text = place.source.empty() ? std::string{} : place.source + ": ";
  text += fmt::format("document {}", place.document);
  if (place.line > 0) text += fmt::format(" (line {})", place.line);
  if (place.item > 0) text += fmt::format(", item {}", place.item);
  return text;
}

std::string_view to_string(ManifestAction action) noexcept {
  switch (action) {
    case ManifestAction::kCreated:
      return "created";
    case ManifestAction::kChanged:
      return "changed";
    case ManifestAction::kUnchanged:
      return "unchanged";
    case ManifestAction::kDeleted:
      return "deleted";
    case ManifestAction::kPruned:
      return "pruned";
    case ManifestAction::kAbsent:
      return "absent";
    case ManifestAction::kNotChecked:
      return "not checked";
    case ManifestAction::kFailed:
      return "failed";
    case ManifestAction::kNotTried:
      return "not tried";
  }
  return "";
}

std::string to_string(const ManifestResult& result) {
  std::string text = detail::describe(result.kind, result.key) + ' ';
  text += to_string(result.action);
  if (!result.problem.empty()) text += ": " + result.problem;
  return text;
}

Manifest parse_manifest(std::string_view text, std::string_view source) {
  return ManifestReader{source}.read(text);
}

std::vector<ManifestResult> apply_manifest(const Client& client, std::string_view text,
                                           const ManifestOptions& options, std::stop_token stop) {
  return apply_manifest(client, parse_manifest(text), options, std::move(stop));
}

std::vector<ManifestResult> delete_manifest(const Client& client, std::string_view text,
                                            const ManifestDeleteOptions& options,
                                            std::stop_token stop) {
  return delete_manifest(client, parse_manifest(text), options, std::move(stop));
}

std::vector<ObjectDiff> diff_manifest(const Client& client, std::string_view text,
                                      const ManifestOptions& options, std::stop_token stop) {
  return diff_manifest(client, parse_manifest(text), options, std::move(stop));
}

}  // namespace kube

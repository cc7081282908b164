// SPDX-License-Identifier: Apache-2.0
#include "testkit/cel/type.hpp"

#include "testkit/cel/characters.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kube::testkit::cel {

namespace {

TypePtr make(TypeKind kind, std::string_view name, std::vector<TypePtr> parameters = {}) {
  Type type;
  type.kind = kind;
  type.name = name;
  type.parameters = std::move(parameters);
  return std::make_shared<const Type>(std::move(type));
}

}  // namespace

TypePtr simple_type(TypeKind kind) {
  static const auto kTypes = [] {
    std::array<TypePtr, static_cast<std::size_t>(TypeKind::kParameter) + 1> types;
    for (std::size_t i = 0; i < types.size(); ++i) types[i] = make(static_cast<TypeKind>(i), "");
    return types;
  }();
  return kTypes[static_cast<std::size_t>(kind)];
}

TypePtr open_type() {
  static const TypePtr kOpen = make(TypeKind::kDyn, "open");
  return kOpen;
}

bool is_open(const Type& type) { return type.kind == TypeKind::kDyn && !type.name.empty(); }

TypePtr list_type(TypePtr element) { return make(TypeKind::kList, "", {std::move(element)}); }

TypePtr map_type(TypePtr key, TypePtr value) {
  return make(TypeKind::kMap, "", {std::move(key), std::move(value)});
}

TypePtr optional_type(TypePtr value) { return make(TypeKind::kOptional, "", {std::move(value)}); }

TypePtr type_type(TypePtr about) { return make(TypeKind::kType, "", {std::move(about)}); }

TypePtr opaque_type(std::string_view name) {
  static const std::map<std::string, TypePtr, std::less<>> kTypes = [] {
    std::map<std::string, TypePtr, std::less<>> types;
    for (const char* known : {"kubernetes.URL", "kubernetes.Quantity", "kubernetes.NamedFormat",
                              "kubernetes.Semver", "net.IP", "net.CIDR"}) {
      types.emplace(known, make(TypeKind::kOpaque, known));
    }
    return types;
  }();
  const auto found = kTypes.find(name);
  return found != kTypes.end() ? found->second : make(TypeKind::kOpaque, name);
}

TypePtr parameter_type(std::string_view name) { return make(TypeKind::kParameter, name); }

const Type::Field* find_field(const Type& object, std::string_view name) {
  auto found = object.fields.find(name);
  if (found == object.fields.end() && is_reserved(name)) {
    found = object.fields.find(escape_property(name));
  }
  return found == object.fields.end() ? nullptr : &found->second;
}

std::string_view name_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDyn:
      return "dyn";
    case TypeKind::kNull:
      return "null_type";
    case TypeKind::kBool:
      return "bool";
    case TypeKind::kInt:
      return "int";
    case TypeKind::kUint:
      return "uint";
    case TypeKind::kDouble:
      return "double";
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kTimestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::kDuration:
      return "google.protobuf.Duration";
    case TypeKind::kList:
      return "list";
    case TypeKind::kMap:
      return "map";
    case TypeKind::kType:
      return "type";
    case TypeKind::kOptional:
      return "optional_type";
    default:
      return type.name;
  }
}

std::string to_string(const Type& type) {
  if (type.kind == TypeKind::kTimestamp) return "timestamp";
  if (type.kind == TypeKind::kDuration) return "duration";
  if (type.kind == TypeKind::kNull) return "null";
  std::string text{name_of(type)};
  if (type.parameters.empty()) return text;
  text += '(';
  for (std::size_t i = 0; i < type.parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += to_string(*type.parameters[i]);
  }
  return text + ')';
}

bool is_reserved(std::string_view word) {
  static constexpr std::array kWords{
      "true",     "false",   "null",      "in",     "as",  "break",    "const",
      "continue", "else",    "for",       "if",     "let", "function", "import",
      "loop",     "package", "namespace", "return", "var", "void",     "while"};
  return std::ranges::any_of(kWords, [&](const char* known) { return word == known; });
}

std::string escape_property(std::string_view property) {
  if (property.empty() || is_digit(property.front())) return {};
  if (is_reserved(property)) return "__" + std::string{property} + "__";
  std::string escaped;
  for (std::size_t i = 0; i < property.size(); ++i) {
    const char c = property[i];
    if (c == '_' && i + 1 < property.size() && property[i + 1] == '_') {
      escaped += "__underscores__";
      ++i;
    } else if (c == '.') {
      escaped += "__dot__";
    } else if (c == '-') {
      escaped += "__dash__";
    } else if (c == '/') {
      escaped += "__slash__";
    } else if (is_letter(c) || is_digit(c) || c == '_') {
      escaped += c;
    } else {
      return {};
    }
  }
  return escaped;
}

}  // namespace kube::testkit::cel

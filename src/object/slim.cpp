// SPDX-License-Identifier: Apache-2.0
#include <kube/object/slim.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace kube::detail {
namespace {

/// Copies a table to memory that is never released: descriptors live as long as the program.
template <typename T>
std::span<const T> copy_to_static(const std::vector<T>& table) {
  if (table.empty()) return {};
  T* const copy = new T[table.size()];
  std::ranges::copy(table, copy);
  return {copy, table.size()};
}

/// The message fields that are kept; `places` maps a field of the full type to its new index.
std::vector<ProtoField> slim_proto(std::span<const ProtoField> full,
                                   const std::vector<std::optional<std::uint32_t>>& places) {
  std::vector<ProtoField> kept;
  for (const ProtoField& entry : full) {
    if (entry.is_part) {
      const std::vector<ProtoField> part = slim_proto(entry.part, places);
      if (!part.empty()) {
        kept.push_back(ProtoField::inline_part(entry.number, copy_to_static(part)));
      }
    } else if (places[entry.field]) {
      kept.push_back({.number = entry.number, .field = *places[entry.field]});
    }
  }
  return kept;
}

bool holds_time(const Type& type) {
  return type.is(Type::kVolatile) || (type.element != nullptr && type.element->is(Type::kVolatile));
}

}  // namespace

Type slim_type(const Type& full, std::size_t size, const std::vector<KeptField>& fields) {
  std::vector<Field> kept;
  std::vector<std::optional<std::uint32_t>> places(full.fields.size());
  Type type = full;
  type.flags = static_cast<std::uint8_t>(full.flags & ~Type::kVolatile);
  type.size = static_cast<std::uint32_t>(size);
  for (std::size_t i = 0; i < full.fields.size(); ++i) {
    const Field& field = full.fields[i];
    for (const KeptField& mine : fields) {
      if (mine.full_offset != field.offset) continue;
      if (places[i]) {
        throw std::logic_error("a slim " + std::string{full.name} + " keeps the field \"" +
                               std::string{field.name()} + "\" twice");
      }
      places[i] = static_cast<std::uint32_t>(kept.size());
      kept.emplace_back(field.name(), *mine.type, mine.offset, field.flags);
      if (holds_time(*mine.type)) type.flags |= Type::kVolatile;
    }
  }
  type.fields = copy_to_static(kept);
  type.proto = copy_to_static(slim_proto(full.proto, places));
  return type;
}

}  // namespace kube::detail

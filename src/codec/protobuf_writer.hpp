// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/type.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kube::detail {

/// Writes protobuf back to front, so that the length of a message is known when it is written and
/// nothing is measured twice. Fields and map entries end up in ascending order, and plain fields
/// are written even when zero, as the API server does.
class ProtobufWriter {
 public:
  ProtobufWriter() = default;

  /// Prepends the message of `value`. Throws std::logic_error if the type has no protobuf form.
  void message(const Type& type, const std::byte* value);

  /// These prepend, so they are called in the reverse of the reading order.
  void bytes(std::string_view bytes);
  void varint(std::uint64_t number);
  void tag(std::uint32_t number, std::uint32_t wire) {
    varint((std::uint64_t{number} << 3) | wire);
  }
  void text_field(std::uint32_t number, std::string_view text);
  /// Prepends length and tag for everything that was written since the size was `size_before`.
  void close(std::uint32_t number, std::size_t size_before);

  [[nodiscard]] std::size_t size() const noexcept { return capacity_ - start_; }
  [[nodiscard]] std::string_view view() const noexcept { return {buffer_.get() + start_, size()}; }
  [[nodiscard]] std::string str() const { return std::string{view()}; }
  void clear() noexcept { start_ = capacity_; }

 private:
  char* reserve(std::size_t size);
  void table(const Type& type, std::span<const ProtoField> table, const std::byte* value);
  void field(const Field& field, std::uint32_t number, const std::byte* value);
  void element(const Type& type, std::uint32_t number, const std::byte* value);
  void list(const Type& type, std::uint32_t number, const std::byte* value);
  void map(const Type& type, std::uint32_t number, const std::byte* value);

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t start_ = 0;
  std::string scratch_;
};

}  // namespace kube::detail

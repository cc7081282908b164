// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace kube::c {

/// Copies the caller's options, which may have been compiled with this header, an older or a newer
/// one. Members that the caller does not know are zero, which is their default. Throws
/// std::invalid_argument if the size was not set, or if members are set that this library does not
/// know.
template <typename Options>
[[nodiscard]] Options read_options(const Options* given, const char* name) {
  static_assert(std::is_trivially_copyable_v<Options>);
  Options options{};
  if (given == nullptr) return options;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);  // not *given: the caller's struct may be smaller
  if (size < sizeof size) {
    throw std::invalid_argument(std::string{name} +
                                ": the member size is not set; set it to sizeof the struct");
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof options && std::any_of(bytes + sizeof options, bytes + size,
                                           [](unsigned char byte) { return byte != 0; })) {
    throw std::invalid_argument(
        std::string{name} +
        " has members that this version of the library does not know; leave them at zero, or use a "
        "newer library");
  }
  std::memcpy(static_cast<void*>(&options), given, std::min(size, sizeof options));
  options.size = sizeof options;
  return options;
}

}  // namespace kube::c

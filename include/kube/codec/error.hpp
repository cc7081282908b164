// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/error.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace kube {

/// Thrown for a document that cannot be decoded. The message contains the field and the byte
/// offset: `spec.containers[3].image: expected string, found number (byte 1042)`.
class CodecError : public Error {
 public:
  /// `offset` counts bytes from the start of the document.
  CodecError(std::string_view path, std::string_view problem, std::size_t offset)
      : Error(compose(path, problem, offset)), path_(path), problem_(problem), offset_(offset) {}

  /// The field, as in "spec.containers[3].image"; empty for the document itself.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
  /// The position of the error in the bytes of the document.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  static std::string compose(std::string_view path, std::string_view problem, std::size_t offset) {
    std::string message{path};
    if (!path.empty()) message += ": ";
    message += problem;
    message += " (byte " + std::to_string(offset) + ")";
    return message;
  }

  std::string path_;
  std::string problem_;
  std::size_t offset_;
};

}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include <kube/base/secret_text.hpp>
#include <kube/config/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Thrown when a file cannot be read. `code()` is the errno, or 0 if the file is too large.
class FileError : public ConfigError {
 public:
  FileError(int code, const std::string& message) : ConfigError(message), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] bool is_missing() const noexcept;

 private:
  int code_;
};

/// Returns the text of an errno.
[[nodiscard]] std::string error_text(int code);

/// Limit for the files of tokens, certificates and keys.
inline constexpr std::size_t kMaxSecretFileSize = std::size_t{4} << 20;

/// Reads a whole file, which may be a secret. Throws FileError ("cannot read <path>: ..."), also if
/// it has more than `limit` bytes.
[[nodiscard]] SecretText read_file(const std::string& path, std::size_t limit = kMaxSecretFileSize);
/// Returns "KUBECONFIG names /a, /b, which do not exist".
[[nodiscard]] std::string missing_files_text(const std::vector<std::string>& missing);
/// Replaces a file atomically. A new file is readable only by its owner; an existing one keeps its
/// mode. Throws FileError.
void replace_file(const std::string& path, std::string_view content);

/// Returns whether `text` is a valid header value: it has no control characters.
[[nodiscard]] bool is_header_value(std::string_view text) noexcept;

/// Reads a token from a file and trims it. Throws ConfigError if the file cannot be read or is
/// empty.
[[nodiscard]] SecretText read_token(const std::string& path);

}  // namespace kube::detail

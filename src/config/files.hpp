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

/// A file that cannot be read; `code()` is the errno, or 0 for a file that is too large.
class FileError : public ConfigError {
 public:
  FileError(int code, const std::string& message) : ConfigError(message), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] bool is_missing() const noexcept;

 private:
  int code_;
};

/// The text of an errno.
[[nodiscard]] std::string error_text(int code);

/// Tokens, certificates and keys are smaller.
inline constexpr std::size_t kMaxSecretFileSize = std::size_t{4} << 20;

/// The whole content, which may be a secret. Throws FileError ("cannot read <path>: ..."), also if there are more than `limit` bytes.
[[nodiscard]] SecretText read_file(const std::string& path, std::size_t limit = kMaxSecretFileSize);
/// "KUBECONFIG names /a, /b, which do not exist".
[[nodiscard]] std::string missing_files_text(const std::vector<std::string>& missing);
/// Writes a file that only its owner can read; one that exists keeps its mode, and readers see the old
/// content or the new one. Throws FileError.
void replace_file(const std::string& path, std::string_view content);

/// Whether it can be sent in a header without becoming two.
[[nodiscard]] bool is_header_value(std::string_view text) noexcept;

/// The token that a file holds, trimmed. Throws ConfigError if it cannot be read or has none.
[[nodiscard]] SecretText read_token(const std::string& path);

}  // namespace kube::detail

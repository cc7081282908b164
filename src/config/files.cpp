// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kube::detail {

bool FileError::is_missing() const noexcept { return code_ == ENOENT || code_ == ENOTDIR; }

std::string error_text(int code) { return std::generic_category().message(code); }

SecretText read_file(const std::string& path, std::size_t limit) {
  const auto fail = [&](int code) {
    throw FileError(code, "cannot read " + path + ": " + error_text(code));
  };
  const FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) fail(errno);
  SecretText content;
  SecretText chunk{std::string(65536, '\0')};
  for (;;) {
    const ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    if (count == 0) return content;
    content.grow({chunk.data(), static_cast<std::size_t>(count)});
    if (content.size() > limit) {
      throw FileError(
          0, "cannot read " + path + ": it has more than " + std::to_string(limit) + " bytes");
    }
  }
}

std::string missing_files_text(const std::vector<std::string>& missing) {
  return fmt::format("KUBECONFIG names {}, {}", fmt::join(missing, ", "),
                     missing.size() == 1 ? "which does not exist" : "which do not exist");
}

void replace_file(const std::string& path, std::string_view content) {
  const auto fail = [&](int code) {
    throw FileError(code, "cannot write " + path + ": " + error_text(code));
  };
  // Replace the target of a symbolic link, not the link.
  std::error_code ignored;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, ignored);
  const std::string target = ignored ? path : resolved.string();
  struct stat before {};
  const mode_t mode = ::stat(target.c_str(), &before) == 0 ? before.st_mode & 07777 : 0600;
  std::string temporary = target + ".XXXXXX";
  FileDescriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};  // mode 0600
  if (!file) fail(errno);
  int code = ::fchmod(file.get(), mode) == 0 ? 0 : errno;
  while (code == 0 && !content.empty()) {
    const ssize_t count = ::write(file.get(), content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      code = errno;
    }
  }
  if (code == 0 && ::fsync(file.get()) != 0) code = errno;
  file.reset();
  if (code == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) code = errno;
  if (code == 0) return;
  ::unlink(temporary.c_str());
  fail(code);
}

bool is_header_value(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

SecretText read_token(const std::string& path) {
  const SecretText content = read_file(path);
  const std::string_view token = trimmed(content);
  if (token.empty()) throw ConfigError("cannot read a token from " + path + ": it is empty");
  return token;
}

}  // namespace kube::detail

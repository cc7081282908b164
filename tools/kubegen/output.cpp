// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <kube/base/error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace kube::gen {
namespace {

bool has_content(const std::filesystem::path& path, const std::string& content) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) != content.size()) return false;
  std::ifstream in{path, std::ios::binary};
  return in && std::string{std::istreambuf_iterator<char>{in}, {}} == content;
}

/// A temporary file next to the target; removed unless it is published.
class Draft {
 public:
  explicit Draft(const OutputFile& file) : target_(file.path), path_(file.path) {
    // Two generators may run at once, for two targets that use the same header.
    path_ += fmt::format(".{}.tmp", ::getpid());
    std::ofstream out{path_, std::ios::binary | std::ios::trunc};
    out << file.content;
    out.close();
    if (!out) {
      const std::error_code why{errno, std::generic_category()};
      discard();
      throw Error(fmt::format("{}: {}", target_.string(), why.message()));
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&& other) noexcept
      : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})) {}
  Draft& operator=(Draft&&) = delete;
  ~Draft() { discard(); }

  void publish() {
    std::filesystem::rename(path_, target_);
    path_.clear();
  }

 private:
  void discard() noexcept {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace

void write_files(const std::vector<OutputFile>& files) {
  std::vector<Draft> drafts;
  for (const OutputFile& file : files) {
    if (has_content(file.path, file.content)) continue;
    if (file.path.has_parent_path()) std::filesystem::create_directories(file.path.parent_path());
    drafts.emplace_back(file);
  }
  // Files are published only after all of them were written.
  for (Draft& draft : drafts) draft.publish();
}

}  // namespace kube::gen

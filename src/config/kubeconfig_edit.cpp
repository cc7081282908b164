// SPDX-License-Identifier: Apache-2.0
#include <kube/config/kubeconfig_edit.hpp>

#include "files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kube {

namespace {

bool exists(const std::string& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

void make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || exists(folder.string())) return;
  make_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    throw ConfigError("cannot make " + folder.string() + ": " + detail::error_text(errno));
  }
}

/// The files of an edit, each with its own content.
class Files {
 public:
  Files(std::map<std::string, Kubeconfig> contents, std::string for_new)
      : contents_(std::move(contents)), for_new_(std::move(for_new)) {}

  /// Writes each entry that differs to the file that defines it, or to the file for new entries.
  template <typename T>
  void apply(std::map<std::string, T> Kubeconfig::*member, const Kubeconfig& before,
             const Kubeconfig& after) {
    for (const auto& [name, entry] : before.*member) {
      if (!(after.*member).contains(name)) (to_change(entry.origin).*member).erase(name);
    }
    for (const auto& [name, entry] : after.*member) {
      const auto old = (before.*member).find(name);
      if (old != (before.*member).end() && old->second == entry) continue;
      const std::string& origin = old == (before.*member).end() ? for_new_ : old->second.origin;
      (to_change(origin).*member)[name] = entry;
    }
  }
  void apply_rest(const Kubeconfig& before, const Kubeconfig& after) {
    if (before.current_context != after.current_context) {
      // Clear it in all files first: if the new value is empty, an older one would become visible.
      for (auto& [file, content] : contents_) {
        if (!content.current_context.empty()) to_change(file).current_context.clear();
      }
      to_change(for_new_).current_context = after.current_context;
    }
    if (before.preferences != after.preferences)
      to_change(for_new_).preferences = after.preferences;
    if (before.extensions == after.extensions) return;
    for (auto& [file, content] : contents_) {
      if (!content.extensions.empty()) to_change(file).extensions.clear();
    }
    to_change(for_new_).extensions = after.extensions;
  }
  void write() const {
    for (const std::string& file : changed_) {
      detail::replace_file(file, SecretText{format_kubeconfig(contents_.at(file))});
    }
  }

 private:
  Kubeconfig& to_change(const std::string& file) {
    changed_.insert(file);
    return contents_[file];
  }

  std::map<std::string, Kubeconfig> contents_;
  std::string for_new_;
  std::set<std::string> changed_;
};

}  // namespace

KubeconfigLock::KubeconfigLock(std::vector<std::string> files) {
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  try {
    for (const std::string& file : files) {
      make_folders(std::filesystem::path{file}.parent_path());
      const std::string lock = file + ".lock";
      if (!detail::FileDescriptor{
              ::open(lock.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0)}) {
        if (errno != EEXIST)
          throw ConfigError("cannot make " + lock + ": " + detail::error_text(errno));
        throw ConfigError(fmt::format(
            "kubeconfig {} is being written by another program; if there is none, remove {}", file,
            lock));
      }
      locks_.push_back(lock);
    }
  } catch (...) {
    release();
    throw;
  }
}

KubeconfigLock::~KubeconfigLock() { release(); }

void KubeconfigLock::release() noexcept {
  for (const std::string& lock : locks_) ::unlink(lock.c_str());
}

void write_kubeconfig(const Kubeconfig& kubeconfig, const std::string& file) {
  const KubeconfigLock lock{{file}};
  detail::replace_file(file, SecretText{format_kubeconfig(kubeconfig)});
}

std::string kubeconfig_file_to_write(const KubeconfigSources& sources) {
  const std::vector<std::string> files = kubeconfig_files(sources);
  if (files.empty()) {
    throw ConfigError("no kubeconfig to write: neither KUBECONFIG nor HOME is set");
  }
  const auto found = std::find_if(files.begin(), files.end(), exists);
  return found == files.end() ? files.back() : *found;
}

void modify_kubeconfig(const std::function<void(Kubeconfig& merged)>& change,
                       const KubeconfigSources& sources) {
  const std::string for_new = kubeconfig_file_to_write(sources);
  std::vector<std::string> files = kubeconfig_files(sources);
  std::erase_if(files, [&](const std::string& file) { return file != for_new && !exists(file); });
  const KubeconfigLock lock{files};
  std::map<std::string, Kubeconfig> contents;
  Kubeconfig before;
  for (const std::string& file : files) {
    if (!exists(file)) continue;
    merge_kubeconfig(before, contents[file] = read_kubeconfig(file));
  }
  Kubeconfig after = before;
  change(after);
  Files edited{std::move(contents), for_new};
  edited.apply(&Kubeconfig::clusters, before, after);
  edited.apply(&Kubeconfig::users, before, after);
  edited.apply(&Kubeconfig::contexts, before, after);
  edited.apply_rest(before, after);
  edited.write();
}

}  // namespace kube

// SPDX-License-Identifier: Apache-2.0
#include <kube/config/kubeconfig.hpp>

#include "files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace kube {

namespace {

void resolve(std::string& path, const std::filesystem::path& folder) {
  if (path.empty() || path.starts_with('/')) return;
  path = (folder / path).lexically_normal().string();
}

std::filesystem::path folder_of(const std::string& origin) {
  std::error_code no_current_folder;
  const std::filesystem::path file = std::filesystem::absolute(origin, no_current_folder);
  return (no_current_folder ? std::filesystem::path{origin} : file).parent_path();
}

/// Returns the files in KUBECONFIG, or the one in the home folder if it is not set.
std::vector<std::string> default_files(const Environment& environment) {
  std::vector<std::string> files;
  const std::string list = environment.variable("KUBECONFIG");
  if (list.empty()) {
    const std::string home = environment.variable("HOME");
    if (!home.empty()) files.push_back(home + "/.kube/config");
    return files;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    std::string file = list.substr(begin, end - begin);
    begin = end + 1;
    if (file.empty() || std::find(files.begin(), files.end(), file) != files.end()) continue;
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

void merge_kubeconfig(Kubeconfig& first, const Kubeconfig& second) {
  const auto add = [](auto& to, const auto& from) { to.insert(from.begin(), from.end()); };
  add(first.clusters, second.clusters);
  add(first.users, second.users);
  add(first.contexts, second.contexts);
  add(first.extensions, second.extensions);
  if (first.current_context.empty()) {
    first.current_context = second.current_context;
    first.current_context_origin = second.current_context_origin;
  }
  if (first.preferences.size() == 0) first.preferences = second.preferences;
}

void resolve_paths(Kubeconfig& kubeconfig) {
  for (auto& [name, cluster] : kubeconfig.clusters) {
    if (cluster.origin.empty()) continue;
    resolve(cluster.certificate_authority, folder_of(cluster.origin));
  }
  for (auto& [name, user] : kubeconfig.users) {
    if (user.origin.empty()) continue;
    const std::filesystem::path folder = folder_of(user.origin);
    resolve(user.client_certificate, folder);
    resolve(user.client_key, folder);
    resolve(user.token_file, folder);
    // A bare name is searched for on PATH.
    if (user.exec && user.exec->command.find('/') != std::string::npos) {
      resolve(user.exec->command, folder);
    }
  }
}

const Kubeconfig& LoadedKubeconfig::or_throw() const& {
  if (!problems.empty()) throw ConfigError(problems);
  return merged;
}

Kubeconfig LoadedKubeconfig::or_throw() && {
  static_cast<void>(std::as_const(*this).or_throw());
  return std::move(merged);
}

std::vector<std::string> kubeconfig_files(const KubeconfigSources& sources) {
  if (!sources.explicit_file.empty()) return {sources.explicit_file};
  return sources.files ? *sources.files : default_files(sources.environment);
}

LoadedKubeconfig load_kubeconfig(const KubeconfigSources& sources) {
  LoadedKubeconfig loaded;
  const bool is_from_variable = sources.explicit_file.empty() && !sources.files &&
                                !sources.environment.variable("KUBECONFIG").empty();
  for (const std::string& file : kubeconfig_files(sources)) {
    if (file.empty()) continue;
    try {
      merge_kubeconfig(loaded.merged, read_kubeconfig(file));
    } catch (const detail::FileError& error) {
      if (!error.is_missing()) {
        loaded.problems.push_back(fmt::format("kubeconfig {}: {}", file, error.what()));
      } else if (!sources.explicit_file.empty()) {
        throw ConfigError(fmt::format("kubeconfig {}: {}", file, error.what()));
      } else if (is_from_variable) {
        loaded.missing.push_back(file);
      }
    } catch (const ConfigError& error) {
      loaded.problems.emplace_back(error.what());
    }
  }
  if (!loaded.missing.empty()) {
    sources.log.warning("{}", detail::missing_files_text(loaded.missing));
  }
  if (sources.resolve_paths) resolve_paths(loaded.merged);
  return loaded;
}

}  // namespace kube

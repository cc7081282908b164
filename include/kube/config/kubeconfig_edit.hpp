// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/kubeconfig.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kube {

/// Keeps other writers (kubectl among them) away from kubeconfig files: `<file>.lock` exists as long as this
/// does. Readers are not kept away, and need not be: files are replaced as a whole.
///
/// Throws ConfigError if a file is locked already; it does not wait.
class KubeconfigLock {
 public:
  /// Locks in sorted order, so that two who want the same files cannot stand in each other's way. Folders that
  /// are missing are made.
  explicit KubeconfigLock(std::vector<std::string> files);
  KubeconfigLock(const KubeconfigLock&) = delete;
  KubeconfigLock& operator=(const KubeconfigLock&) = delete;
  ~KubeconfigLock();

 private:
  void release() noexcept;

  std::vector<std::string> locks_;
};

/// Writes a file that only its owner can read, under its lock; one that exists keeps its mode. Throws
/// ConfigError.
void write_kubeconfig(const Kubeconfig& kubeconfig, const std::string& file);

/// The file that new entries go to: the explicit one, else the first that exists, else the last of the list.
/// Throws ConfigError if there is no list.
[[nodiscard]] std::string kubeconfig_file_to_write(const KubeconfigSources& sources = {});

/// Lets `change` edit what the files say together, paths as they stand there, and writes each entry that it has
/// changed back to the file that it came from; all under the locks of the files. Nothing is written if `change`
/// throws. Throws ConfigError.
void modify_kubeconfig(const std::function<void(Kubeconfig& merged)>& change,
                       const KubeconfigSources& sources = {});

}  // namespace kube

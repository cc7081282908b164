// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/config/kubeconfig.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kube {

/// Locks kubeconfig files against other writers, including kubectl: `<file>.lock` exists as long as
/// this object. Readers need no lock, because files are replaced atomically.
///
/// Throws ConfigError if a file is locked already; it does not wait.
class KubeconfigLock {
 public:
  /// Locks in sorted order, so that two processes cannot deadlock. Creates missing folders.
  explicit KubeconfigLock(std::vector<std::string> files);
  KubeconfigLock(const KubeconfigLock&) = delete;
  KubeconfigLock& operator=(const KubeconfigLock&) = delete;
  ~KubeconfigLock();

 private:
  void release() noexcept;

  std::vector<std::string> locks_;
};

/// Writes a file under its lock. A new file is readable only by its owner; an existing one keeps
/// its mode. Throws ConfigError.
void write_kubeconfig(const Kubeconfig& kubeconfig, const std::string& file);

/// Returns the file for new entries: the explicit one, else the first that exists, else the last of
/// the list. Throws ConfigError if the list is empty.
[[nodiscard]] std::string kubeconfig_file_to_write(const KubeconfigSources& sources = {});

/// Lets `change` edit the merged content of the files, with unresolved paths, and writes each
/// changed entry back to the file that defines it. Holds the locks of all files meanwhile. Writes
/// nothing if `change` throws. Throws ConfigError.
void modify_kubeconfig(const std::function<void(Kubeconfig& merged)>& change,
                       const KubeconfigSources& sources = {});

}  // namespace kube

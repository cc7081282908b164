// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kube::gen {

/// A file to be written.
struct OutputFile {
  std::filesystem::path path;
  std::string content;
};

/// Writes the files and creates folders as needed. A file whose content is unchanged is not
/// touched, so that nothing is rebuilt for it; every other file is replaced atomically. Throws
/// std::filesystem::filesystem_error or kube::Error.
void write_files(const std::vector<OutputFile>& files);

}  // namespace kube::gen

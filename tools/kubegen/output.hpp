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

/// Writes the files, making folders as needed. A file that has the right content already is left
/// alone, so that nothing is rebuilt for it; each other one appears complete or not at all. Throws
/// std::filesystem::filesystem_error or kube::Error.
void write_files(const std::vector<OutputFile>& files);

}  // namespace kube::gen

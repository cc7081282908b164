// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>
#include <kube/config/environment.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kube::test {

/// A temporary folder, removed by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "kubecxx-config-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = std::filesystem::canonical(name).string();
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }
  /// Writes a file, creates its folders, and returns its path.
  std::string write(const std::string& name, std::string_view content) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path{file}.parent_path());
    std::ofstream{file, std::ios::binary | std::ios::trunc} << content;
    return file;
  }
  /// Writes an executable file.
  std::string write_program(const std::string& name, std::string_view content) const {
    const std::string file = write(name, content);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

 private:
  std::string path_;
};

/// Returns an environment with only these variables.
inline Environment environment_with(std::map<std::string, std::string> variables) {
  return {.variables = [variables = std::move(variables)] { return variables; },
          .stdin_is_terminal = [] { return false; },
          .service_account_folder = "/nonexistent/serviceaccount"};
}

/// Records log lines.
class RecordedLog {
 public:
  [[nodiscard]] Logger logger() {
    return Logger{[this](LogLevel, std::string_view, std::string_view message) {
                    const std::scoped_lock lock{mutex_};
                    lines_.emplace_back(message);
                  },
                  LogLevel::kDebug};
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::scoped_lock lock{mutex_};
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// Returns the message of the E that `action` throws. Fails the test if it does not throw.
template <typename E, typename Action>
std::string message_of(Action&& action) {
  try {
    static_cast<void>(action());
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace kube::test

// SPDX-License-Identifier: Apache-2.0
// Runs a program beside an in-process API server, which its KUBECONFIG names, and ends with the program's exit status.
//
// Usage: with_server PROGRAM [ARGUMENT...]
#include <kube/testkit/api_server.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// A folder that is removed in the end.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kubecxx-c-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("there is no temporary folder");
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

int run(char** command, const std::string& kubeconfig) {
  ::setenv("KUBECONFIG", kubeconfig.c_str(), 1);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    ::execvp(command[0], command);
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  if (WIFSIGNALED(status))
    std::cerr << command[0] << " was killed by signal " << WTERMSIG(status) << '\n';
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: with_server PROGRAM [ARGUMENT...]\n";
    return 2;
  }
  try {
    const TemporaryFolder folder;
    kube::testkit::ApiServer server;
    const std::string file = (folder.path / "config").string();
    std::ofstream{file} << server.kubeconfig();
    return run(argv + 1, file);
  } catch (const std::exception& error) {
    std::cerr << "with_server: " << error.what() << '\n';
    return 1;
  }
}

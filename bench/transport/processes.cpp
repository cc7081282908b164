// SPDX-License-Identifier: Apache-2.0
#include "processes.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace kube::bench {

namespace {

/// Starts the program with the given standard input and output, if set.
int spawn(const std::vector<std::string>& command, int input, int output) {
  const int pid = ::fork();
  if (pid != 0) return pid;
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

Usage run(const std::vector<std::string>& command) {
  const int pid = spawn(command, -1, -1);
  int status = 0;
  rusage usage{};
  if (pid < 0 || ::wait4(pid, &status, 0, &usage) != pid || status != 0) {
    throw std::runtime_error(command[0] + " failed");
  }
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return {.cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime),
          .rss_mb = static_cast<double>(usage.ru_maxrss) / 1024};
}

Background::Background(const std::vector<std::string>& command) {
  std::array<int, 2> to{}, from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe");
  }
  pid_ = spawn(command, to[0], from[1]);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  char letter = 0;
  while (::read(from[0], &letter, 1) == 1 && letter != '\n') line_ += letter;
  ::close(from[0]);
}

Background::~Background() {
  ::close(input_);  // the end of its input makes it exit
  ::waitpid(pid_, nullptr, 0);
}

double resident_mb() {
  std::ifstream file{"/proc/self/statm"};
  long total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace kube::bench

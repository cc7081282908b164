// SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

extern char** environ;

namespace kube::testing_support {
namespace {

constexpr int kPatienceMs = 60'000;

pid_t spawn(const std::vector<std::string>& command, posix_spawn_file_actions_t* actions) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], actions, nullptr, arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), command[0]);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  pid_ = spawn(command, &actions);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      received_(std::move(other.received_)) {}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0) ::close(output_);
}

std::string Child::ask(const std::string& line) {
  const std::string sent = line + '\n';
  if (::write(input_, sent.data(), sent.size()) != static_cast<ssize_t>(sent.size())) {
    throw std::runtime_error("an agent has ended");
  }
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    pollfd polled{output_, POLLIN, 0};
    if (::poll(&polled, 1, kPatienceMs) == 0) {
      throw std::runtime_error(fmt::format("an agent does not answer \"{}\"", line));
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(output_, buffer.data(), buffer.size());
    if (size <= 0) throw std::runtime_error("an agent has ended");
    received_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

int Child::wait() { return wait_for(std::exchange(pid_, -1)); }

void run_program(const std::vector<std::string>& command) {
  const int status = wait_for(spawn(command, nullptr));
  if (status != 0) {
    throw std::runtime_error(
        fmt::format("{} ended with status {}", fmt::join(command, " "), status));
  }
}

}  // namespace kube::testing_support

// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kube::detail {

namespace {

[[noreturn]] void fail(int code, const char* what) {
  throw std::system_error(code, std::generic_category(), what);
}

bool can_run(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool has_terminal() {
  return static_cast<bool>(FileDescriptor{::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)});
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Throws if `code`, an errno, is not 0: a child without its pipe would print to our standard
/// output.
void check(int code) {
  if (code != 0) fail(code, "cannot prepare the program");
}

struct FileActions {
  FileActions() { check(posix_spawn_file_actions_init(&value)); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value{};
};

struct Attributes {
  Attributes() { check(posix_spawnattr_init(&value)); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value{};
};

/// The actions and attributes of posix_spawn().
class SpawnPlan {
 public:
  SpawnPlan(int output, bool inherits_stdin, bool has_own_group) {
    check(posix_spawn_file_actions_adddup2(&actions_.value, output, STDOUT_FILENO));
    if (!inherits_stdin) {
      check(posix_spawn_file_actions_addopen(&actions_.value, STDIN_FILENO, "/dev/null", O_RDONLY,
                                             0));
    }
    check(posix_spawn_file_actions_addclosefrom_np(&actions_.value, STDERR_FILENO + 1));
    // Reset the signal mask and ignored signals: the program must not inherit those of this
    // process.
    sigset_t signals;
    sigemptyset(&signals);
    check(posix_spawnattr_setsigmask(&attributes_.value, &signals));
    sigaddset(&signals, SIGPIPE);
    check(posix_spawnattr_setsigdefault(&attributes_.value, &signals));
    const int group = has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
    check(posix_spawnattr_setflags(
        &attributes_.value,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group)));
  }

  [[nodiscard]] pid_t spawn(const ProcessOptions& options) const {
    pid_t pid = -1;
    const int code =
        ::posix_spawn(&pid, options.program.c_str(), &actions_.value, &attributes_.value,
                      pointers(options.arguments).data(), pointers(options.environment).data());
    if (code != 0) fail(code, "cannot start the program");
    return pid;
  }

 private:
  FileActions actions_;
  Attributes attributes_;
};

}  // namespace

std::string find_program(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return can_run(name) ? name : std::string{};
  for (std::size_t begin = 0; begin < search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    std::string path = search_path.substr(begin, end - begin);
    begin = end + 1;
    if (!path.starts_with('/')) continue;
    path.append("/").append(name);
    if (can_run(path)) return path;
  }
  return {};
}

Process::Process(const ProcessOptions& options)
    : max_output_(options.max_output), has_own_group_(!has_terminal()) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "cannot make a pipe");
  pipe_ = FileDescriptor{ends[0]};
  FileDescriptor child_end{ends[1]};
  if (::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK) != 0) fail(errno, "cannot make a pipe");
  ready_ = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
  if (!ready_) fail(errno, "cannot make an epoll");
  watch(pipe_.get());

  pid_ = SpawnPlan{child_end.get(), options.inherits_stdin, has_own_group_}.spawn(options);
  is_reaped_ = false;
  try {
    // pidfd_open() of the C library does not link from C++ everywhere.
    exited_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
    if (!exited_) fail(errno, "cannot wait for the program");
    watch(exited_.get());
  } catch (...) {  // there is no destructor yet
    send_kill();
    static_cast<void>(reap(0));
    throw;
  }
}

Process::~Process() {
  if (is_reaped_ || process_.is_of_parent()) return;
  send_kill();
  static_cast<void>(reap(0));
}

void Process::watch(int fd) const {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    fail(errno, "cannot wait for the program");
  }
}

void Process::send_kill() const noexcept { ::kill(has_own_group_ ? -pid_ : pid_, SIGKILL); }

void Process::kill(ProcessResult::End reason) noexcept {
  if (is_reaped_ || is_killed_) return;
  is_killed_ = true;
  result_.end = reason;
  close_pipe();
  send_kill();
}

/// A copy of the pipe in a child of fork() would keep it in the epoll, hence the removal.
void Process::close_pipe() noexcept {
  if (!pipe_) return;
  ::epoll_ctl(ready_.get(), EPOLL_CTL_DEL, pipe_.get(), nullptr);
  pipe_.reset();
}

bool Process::reap(int flags) noexcept {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
  }
  if (ended == 0) return false;
  is_reaped_ = true;
  if (ended < 0) status = 0;  // it was reaped elsewhere
  if (is_killed_) return true;
  result_.end = WIFSIGNALED(status) ? ProcessResult::End::kSignaled : ProcessResult::End::kExited;
  result_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

bool Process::drain() {
  SecretText chunk{std::string(16384, '\0')};
  while (pipe_) {
    const ssize_t count = ::read(pipe_.get(), chunk.data(), chunk.size());
    if (count > 0) {
      result_.output.grow({chunk.data(), static_cast<std::size_t>(count)});
      if (result_.output.size() > max_output_) return false;
    } else if (count == 0) {
      close_pipe();
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR) {
      fail(errno, "cannot read what the program prints");
    }
  }
  return true;
}

bool Process::advance() {
  // In this order: once the program has ended, the pipe contains all of its output.
  const bool has_ended = is_reaped_ || reap(WNOHANG);
  if (pipe_ && !drain()) {
    if (has_ended) {
      result_.end = ProcessResult::End::kTooMuchOutput;
    } else {
      kill(ProcessResult::End::kTooMuchOutput);
    }
  }
  return has_ended;
}

}  // namespace kube::detail

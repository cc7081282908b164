// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "files.hpp"

#include "base/deadline.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kube::detail {

using namespace std::chrono_literals;

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

/// A child process. The destructor kills it if necessary, and reaps it.
class Child {
 public:
  Child(pid_t pid, bool has_own_group) : pid_(pid), has_own_group_(has_own_group) {
    // pidfd_open() of the C library does not link from C++ everywhere.
    exited_ = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
    if (exited_) return;
    const int code = errno;
    kill();
    static_cast<void>(reap());
    fail(code, "cannot wait for the program");
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (is_reaped_) return;
    kill();
    static_cast<void>(reap());
  }

  /// Readable once the child has exited.
  [[nodiscard]] int exited() const noexcept { return exited_.get(); }
  void kill() const noexcept { ::kill(has_own_group_ ? -pid_ : pid_, SIGKILL); }
  /// Waits for the exit. Returns the status of waitpid(), or 0 if the child was reaped elsewhere.
  int reap() noexcept {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
      if (errno == EINTR) continue;
      status = 0;
      break;
    }
    is_reaped_ = true;
    return status;
  }

 private:
  pid_t pid_;
  bool has_own_group_;
  bool is_reaped_ = false;
  FileDescriptor exited_;
};

/// The deadline of a program, for a thread that waits in poll(). A clock that is moved by hand wakes
/// that thread.
class KillTime final : public ClockTimers {
 public:
  KillTime(Clock& clock, Clock::Duration limit, std::function<void()> wake)
      : clock_(clock),
        time_(time_after(clock, limit)),
        wake_(std::move(wake)),
        by_hand_(clock.attach(*this)) {
    clock_.timers_changed();
  }
  ~KillTime() override {
    clock_.detach(*this);
    clock_.timers_changed();
  }
  KillTime(const KillTime&) = delete;
  KillTime& operator=(const KillTime&) = delete;

  [[nodiscard]] bool has_come() const { return clock_.now() >= time_; }
  /// Returns the timeout for poll(), in milliseconds. It may end before the deadline.
  [[nodiscard]] int timeout() const {
    if (by_hand_) return -1;
    // Other clocks may run faster than the clock of poll().
    const Clock::Duration most = &clock_ == &system_clock() ? 1h : 250ms;
    const auto left = std::clamp(time_ - clock_.now(), Clock::Duration{}, most);
    return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
  }

  void time_moved() noexcept override { wake_(); }
  [[nodiscard]] std::size_t pending(Clock::TimePoint now) const noexcept override {
    return time_ > now ? 1 : 0;
  }
  [[nodiscard]] Clock::TimePoint next_after(Clock::TimePoint now) const noexcept override {
    return time_ > now ? time_ : Clock::TimePoint::max();
  }

 private:
  Clock& clock_;
  const Clock::TimePoint time_;
  const std::function<void()> wake_;
  const bool by_hand_;  // the last member: the clock calls this object from here on
};

/// Appends everything that can be read now, and closes the pipe at its end. Returns false if the
/// output exceeds `limit`.
bool drain(FileDescriptor& pipe, SecretText& output, std::size_t limit) {
  SecretText chunk{std::string(16384, '\0')};
  while (pipe) {
    const ssize_t count = ::read(pipe.get(), chunk.data(), chunk.size());
    if (count > 0) {
      output.grow({chunk.data(), static_cast<std::size_t>(count)});
      if (output.size() > limit) return false;
    } else if (count == 0) {
      pipe.reset();
    } else if (errno == EAGAIN) {
      return true;
    } else if (errno != EINTR) {
      fail(errno, "cannot read what the program prints");
    }
  }
  return true;
}

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

ProcessResult run_process(const ProcessOptions& options, Clock& clock, std::stop_token stop) {
  using End = ProcessResult::End;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "cannot make a pipe");
  FileDescriptor pipe{ends[0]};
  FileDescriptor child_end{ends[1]};
  if (::fcntl(pipe.get(), F_SETFL, O_NONBLOCK) != 0) fail(errno, "cannot make a pipe");
  const FileDescriptor wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!wake) fail(errno, "cannot make an eventfd");

  const bool has_own_group = !has_terminal();
  Child child{SpawnPlan{child_end.get(), options.inherits_stdin, has_own_group}.spawn(options),
              has_own_group};
  child_end.reset();
  const auto wake_up = [&] { ::eventfd_write(wake.get(), 1); };
  const std::stop_callback on_stop{stop, wake_up};
  const KillTime kill_time{clock, options.deadline, wake_up};

  ProcessResult result;
  for (;;) {
    std::array<pollfd, 3> events{{{.fd = pipe.get(), .events = POLLIN, .revents = 0},
                                  {.fd = child.exited(), .events = POLLIN, .revents = 0},
                                  {.fd = wake.get(), .events = POLLIN, .revents = 0}}};
    if (::poll(events.data(), events.size(), kill_time.timeout()) < 0 && errno != EINTR) {
      fail(errno, "cannot wait for the program");
    }
    const bool has_ended = events[1].revents != 0;  // the pipe then contains all of its output
    if (!drain(pipe, result.output, options.max_output)) {
      result.end = End::kTooMuchOutput;
      return result;
    }
    if (has_ended) break;
    eventfd_t wakes = 0;
    (void)::eventfd_read(wake.get(), &wakes);  // before checking the conditions that it signals
    if (stop.stop_requested() || kill_time.has_come()) {
      result.end = stop.stop_requested() ? End::kStopped : End::kTimedOut;
      return result;
    }
  }
  const int status = child.reap();
  result.end = WIFSIGNALED(status) ? End::kSignaled : End::kExited;
  result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace kube::detail

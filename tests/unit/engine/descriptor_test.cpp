// SPDX-License-Identifier: Apache-2.0
#include "engine/descriptor.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "helpers.hpp"
#include "system_faults.hpp"

namespace kube::test {
namespace {

using detail::Descriptor;
using detail::FileDescriptor;

/// The loop waits for one end of a socket pair; the test owns the other end, and runs the loop
/// itself.
class DescriptorTest : public testing::Test {
 protected:
  DescriptorTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    mine = FileDescriptor{ends[0]};
    theirs = FileDescriptor{ends[1]};
    (void)runtime.loop().run_ready();
    descriptor.emplace(scheduler_of(runtime)->loop(), theirs.get(), job);
  }
  void send() { EXPECT_EQ(::write(mine.get(), "x", 1), 1); }
  [[nodiscard]] bool is_readable() {
    pollfd one{.fd = runtime.loop().descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&one, 1, 0) == 1;
  }

  Runtime runtime{{.threads = 0}};
  FileDescriptor mine;
  FileDescriptor theirs;
  int runs = 0;
  short events = 0;
  std::optional<Descriptor> descriptor;
  const std::shared_ptr<FunctionJob> job = make_job(runtime, Placement::kLoop, [this] {
    ++runs;
    if (descriptor) events = descriptor->take_events();
  });
};

// LO-6
TEST_F(DescriptorTest, ReportsAgainWhatIsLeftInTheSocket) {
  descriptor->wait_for(POLLIN);
  EXPECT_FALSE(runtime.loop().run_ready());
  EXPECT_EQ(runs, 0);
  send();
  runtime.loop().run_ready(0ns);
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(events, POLLIN);
  char byte = 0;
  EXPECT_EQ(::read(theirs.get(), &byte, 1), 1);
  runs = 0;
  EXPECT_FALSE(runtime.loop().run_ready());
  EXPECT_EQ(runs, 0);

  descriptor->wait_for(POLLIN | POLLOUT);
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(events, POLLOUT);
}

// LO-6: a descriptor that waits for nothing is removed, since epoll reports a hang-up regardless.
TEST_F(DescriptorTest, IgnoresAHangUpWhileItWaitsForNothing) {
  (void)runtime.loop().descriptor();
  descriptor->wait_for(POLLIN);
  mine.reset();
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(runs, 1);
  EXPECT_NE(events & POLLHUP, 0);
  descriptor->wait_for(0);
  while (runtime.loop().run_ready()) {
  }
  const int before = runs;
  EXPECT_FALSE(is_readable());
  EXPECT_FALSE(runtime.loop().run_ready());
  EXPECT_EQ(runs, before);

  descriptor->wait_for(POLLIN);
  EXPECT_TRUE(is_readable());
}

// LO-6: a system call is made only if the events waited for change.
TEST_F(DescriptorTest, MakesASystemCallOnlyIfItsEventsChange) {
  const int before = epoll_ctl_fault.calls;
  descriptor->wait_for(POLLIN);
  descriptor->wait_for(POLLIN);
  send();
  runtime.loop().run_ready(0ns);
  descriptor->wait_for(POLLIN);
  EXPECT_EQ(epoll_ctl_fault.calls, before + 1);
  descriptor->wait_for(POLLIN | POLLOUT);
  descriptor->wait_for(0);
  descriptor->wait_for(0);

  EXPECT_EQ(epoll_ctl_fault.calls, before + 3);
}

TEST_F(DescriptorTest, IsForgottenWhenItIsDestroyed) {
  descriptor->wait_for(POLLIN);
  send();
  descriptor.reset();
  EXPECT_FALSE(runtime.loop().run_ready());
  EXPECT_EQ(runs, 0);

  // The same socket again.
  descriptor.emplace(scheduler_of(runtime)->loop(), theirs.get(), job);
  descriptor->wait_for(POLLIN);
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(runs, 1);
}

// The kernel has no memory for the socket: it is polled as if it were ready, until it can be waited
// for.
TEST_F(DescriptorTest, IsTriedAgainAfterItCouldNotBeAdded) {
  epoll_ctl_fault.failures = 3;
  descriptor->wait_for(POLLIN);
  EXPECT_TRUE(becomes_true([&] {
    runtime.loop().run_ready();
    return epoll_ctl_fault.failures == 0 && runs > 0;
  }));
  while (runtime.loop().run_ready()) {
  }
  ASSERT_TRUE(becomes_true([&] {  // retries have stopped
    runs = 0;
    runtime.loop().run_ready();
    return runs == 0;
  }));
  send();
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(events, POLLIN);
}

TEST_F(DescriptorTest, IsTriedWhileTheLoopCannotWait) {
  descriptor->wait_for(POLLIN);
  epoll_wait_fault.failures = 2;
  runtime.loop().run_ready(0ns);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(events, POLLIN | POLLOUT);
  EXPECT_TRUE(becomes_true([&] { return !runtime.loop().run_ready(); }));
  epoll_wait_fault.failures = 0;
  EXPECT_TRUE(becomes_true([&] {
    runs = 0;
    runtime.loop().run_ready();
    return runs == 0;
  }));
}

}  // namespace
}  // namespace kube::test

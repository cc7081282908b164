// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/file_descriptor.hpp"
#include "engine/descriptor.hpp"

#include <memory>
#include <utility>

namespace kube::detail {

/// The job to schedule when a socket is ready.
struct SocketWatcher {
  EventLoop* loop = nullptr;
  std::weak_ptr<Job> job = {};
};

/// A socket registered with the loop. It is unregistered before it is closed: a reused descriptor
/// number would be mistaken for it.
class Socket {
 public:
  Socket() = default;
  /// Throws std::bad_alloc.
  Socket(FileDescriptor socket, const SocketWatcher& watcher)
      : socket_(std::move(socket)),
        watch_(std::make_unique<Descriptor>(*watcher.loop, socket_.get(), watcher.job)) {}

  [[nodiscard]] int get() const noexcept { return socket_.get(); }
  explicit operator bool() const noexcept { return watch_ != nullptr; }
  /// Subscribes to POLLIN, POLLOUT, both or nothing.
  void wait_for(short events) const noexcept { watch_->wait_for(events); }
  /// Returns whether a subscribed event has occurred since the last call.
  [[nodiscard]] bool take_ready() const noexcept { return watch_->take_events() != 0; }

 private:
  FileDescriptor socket_;
  std::unique_ptr<Descriptor> watch_;  // destroyed before the socket
};

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exchange.hpp"

namespace kube::detail {

/// Where a socket can connect to.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  /// "[::1]:6443"
  [[nodiscard]] std::string str() const;
};

/// What became of looking a name up.
struct Lookup {
  std::atomic<bool> done = false;
  // Constant once done:
  std::vector<SocketAddress> addresses = {};
  /// EAI_..., 0 if there are addresses.
  int error = 0;
  /// If that is EAI_SYSTEM.
  int system_error = 0;

  [[nodiscard]] std::string error_text() const;
};

/// Finds the addresses of one host. getaddrinfo() may take as long as it likes and cannot be interrupted, hence
/// it runs in a thread of its own, one at a time. That thread shares nothing with the Resolver but the Lookup
/// and the mailbox, so that nobody has to wait for it: it is the one thread that may outlive its owner. Where no thread may
/// be made, the loop's thread waits for the system.
///
/// Belongs to the loop's thread.
class Resolver {
 public:
  enum class Threads : std::uint8_t { kAllowed, kNone };

  Resolver(std::string host, int port, std::shared_ptr<Mailbox> mailbox, Logger log = {},
           Threads threads = Threads::kAllowed);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// The lookup that runs, or a new one; the mailbox is nudged when it is done. Addresses and "localhost" are
  /// known at once.
  [[nodiscard]] std::shared_ptr<const Lookup> look_up();

 private:
  const std::string host_;
  const std::string port_;
  const std::shared_ptr<Mailbox> mailbox_;
  const Logger log_;
  const Threads threads_;
  bool reported_ = false;
  std::shared_ptr<Lookup> running_;
  std::thread thread_;
};

}  // namespace kube::detail

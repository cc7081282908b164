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

/// An address to connect to.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  /// "[::1]:6443"
  [[nodiscard]] std::string str() const;
};

/// The state and result of a name lookup.
struct Lookup {
  std::atomic<bool> done = false;
  // Constant once done:
  std::vector<SocketAddress> addresses = {};
  /// An EAI_... code; 0 if there are addresses.
  int error = 0;
  /// The errno if `error` is EAI_SYSTEM.
  int system_error = 0;

  [[nodiscard]] std::string error_text() const;
};

/// Resolves one host name. getaddrinfo() can take arbitrarily long and cannot be interrupted, so it
/// runs in a thread of its own, one at a time. That thread shares only the Lookup and the mailbox
/// with the Resolver, so it can be abandoned: it is the only thread that may outlive its owner. If
/// no thread can be created, the loop's thread blocks instead.
///
/// Used on the loop's thread.
class Resolver {
 public:
  enum class Threads : std::uint8_t { kAllowed, kNone };

  Resolver(std::string host, int port, std::shared_ptr<Mailbox> mailbox, Logger log = {},
           Threads threads = Threads::kAllowed);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Returns the running lookup, or starts one. The mailbox is nudged when it is done. Addresses
  /// and "localhost" are resolved at once.
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

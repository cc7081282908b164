// SPDX-License-Identifier: Apache-2.0
#include "resolver.hpp"

#include "base/text.hpp"
#include "engine/thread.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace kube::detail {

namespace {

// Further addresses are ignored.
constexpr std::size_t kMaxAddresses = 16;

void ask_system(const char* host, const std::string& port, int flags, Lookup& lookup) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  lookup.error = ::getaddrinfo(host, port.c_str(), &hints, &found);
  lookup.system_error = errno;
  if (lookup.error != 0) return;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, ::freeaddrinfo};
  for (; found != nullptr && lookup.addresses.size() < kMaxAddresses; found = found->ai_next) {
    SocketAddress& address = lookup.addresses.emplace_back();
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.size = found->ai_addrlen;
  }
}

bool is_localhost(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string name = lower_case(host);
  return name == "localhost" || name.ends_with(".localhost");
}

}  // namespace

std::string SocketAddress::str() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), size, host.data(), host.size(),
                port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  const bool v6 = storage.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host.data(), v6 ? "]" : "", port.data());
}

std::string Lookup::error_text() const {
  return error == EAI_SYSTEM ? std::generic_category().message(system_error)
                             : ::gai_strerror(error);
}

Resolver::Resolver(std::string host, int port, std::shared_ptr<Mailbox> mailbox, Logger log,
                   Threads threads)
    : host_(std::move(host)),
      port_(std::to_string(port)),
      mailbox_(std::move(mailbox)),
      log_(std::move(log)),
      threads_(threads) {}

Resolver::~Resolver() {
  if (!thread_.joinable()) return;
  // A lookup that has just woken the transport may be its last owner.
  if (running_->done && thread_.get_id() != std::this_thread::get_id()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

std::shared_ptr<const Lookup> Resolver::look_up() {
  if (running_ != nullptr && !running_->done) return running_;
  if (thread_.joinable()) thread_.join();  // it has already finished

  // Stored in running_ only once its completion is certain.
  auto lookup = std::make_shared<Lookup>();
  if (is_localhost(host_)) {
    for (const char* address : {"::1", "127.0.0.1"}) {
      ask_system(address, port_, AI_NUMERICHOST, *lookup);
    }
  } else {
    ask_system(host_.c_str(), port_, AI_NUMERICHOST, *lookup);
  }
  if (lookup->error == 0) {
    lookup->done = true;
    return running_ = std::move(lookup);
  }
  if (threads_ == Threads::kNone) {
    if (!std::exchange(reported_, true)) {
      log_.info("{} is looked up on the thread that runs the loop, which blocks meanwhile", host_);
    }
    ask_system(host_.c_str(), port_, 0, *lookup);
    lookup->done = true;
    return running_ = std::move(lookup);
  }
  try {
    thread_ = make_thread("kube-dns", [lookup, mailbox = mailbox_, host = host_, port = port_] {
      try {
        ask_system(host.c_str(), port, 0, *lookup);
      } catch (...) {
        lookup->error = EAI_MEMORY;
      }
      lookup->done = true;
      mailbox->nudge();
    });
  } catch (const std::system_error& error) {  // no thread available
    lookup->error = EAI_SYSTEM;
    lookup->system_error = error.code().value();
    lookup->done = true;
  }
  return running_ = std::move(lookup);
}

}  // namespace kube::detail

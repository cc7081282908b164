// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/transport/http_transport.hpp>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "support/http2_server.hpp"
#include "support/scripted_server.hpp"
#include "support/test_certificates.hpp"

namespace kube::test {

using namespace std::chrono_literals;
using Kind = TransportError::Kind;

inline std::ostream& operator<<(std::ostream& out, Kind kind) {
  return out << static_cast<int>(kind);
}

/// Credentials that return what the test has set.
class SetCredentials final : public Credentials {
 public:
  explicit SetCredentials(TlsMaterial material) { set(std::move(material)); }

  void set(TlsMaterial material) {
    const std::lock_guard lock{mutex_};
    material_ = std::make_shared<const TlsMaterial>(std::move(material));
  }

  std::string authorization(std::stop_token) override { return {}; }
  std::shared_ptr<const TlsMaterial> tls(std::stop_token) override {
    const std::lock_guard lock{mutex_};
    return material_;
  }
  void refused(const std::string&) override {}
  std::shared_ptr<void> on_identity_change(std::function<void()> changed) override {
    auto handle = std::make_shared<std::function<void()>>(std::move(changed));
    const std::lock_guard lock{mutex_};
    listener_ = handle;
    return handle;
  }
  /// Notifies the listener that the identity has changed.
  void tell() {
    std::shared_ptr<std::function<void()>> listener;
    {
      const std::lock_guard lock{mutex_};
      listener = listener_.lock();
    }
    if (listener) (*listener)();
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<std::function<void()>> listener_;
  std::shared_ptr<const TlsMaterial> material_;
};

inline std::shared_ptr<SetCredentials> trusting(const TestAuthority& authority) {
  return std::make_shared<SetCredentials>(
      TlsMaterial{.ca = authority.certificate(), .has_ca = true});
}

inline std::string read_all(ResponseStream& stream) {
  std::string all;
  while (true) {
    const std::string_view bytes = stream.read();
    if (bytes.empty()) return all;
    all += bytes;
  }
}

/// Runs a function that must throw a TransportError, and returns its kind. Stores the message in
/// `message`.
template <typename Function>
Kind kind_of(Function function, std::string* message = nullptr) {
  try {
    function();
  } catch (const TransportError& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "no TransportError";
  return Kind::kCanceled;
}

/// Waits until the condition holds. Returns false on timeout.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A flag that threads can wait for.
class Signal {
 public:
  void set() {
    const std::lock_guard lock{mutex_};
    set_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool wait() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, 10s, [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

/// Returns the number of entries: files in /proc/self/fd, threads in /proc/self/task.
inline long entries(const char* folder) {
  const std::filesystem::directory_iterator files{folder};
  return std::distance(begin(files), end(files));
}

/// A port where connections are neither accepted nor refused, because the listener's backlog is
/// full.
class DeafPort {
 public:
  explicit DeafPort(const char* host = "127.0.0.1", int port = 0) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host, &address.sin_addr);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    ::listen(listener_, 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int& filler : fillers_) {
      filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      ::connect(filler, reinterpret_cast<sockaddr*>(&address), size);
    }
  }
  ~DeafPort() {
    for (const int filler : fillers_) ::close(filler);
    ::close(listener_);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_ = -1;
  int port_ = 0;
  std::array<int, 8> fillers_{};
};

/// Responds to each request with "ok".
inline void answer_ok(Peer& peer) {
  while (!peer.read_request().empty()) peer.respond("200 OK", "ok");
}

}  // namespace kube::test

// SPDX-License-Identifier: Apache-2.0
// Server and clients share the machine; the clients are minimal.
#include <kube/testkit/api_server.hpp>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using kube::testkit::ApiServer;
using Timer = std::chrono::steady_clock;

double seconds_since(Timer::time_point start) {
  return std::chrono::duration<double>(Timer::now() - start).count();
}

/// CPU time of the whole process, which is less sensitive to other load than wall-clock time.
double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Socket {
 public:
  explicit Socket(std::uint16_t port) : handle_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(handle_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
    const int now = 1;
    ::setsockopt(handle_, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  }
  ~Socket() { ::close(handle_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(handle_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("cannot send");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  [[nodiscard]] std::string_view receive(std::vector<char>& into) const {
    const ssize_t size = ::recv(handle_, into.data(), into.size(), 0);
    if (size <= 0) throw std::runtime_error("the connection has ended");
    return {into.data(), static_cast<std::size_t>(size)};
  }
  /// Reads one answer with Content-Length and returns its status.
  int exchange(std::string_view request, std::vector<char>& buffer) const {
    send(request);
    std::string head;
    for (;;) {
      head += receive(buffer);
      const std::size_t end = head.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const std::size_t at = head.find("Content-Length: ");
      if (at < end && head.size() < end + 4 + std::stoul(head.substr(at + 16, 12))) continue;
      return std::stoi(head.substr(9, 3));
    }
  }
  [[nodiscard]] int handle() const noexcept { return handle_; }

 private:
  int handle_;
};

std::string config_map(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":"default"}},"data":{{"key":"a value of some length, as they have"}}}})",
      name);
}

void start() {
  std::vector<double> times;
  std::vector<char> buffer(65536);
  for (int i = 0; i < 21; ++i) {
    const auto begin = Timer::now();
    ApiServer server;
    const Socket socket{server.port()};
    if (socket.exchange("GET /api/v1/namespaces/default HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        buffer) != 200) {
      throw std::runtime_error("no answer");
    }
    times.push_back(seconds_since(begin) * 1000);
  }
  std::ranges::sort(times);
  fmt::print("start to first answer   {:8.2f} ms (median of 21; worst {:.2f})\n", times[10],
             times.back());
}

void writes(int clients, int each) {
  ApiServer server;
  const auto begin = Timer::now();
  const double cpu = cpu_seconds();
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int c = 0; c < clients; ++c) {
      threads.emplace_back([&, c] {
        const Socket socket{server.port()};
        std::vector<char> buffer(65536);
        for (int i = 0; i < each; ++i) {
          const std::string body = config_map(fmt::format("c{}-{}", c, i));
          const int status =
              socket.exchange(fmt::format("POST /api/v1/namespaces/default/configmaps "
                                          "HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                          "application/json\r\nContent-Length: {}\r\n\r\n{}",
                                          body.size(), body),
                              buffer);
          if (status != 201) ++failures;
        }
      });
    }
  }
  if (failures > 0) throw std::runtime_error("writes failed");
  fmt::print(
      "writes over HTTP/1.1    {:8.0f} per second ({} clients; {:.0f} us of CPU each, clients "
      "included)\n",
      clients * each / seconds_since(begin), clients,
      (cpu_seconds() - cpu) * 1e6 / (clients * each));
}

void watches(int watchers, int events) {
  ApiServer server;
  std::vector<std::unique_ptr<Socket>> sockets;
  std::vector<pollfd> polls;
  for (int i = 0; i < watchers; ++i) {
    sockets.push_back(std::make_unique<Socket>(server.port()));
    sockets.back()->send(
        "GET /api/v1/configmaps?watch=1&resourceVersion=1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    polls.push_back({sockets.back()->handle(), POLLIN, 0});
  }
  if (!server.wait_for(
          [&] { return server.watch_count() == static_cast<std::size_t>(watchers); })) {
    throw std::runtime_error("the watches do not start");
  }
  const auto begin = Timer::now();
  const double cpu = cpu_seconds();
  std::jthread writer{[&] {
    for (int i = 0; i < events; ++i) server.create_json(config_map(fmt::format("e-{}", i % 100)));
  }};
  std::vector<char> buffer(1 << 20);
  // Each event is an object that contains `data` once.
  const std::int64_t wanted = std::int64_t{watchers} * events;
  std::int64_t seen = 0;
  std::int64_t bytes = 0;
  while (seen < wanted) {
    if (::poll(polls.data(), polls.size(), 10000) <= 0)
      throw std::runtime_error("events are missing");
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if ((polls[i].revents & POLLIN) == 0) continue;
      const std::string_view got = sockets[i]->receive(buffer);
      bytes += static_cast<std::int64_t>(got.size());
      seen += std::ranges::count(got, '\n');
      // Lines of the head and of the chunks end in \r\n, events in \n alone.
      seen -= std::ranges::count(got, '\r');
    }
  }
  const double time = seconds_since(begin);
  fmt::print(
      "watch events delivered  {:8.0f} per second ({} watches, {} events each, {:.0f} MB/s; {:.2f} "
      "us of CPU each)\n",
      static_cast<double>(wanted) / time, watchers, events, static_cast<double>(bytes) / time / 1e6,
      (cpu_seconds() - cpu) * 1e6 / static_cast<double>(wanted));
}

}  // namespace

int main() {
  try {
    start();
    writes(1, 5000);
    writes(8, 5000);
    watches(10, 20000);
    watches(100, 5000);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "server_bench: {}\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// The cost of receiving a large body over TLS, compared with curl, and of many idle watches.
// Server, curl and our client are separate processes, so that the usage of each one is known.
#include <kube/transport/http_transport.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "processes.hpp"
#include "support/http2_server.hpp"

namespace kube::bench {
namespace {

constexpr std::uint64_t kLarge = 200'000'000;
constexpr std::uint64_t kSmall = 20'000'000;
constexpr int kRepetitions = 5;
constexpr int kWatches = 200;

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::string read_file(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// Parses a path: "/200000000" requests that many bytes; "/watch" an endless answer.
std::uint64_t size_asked_for(std::string_view path) {
  return std::strtoull(std::string{path}.c_str() + 1, nullptr, 10);
}

class FixedCredentials final : public Credentials {
 public:
  explicit FixedCredentials(std::string ca)
      : material_(std::make_shared<TlsMaterial>(TlsMaterial{.ca = std::move(ca), .has_ca = true})) {
  }
  std::string authorization(std::stop_token) override { return {}; }
  std::shared_ptr<const TlsMaterial> tls(std::stop_token) override { return material_; }
  void refused(const std::string&) override {}

 private:
  std::shared_ptr<const TlsMaterial> material_;
};

/// Prints the URLs of an HTTP/2 and an HTTP/1.1 server, and serves until its input ends.
int serve(const std::string& ca_file) {
  const test::TestAuthority authority;
  std::ofstream{ca_file} << authority.certificate();
  test::Http2Server http2{authority.issue_server(), [](const test::Http2Request& request) {
                            test::Http2Reply reply;
                            reply.filler = size_asked_for(request.headers.at(":path"));
                            if (reply.filler == 0) reply.body->write("hello");
                            return reply;
                          }};
  test::ScriptedServer http1{
      [](test::Peer& peer) {
        const std::string head = peer.read_request();
        std::uint64_t left = size_asked_for(std::string_view{head}.substr(4));
        peer.write(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", left));
        const std::string block(16384, 'x');
        while (left > 0) {
          const auto size = std::min<std::uint64_t>(left, block.size());
          if (!peer.write({block.data(), static_cast<std::size_t>(size)})) return;
          left -= size;
        }
      },
      test::ServerTls{.certificate = authority.issue_server()}};
  std::cout << http2.url() << ' ' << http1.url() << std::endl;
  std::cin.get();
  return 0;
}

std::unique_ptr<Transport> connect(const std::string& url, const std::string& ca_file) {
  return make_http_transport(
      {.base_url = url, .credentials = std::make_shared<FixedCredentials>(read_file(ca_file))});
}

int receive(const std::string& url, const std::string& target, const std::string& ca_file) {
  const auto transport = connect(url, ca_file);
  const auto stream = transport->open({.target = target});
  std::uint64_t total = 0;
  while (true) {
    const std::string_view bytes = stream->read();
    if (bytes.empty()) break;
    total += bytes.size();
  }
  return total == size_asked_for(target) ? 0 : 1;
}

/// Prints the memory before and with the watches.
int watch(const std::string& url, const std::string& ca_file) {
  const auto transport = connect(url, ca_file);
  std::vector<std::unique_ptr<ResponseStream>> streams;
  streams.push_back(transport->open({.target = "/watch", .lane = Lane::kWatches}));
  const double one = resident_mb();
  while (streams.size() < kWatches) {
    streams.push_back(transport->open({.target = "/watch", .lane = Lane::kWatches}));
  }
  for (const auto& stream : streams) (void)stream->read();
  std::cout << fmt::format("{:.1f} {:.1f}", one, resident_mb()) << std::endl;
  return 0;
}

Usage least(const std::vector<std::string>& command) {
  Usage best = run(command);
  for (int i = 1; i < kRepetitions; ++i) {
    const Usage again = run(command);
    best.cpu_ms = std::min(best.cpu_ms, again.cpu_ms);
    best.rss_mb = std::max(best.rss_mb, again.rss_mb);
  }
  return best;
}

void compare(const char* protocol, const char* option, const std::string& url,
             const std::string& ca_file) {
  const std::string large = fmt::format("/{}", kLarge);
  const Usage curl =
      least({"curl", "-s", "-S", option, "--cacert", ca_file, "-o", "/dev/null", url + large});
  const Usage ours = least({own_path(), "receive", url, large, ca_file});
  const Usage small = least({own_path(), "receive", url, fmt::format("/{}", kSmall), ca_file});
  fmt::print("{:<28}{:>10.0f}{:>10}{:>12.1f}\n", fmt::format("curl, {}", protocol), curl.cpu_ms,
             "1.00", curl.rss_mb);
  fmt::print("{:<28}{:>10.0f}{:>10.2f}{:>12.1f}\n", fmt::format("kubecxx, {}", protocol),
             ours.cpu_ms, ours.cpu_ms / curl.cpu_ms, ours.rss_mb);
  fmt::print("{:<28}{:>10.0f}{:>10}{:>12.1f}\n", "  a tenth of that body", small.cpu_ms, "",
             small.rss_mb);
}

int measure() {
  const std::string folder =
      std::filesystem::temp_directory_path() / fmt::format("transport-bench-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string ca_file = folder + "/ca.pem";
  {
    const Background server{{own_path(), "serve", ca_file}};
    const auto blank = server.line().find(' ');
    const std::string http2 = server.line().substr(0, blank);
    const std::string http1 = server.line().substr(blank + 1);
    fmt::print("{} MB over TLS on loopback: CPU of the client (user + system, least of {})\n\n",
               kLarge / 1'000'000, kRepetitions);
    fmt::print("{:<28}{:>10}{:>10}{:>12}\n", "", "CPU ms", "ratio", "peak MB");
    compare("HTTP/1.1", "--http1.1", http1, ca_file);
    compare("HTTP/2", "--http2", http2, ca_file);
    const Background watcher{{own_path(), "watch", http2, ca_file}};
    const auto gap = watcher.line().find(' ');
    fmt::print("\nResident memory of a process with 1 watch: {} MB, with {}: {} MB\n",
               watcher.line().substr(0, gap), kWatches, watcher.line().substr(gap + 1));
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace kube::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.empty()) return kube::bench::measure();
    if (words[0] == "serve") return kube::bench::serve(words.at(1));
    if (words[0] == "receive") return kube::bench::receive(words.at(1), words.at(2), words.at(3));
    if (words[0] == "watch") return kube::bench::watch(words.at(1), words.at(2));
  } catch (const std::exception& error) {
    std::cerr << "transport_bench: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "transport_bench takes no arguments\n";
  return 2;
}

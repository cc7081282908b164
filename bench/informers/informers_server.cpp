// SPDX-License-Identifier: Apache-2.0
//
// The servers that informers are measured against, in a separate process:
//   informers_server replay PODS [CA_FILE]
// replays recorded lists and watches of that many pods at full speed. The prefix of a path selects
// the behaviour:
//   /plain/api/v1/pods       lists, and watches that are idle after the initial events
//   /storm/N/api/v1/pods     N updates and a bookmark follow after a request for /storm/N/go
//   /once/N/api/v1/pods      N updates follow at once, then the watch ends
//   /expire/api/v1/pods      the error 410 follows after a request for /expire/go
// With a CA_FILE, to which it writes a certificate, it uses TLS.
//   informers_server serve PODS
// is the in-process API server with that many pods, and as many small ones in the namespace
// "small". The token of the administrator is "bench".
// Both print their URL, and exit at the end of their input.
#include "population.hpp"
#include "recording.hpp"
#include "support/scripted_server.hpp"

#include <kube/testkit/api_server.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kube::bench {
namespace {

constexpr std::string_view kMedia = "application/vnd.kubernetes.protobuf";

/// Returns the value of a parameter such as "limit=500"; 0 if it is missing.
std::size_t number_of(std::string_view query, std::string_view name) {
  std::size_t value = 0;
  if (const auto at = query.find(name); at != std::string_view::npos) {
    const std::string_view digits = query.substr(at + name.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
  }
  return value;
}

/// Blocks requests until a path is opened; each opening lets them pass once.
class Gates {
 public:
  void open(const std::string& path) {
    const std::lock_guard guard{mutex_};
    ++open_[path];
    changed_.notify_all();
  }
  /// Returns false if the peer disconnects before.
  bool pass(const std::string& path, const test::Peer& peer) {
    std::unique_lock lock{mutex_};
    while (open_[path] == 0) {
      changed_.wait_for(lock, std::chrono::milliseconds{100});
      if (peer.ends_within({})) return false;
    }
    --open_[path];
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> open_;
};

/// Sends frames in large chunks.
class Chunks {
 public:
  explicit Chunks(test::Peer& peer) : peer_(peer) {}
  void add(const std::string& frame) {
    pending_ += test::chunk(frame);
    if (pending_.size() > 65536) flush();
  }
  void flush() {
    sound_ = sound_ && peer_.write(pending_);
    pending_.clear();
  }
  [[nodiscard]] bool sound() const noexcept { return sound_; }

 private:
  test::Peer& peer_;
  std::string pending_;
  bool sound_ = true;
};

void watch(test::Peer& peer, const Recording& recording, Gates& gates, std::string_view path,
           std::string_view query) {
  peer.write(fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: {};stream=watch\r\nTransfer-Encoding: chunked\r\n\r\n",
      kMedia));
  Chunks chunks{peer};
  if (query.find("sendInitialEvents=true") != std::string_view::npos) {
    for (std::size_t i = 0; i < recording.size() && chunks.sound(); ++i) {
      chunks.add(recording.added(i));
    }
    chunks.add(Recording::bookmark(true));
    chunks.flush();
  }
  const auto update = [&](std::string_view prefix) {
    const std::size_t events = number_of(path, prefix);
    for (std::size_t n = 0; n < events && chunks.sound(); ++n) chunks.add(recording.modified(n));
  };
  const std::string gate = std::string{path.substr(0, path.find("/api/"))} + "/go";
  if (path.starts_with("/storm/") && gates.pass(gate, peer)) {
    update("/storm/");
    chunks.add(Recording::bookmark(false));
  } else if (path.starts_with("/once/")) {
    update("/once/");
    chunks.flush();
    peer.write("0\r\n\r\n");
    return;
  } else if (path.starts_with("/expire/") && gates.pass(gate, peer)) {
    chunks.add(Recording::expired());
  }
  chunks.flush();
  peer.wait_for_end();
}

/// Answers one request. Returns false if the connection cannot be used again.
bool answer(test::Peer& peer, const Recording& recording, Gates& gates) {
  const std::string head = peer.read_request();
  const auto begin = head.find(' ') + 1;
  const auto end = head.find(' ', begin);
  if (begin == 0 || end == std::string::npos) return false;
  const std::string_view target = std::string_view{head}.substr(begin, end - begin);
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(path.size());
  if (path.ends_with("/go")) {
    gates.open(std::string{path});
    return peer.respond("200 OK", "");
  }
  if (query.find("watch=") != std::string_view::npos) {
    watch(peer, recording, gates, path, query);
    return false;
  }
  std::size_t next = 0;
  return peer.respond(
      "200 OK", recording.page(number_of(query, "continue="), number_of(query, "limit="), next),
      fmt::format("Content-Type: {}\r\n", kMedia));
}

int replay(std::size_t pods, const std::string& ca_file) {
  const Recording recording{pods};
  Gates gates;
  std::optional<test::ServerTls> tls;
  if (!ca_file.empty()) {
    const test::TestAuthority authority;
    std::ofstream{ca_file} << authority.certificate();
    tls = test::ServerTls{.certificate = authority.issue_server()};
  }
  const test::ScriptedServer server{[&](test::Peer& peer) {
                                      while (answer(peer, recording, gates)) {
                                      }
                                    },
                                    tls};
  std::cout << server.url() << std::endl;
  std::cin.get();
  return 0;
}

int serve(std::size_t pods) {
  // Without garbage collection, which would delete the pods, because their owners do not exist
  // here.
  testkit::ApiServer server{{.token = "bench", .garbage_collection = false}};
  const Population population{{.pods = pods, .templates = std::max<std::size_t>(1, pods / 125)}};
  for (std::size_t i = 0; i < pods; ++i) server.create(population.pod(i));
  server.create_json(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"small"}})");
  for (std::size_t i = 0; i < pods; ++i) {
    core::v1::Pod small;
    small.metadata.name = fmt::format("pod-{}", i);
    small.spec.containers = {{.name = "main", .image = "example.org/main:1"}};
    server.request("POST", "/api/v1/namespaces/small/pods",
                   *decode_json<Value>(encode_json(small)));
  }
  server.settle();
  std::cout << server.url() << std::endl;
  std::cin.get();
  return 0;
}

}  // namespace
}  // namespace kube::bench

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() >= 2 && words[0] == "replay") {
      return kube::bench::replay(std::stoul(words[1]), words.size() > 2 ? words[2] : "");
    }
    if (words.size() == 2 && words[0] == "serve") return kube::bench::serve(std::stoul(words[1]));
  } catch (const std::exception& error) {
    std::cerr << "informers_server: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "informers_server is run by informers_bench\n";
  return 2;
}

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
//   /stamped/N/api/v1/pods   N updates follow, one every two milliseconds, after a request for
//                            /stamped/N/go; an annotation has the time at which each is written
// A watch is in JSON if the client does not accept protobuf. With a CA_FILE, to which it writes a
// certificate, the server uses TLS.
//   informers_server serve PODS
// is the in-process API server with that many pods, and as many small ones in the namespace
// "small". The token of the administrator is "bench".
// Both print their URL, and exit at the end of their input.
//   informers_server etcd PODS
// prints the pods as an API server stores them: a transaction for etcd's JSON gateway on each line.
#include "population.hpp"
#include "recording.hpp"
#include "support/scripted_server.hpp"

#include <kube/codec/base64.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/format.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kube::bench {
namespace {

constexpr std::string_view kMedia = "application/vnd.kubernetes.protobuf";
/// Between stamped events: long enough for each program to have handled one before the next.
constexpr auto kPace = std::chrono::milliseconds{2};

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

/// Writes updates one at a time, each with the time at which it is written.
void write_stamped(test::Peer& peer, const Recording& recording, std::size_t events,
                   Format format) {
  const int enabled = 1;  // without it, an event could wait for the receipt of the one before
  ::setsockopt(peer.socket(), IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
  for (std::size_t n = 0; n < events; ++n) {
    std::string bytes = test::chunk(recording.stamped(n, format));
    const std::size_t stamp = bytes.find(Recording::kNoStamp);
    std::this_thread::sleep_for(kPace);
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    bytes.replace(stamp, Recording::kNoStamp.size(), fmt::format("{:019}", now.count()));
    if (!peer.write(bytes)) return;
  }
}

void watch(test::Peer& peer, const Recording& recording, Gates& gates, std::string_view path,
           std::string_view query, Format format) {
  peer.write(fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
      format == Format::kJson ? "application/json" : fmt::format("{};stream=watch", kMedia)));
  Chunks chunks{peer};
  if (query.find("sendInitialEvents=true") != std::string_view::npos) {
    for (std::size_t i = 0; i < recording.size() && chunks.sound(); ++i) {
      chunks.add(recording.added(i, format));
    }
    chunks.add(Recording::bookmark(true, format));
    chunks.flush();
  }
  const auto update = [&](std::string_view prefix) {
    const std::size_t events = number_of(path, prefix);
    for (std::size_t n = 0; n < events && chunks.sound(); ++n) chunks.add(recording.modified(n));
  };
  const std::string gate = std::string{path.substr(0, path.find("/api/"))} + "/go";
  if (path.starts_with("/storm/") && gates.pass(gate, peer)) {
    update("/storm/");
    chunks.add(Recording::bookmark(false, format));
  } else if (path.starts_with("/once/")) {
    update("/once/");
    chunks.flush();
    peer.write("0\r\n\r\n");
    return;
  } else if (path.starts_with("/stamped/") && gates.pass(gate, peer)) {
    write_stamped(peer, recording, number_of(path, "/stamped/"), format);
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
    const bool protobuf = head.find(kMedia) != std::string::npos;
    watch(peer, recording, gates, path, query, protobuf ? Format::kProtobuf : Format::kJson);
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

/// Prints what an API server stores for its pods. Their versions are those that etcd gives them.
int print_stored(std::size_t pods) {
  constexpr std::size_t kPodsPerTransaction = 64;  // etcd accepts 128 operations and 1.5 MB
  const Population population{{.pods = pods, .templates = std::max<std::size_t>(1, pods / 125)}};
  for (std::size_t i = 0; i < pods; ++i) {
    core::v1::Pod pod = population.pod(i);
    pod.metadata.resource_version = "";
    const std::string key = fmt::format("/registry/pods/{}/{}", pod.metadata.namespace_.view(),
                                        pod.metadata.name.view());
    const bool first = i % kPodsPerTransaction == 0;
    const bool last = (i + 1) % kPodsPerTransaction == 0 || i + 1 == pods;
    std::cout << (first ? R"({"success":[)" : ",")
              << fmt::format(R"({{"requestPut":{{"key":"{}","value":"{}"}}}})", base64_encode(key),
                             base64_encode(encode_protobuf(pod)))
              << (last ? "]}\n" : "");
  }
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
    if (words.size() == 2 && words[0] == "etcd") {
      return kube::bench::print_stored(std::stoul(words[1]));
    }
  } catch (const std::exception& error) {
    std::cerr << "informers_server: " << error.what() << '\n';
    return 1;
  }
  std::cerr << "informers_server is run by informers_bench\n";
  return 2;
}

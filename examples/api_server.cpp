// SPDX-License-Identifier: Apache-2.0
// Tests client code against the API server of the testkit, with some faults injected. Prints each
// check and fails if one fails.
#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/client/client.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <chrono>
#include <string_view>

namespace {

using namespace std::chrono_literals;
using kube::core::v1::Pod;
using kube::testkit::ApiServer;

int failures = 0;

void check(bool good, std::string_view what) {
  fmt::print("{}  {}\n", good ? "ok    " : "FAILED", what);
  if (!good) ++failures;
}

Pod pod(std::string_view namespace_, std::string_view name) {
  Pod made;
  made.metadata.namespace_ = namespace_;
  made.metadata.name = name;
  made.spec.containers.push_back({.name = "main", .image = "nginx:1.29"});
  return made;
}

void read_and_write() {
  ApiServer server;
  server.create(pod("default", "web-0"));  // stored verbatim, including status
  server.load_yaml("{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: default}}");

  kube::Client client{server.config()};
  client.core().v1().pods("default").create(pod("default", "web-2"));

  check(server.wait_for([&] { return server.count<Pod>("default") == 3; }), "three pods");
  check(server.requests().count({.verb = "create", .resource = "pods"}) == 1, "one over HTTP");
}

void go_wrong(ApiServer& server) {
  server.faults().next(3).matching({.verb = "list", .resource = "pods"}).respond(503, 1s);
  server.faults().always().matching({.verb = "watch"}).with_probability(0.1).drop_after(5);
  server.faults().drop_watches_after(3).expire_history();
}

void see_it_go_wrong() {
  ApiServer server;
  server.faults().next().matching({.verb = "get"}).respond(403);
  kube::Client client{server.config()};
  try {
    (void)client.core().v1().pods("default").get("web-0");
    check(false, "the fault strikes");
  } catch (const kube::ApiError& error) {
    check(kube::is_forbidden(error), "the fault strikes");
  }
  go_wrong(server);
  check(server.faults().waiting() == 3, "more faults wait");
}

}  // namespace

int main() {
  read_and_write();
  see_it_go_wrong();
  return failures == 0 ? 0 : 1;
}

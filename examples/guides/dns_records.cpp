// SPDX-License-Identifier: Apache-2.0
// A controller with a finalizer, an index, a watch that is mapped to requests, a log, metrics and health checks: each
// Service with the annotation "dns.example.com/hostname" gets a record at a DNS provider, with a token from a Secret.
//   dns_records               for the cluster of the kubeconfig, until it is interrupted
//   dns_records --demo RBAC   runs it on an in-process server, with the permissions in the file RBAC
#include <kube/api/core/v1.hpp>
#include <kube/kube.hpp>
#include <kube/testkit/api_server.hpp>

#include <fmt/core.h>

#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using kube::core::v1::Secret;
using kube::core::v1::Service;

constexpr std::string_view kHostname = "dns.example.com/hostname";
constexpr std::string_view kSecret = "dns.example.com/secret";
constexpr const char* kFinalizer = "dns.example.com/record";

std::string annotation(const Service& service, std::string_view key) {
  const kube::String* found = service.metadata.annotations.find(key);
  return found == nullptr ? std::string{} : found->str();
}

/// Stands for the API of a DNS provider. Thread safety: all methods may be called from any thread.
class DnsProvider {
 public:
  void set(const std::string& host, const std::string& address, const std::string& token) {
    const std::lock_guard guard{mutex_};
    records_[host] = address + " by " + token;
  }
  void erase(const std::string& host) {
    const std::lock_guard guard{mutex_};
    records_.erase(host);
  }
  std::string find(const std::string& host) const {
    const std::lock_guard guard{mutex_};
    const auto found = records_.find(host);
    return found == records_.end() ? "none" : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> records_;  // guarded by mutex_
};

kube::Finalizers<Service> make_finalizers(DnsProvider& dns) {
  kube::Finalizers<Service> finalizers;
  finalizers.add(kFinalizer, [&dns](Service& service) -> kube::FinalizerResult {
    dns.erase(annotation(service, kHostname));
    return {};  // an exception would keep the finalizer, and so the Service
  });
  return finalizers;
}

/// Adds the finalizer to a Service that lives, or runs it for one that is being deleted. Returns whether the Service
/// lives and has the finalizer.
bool finalize(const kube::Client& client, const kube::Finalizers<Service>& finalizers,
              const Service& service, const std::stop_token& stop) {
  Service changed = service;
  const kube::FinalizerResult result = finalizers.run(changed, stop);
  if (result.updated) {
    client.resource<Service>(service.metadata.namespace_.view()).update(changed, {}, stop);
  }
  if (!result.failures.empty()) throw kube::Error{result.failures.front()};  // try again later
  return !service.metadata.deletion_timestamp;
}

void add_dns_controller(kube::Manager& manager, DnsProvider& dns) {
  manager.index_field<Service>("secret", [](const Service& service) {
    return std::vector<std::string>{annotation(service, kSecret)};
  });
  const auto services_of = [&manager](const Secret& secret) {
    const auto services =
        manager.list<Service>({.namespace_ = secret.metadata.namespace_.str(),
                               .field_selector = "secret=" + secret.metadata.name.str()});
    std::vector<kube::Request> requests;
    for (const auto& service : services.items) requests.push_back({kube::key_of(*service)});
    return requests;
  };
  const kube::Counter written = manager.metrics()->counter("dns_records_written_total",
                                                           "Records written to the DNS provider.");

  manager.controller<Service>("dns-record")
      .watches<Secret>(services_of)
      .reconcile([&manager, &dns, finalizers = make_finalizers(dns), written,
                  recorder = manager.event_recorder("dns-record")](const kube::Request& request,
                                                                   std::stop_token stop) {
        const auto service = manager.find<Service>(request.key, stop);
        if (!service || annotation(*service, kHostname).empty()) return kube::done();
        if (!finalize(manager.client(), finalizers, *service, stop)) return kube::done();

        const kube::ObjectKey key{request.key.namespace_, annotation(*service, kSecret)};
        const auto secret = manager.find<Secret>(key, stop);
        if (!secret) {
          recorder->record(*service, "Warning", "NoSecret", "no Secret " + key.str());
          return kube::done();  // the Secret's creation is an event, and brings the Service again
        }
        const std::string host = annotation(*service, kHostname);
        dns.set(host, service->spec.cluster_ip.str(), std::string{secret->data.at("token").view()});
        written.add();
        manager.log().info("{} points to {}", host, service->spec.cluster_ip.view());
        return kube::done();
      });
}

/// Writes each line as JSON to standard output.
kube::Logger json_log(kube::LogLevel least) {
  return kube::Logger{
      [](kube::LogLevel level, std::string_view component, std::string_view message) {
        const std::vector<std::string_view> levels{"debug", "info", "warning", "error"};
        const auto line = kube::Value::object({{"level", levels[static_cast<std::size_t>(level)]},
                                               {"component", component},
                                               {"message", message}});
        fmt::print("{}\n", kube::encode_json(line));
      },
      least};
}

kube::ManagerOptions options() {
  kube::ManagerOptions options;
  options.leader_election = {.name = "dns-records", .release_on_cancel = true};
  options.cache.leave_out = {"metadata.managedFields"};
  options.metrics_address = ":8080";
  options.health_address = ":8081";
  options.log = json_log(kube::LogLevel::kInfo);
  return options;
}

void add_health_checks(kube::Manager& manager) {
  manager.add_healthz_check("leader-election", manager.leader_election_check());
  manager.add_readyz_check("ping", kube::ping());
}

int run(kube::Config config) {
  DnsProvider dns;
  kube::Manager manager{std::move(config), options()};
  add_health_checks(manager);
  add_dns_controller(manager, dns);
  manager.run(kube::stop_on_signals());
  return 0;
}

void check(bool good, std::string_view what) {
  if (!good) throw std::runtime_error{fmt::format("not so: {}", what)};
  fmt::print("{}\n", what);
}

int demo(const std::string& rbac) {
  kube::testkit::ApiServer server{{.rbac = true}};
  server.load(rbac);
  DnsProvider dns;
  kube::ManagerOptions with = options();
  with.leader_election.namespace_ = "dns-system";
  with.metrics_address = with.health_address = "127.0.0.1:0";
  kube::Manager manager{server.config_for_account("dns-system", "dns-records"), std::move(with)};
  add_health_checks(manager);
  add_dns_controller(manager, dns);
  std::jthread running{[&](std::stop_token stop) { manager.run(std::move(stop)); }};

  const kube::Client client{server.config()};
  const auto services = client.resource<Service>("default");
  const auto secrets = client.resource<Secret>("default");
  Service shop{.metadata = {.name = "shop"}};
  shop.metadata.annotations[kHostname] = "shop.example.com";
  shop.metadata.annotations[kSecret] = "dns";
  shop.spec.ports.push_back({.port = 80});
  const std::string address = services.create(shop)->spec.cluster_ip.str();
  const auto expect = [&](const std::string& wanted) {
    check(server.wait_for([&] { return dns.find("shop.example.com") == wanted; }),
          "the record is: " + wanted);
  };
  secrets.create({.metadata = {.name = "dns"}, .string_data = {{"token", "first"}}});
  expect(address + " by first");
  secrets.patch("dns", kube::PatchType::kMerge, R"({"stringData":{"token":"second"}})");
  expect(address + " by second");
  services.delete_("shop");
  check(server.wait_for([&] { return server.find<Service>("default", "shop") == nullptr; }),
        "the Service is gone");
  expect("none");

  running.request_stop();
  running.join();
  for (const auto& request : server.requests().entries()) {
    check(request.status != 403,
          fmt::format("a rule allows {} {}", request.info.verb, request.info.path));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 3 && std::string_view{argv[1]} == "--demo" ? demo(argv[2])
                                                              : run(kube::load_config());
  } catch (const std::exception& error) {
    fmt::print(stderr, "dns_records: {}\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "test_server.hpp"

#include <kube/api/core/v1.hpp>
#include <kube/api/errors.hpp>
#include <kube/api/rbac/v1.hpp>
#include <kube/client/rest_mapper.hpp>
#include <kube/client/retry.hpp>
#include <kube/codec/yaml.hpp>
#include <kube/config/load.hpp>

#include "support/child.hpp"
#include "support/paths.hpp"

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>

namespace kube::testing_support {
namespace {

using core::v1::Namespace;
using namespace std::chrono_literals;

/// Resources that tests create in namespaces. They are deleted explicitly, because a bare API
/// server does not empty deleted namespaces.
const std::vector<GroupVersionResource> kContents{
    {"", "v1", "configmaps"},
    {"", "v1", "secrets"},
    {"", "v1", "pods"},
    {"", "v1", "events"},
    {"apps", "v1", "deployments"},
    {"coordination.k8s.io", "v1", "leases"},
    {"rbac.authorization.k8s.io", "v1", "rolebindings"},
    {"rbac.authorization.k8s.io", "v1", "roles"},
    {"samplecontroller.k8s.io", "v1alpha1", "foos"},
};

const char* cluster_folder() { return std::getenv("KUBECXX_CLUSTER"); }

std::string text_at(const Value& object, std::string_view path) {
  return std::string{object.get_string(path).value_or("")};
}
std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

}  // namespace

bool on_cluster() { return cluster_folder() != nullptr; }

TestServer::TestServer(testkit::ApiServerOptions options) {
  if (on_cluster()) {
    cluster_ = cluster_folder();
    const Config direct = from_kubeconfig("admin");
    proxy_.emplace(port_of(direct.host));
    admin_.emplace(direct);
  } else {
    options.users.push_back({.name = "alice"});
    if (!options.rbac) {
      options.deny = [this](const testkit::RequestInfo& request) -> std::optional<std::string> {
        if (request.user != "alice" || alice_allowed_) return std::nullopt;
        return "";
      };
    }
    in_process_.emplace(std::move(options));
  }
  add_space();
}

TestServer::~TestServer() {
  if (!is_real()) return;
  try {
    for (const auto& [resource, name] : elsewhere_) remove(resource, {}, name);
    for (const std::string& space : spaces_) remove_space(space);
  } catch (const Error&) {
    // Names of namespaces are unique, so leftovers do not disturb other tests.
  }
}

testkit::ApiServer* TestServer::operator->() {
  if (is_real()) throw std::logic_error("this needs the server in this process");
  return &*in_process_;
}

std::string TestServer::add_space() {
  if (is_real()) {
    spaces_.push_back(admin_->resource<Namespace>()
                          .create({.metadata = {.generate_name = "test-"}})
                          ->metadata.name.str());
  } else {
    spaces_.push_back("test-" + std::to_string(spaces_.size() + 1));
    in_process_->create(Namespace{.metadata = {.name = spaces_.back()}});
  }
  return spaces_.back();
}

void TestServer::remove_space(const std::string& space) const {
  for (const GroupVersionResource& resource : kContents) {
    try {
      admin_->dynamic(resource, space).delete_collection({.grace_period_seconds = 0});
    } catch (const ApiError& error) {
      if (!is_not_found(error)) throw;  // the resource is not served
    }
  }
  const auto namespaces = admin_->resource<Namespace>();
  namespaces.delete_(space);
  retry_on_conflict([&] {
    Namespace emptied = *namespaces.get(space);
    emptied.spec.finalizers = {};
    return namespaces.update_subresource(space, "finalize", emptied);
  });
}

Config TestServer::from_kubeconfig(std::string_view context) const {
  Config config = load_config({.sources = {.explicit_file = (cluster_ / "kubeconfig").string()},
                               .overrides = {.context_name = std::string{context}}});
  config.qps = -1;
  // The files are inlined, so that no client has to poll them for changes.
  for (const auto& [file, data] : {std::pair{&config.tls.ca_file, &config.tls.ca_data},
                                   {&config.tls.certificate_file, &config.tls.certificate_data},
                                   {&config.tls.key_file, &config.tls.key_data}}) {
    std::ifstream stream{std::exchange(*file, "")};
    *data = {std::istreambuf_iterator<char>{stream}, {}};
  }
  return config;
}

void TestServer::run_cluster_script(const char* command) const {
  run_program({source_path("tests/cluster/cluster.sh"), command, cluster_.string()});
}

Config TestServer::config() const {
  return is_real() ? config_for("admin") : in_process_->config();
}

Config TestServer::config_for(std::string_view user) const {
  if (!is_real()) return user == "alice" ? in_process_->config_for(user) : in_process_->config();
  Config config = from_kubeconfig(user);
  config.host = "https://127.0.0.1:" + std::to_string(proxy_->port());
  return config;
}

void TestServer::allow_alice(bool allowed) {
  alice_allowed_ = allowed;
  if (!is_real()) return;
  const GroupVersionResource bindings{"rbac.authorization.k8s.io", "v1", "rolebindings"};
  if (!allowed) {
    remove(bindings, space(), "alice");
    return;
  }
  create(rbac::v1::Role{
      .metadata = {.name = "read", .namespace_ = space()},
      .rules = {{.verbs = {"list", "watch"}, .api_groups = {""}, .resources = {"configmaps"}}}});
  create(rbac::v1::RoleBinding{
      .metadata = {.name = "alice", .namespace_ = space()},
      .subjects = {{.kind = "User", .api_group = bindings.group, .name = "alice"}},
      .role_ref = {.api_group = bindings.group, .kind = "Role", .name = "read"}});
}

std::uint16_t TestServer::port() const { return is_real() ? proxy_->port() : in_process_->port(); }

Ref<Value> TestServer::store(const GroupVersionResource& resource, bool namespaced,
                             const Value& object) {
  if (!is_real()) return in_process_->create(object);
  const std::string name = text_at(object, "metadata.name");
  if (!namespaced && name.find(space()) != std::string::npos) {
    elsewhere_.emplace_back(resource, name);
  }
  const auto objects =
      admin_->dynamic(resource, namespaced ? text_at(object, "metadata.namespace") : "");
  try {
    return objects.create(object);
  } catch (const ApiError& error) {
    if (!is_already_exists(error)) throw;
  }
  return retry_on_conflict([&] {
    Value next = object;
    next["metadata"]["resourceVersion"] = text_at(*objects.get(name), "metadata.resourceVersion");
    return objects.update(next);
  });
}

void TestServer::load_yaml(std::string_view text) {
  if (!is_real()) {
    in_process_->load_yaml(text);
    return;
  }
  for (const Ref<Value>& document : decode_yaml_documents(text)) {
    const GroupVersionKind kind =
        parse_group_version(text_at(*document, "apiVersion")).with_kind(text_at(*document, "kind"));
    RestMapping mapping;
    // Discovery shows a new definition with a delay.
    until_it_works([&] { mapping = RestMapper{*admin_}.for_kind(kind); });
    store(mapping.resource, mapping.namespaced, *document);
    if (kind.kind != "CustomResourceDefinition") continue;
    const GroupVersionResource defined{text_at(*document, "spec.group"),
                                       text_at((*document)["spec"]["versions"][0], "name"),
                                       text_at(*document, "spec.names.plural")};
    until_it_works([&] { (void)admin_->dynamic(defined).list({.limit = 1}); });
  }
}

void TestServer::until_it_works(const std::function<void()>& attempt) const {
  std::exception_ptr last;
  const bool works = wait_for([&] {
    try {
      attempt();
      return true;
    } catch (const Error&) {
      last = std::current_exception();
      return false;
    }
  });
  if (!works) std::rethrow_exception(last);
}

Ref<Value> TestServer::find(const GroupVersionResource& resource, std::string_view space,
                            std::string_view name) const {
  if (is_real()) return admin_->dynamic(resource, std::string{space}).find(name);
  return in_process_->find({resource.group, resource.resource}, space, name);
}

std::vector<Ref<Value>> TestServer::list(const GroupVersionResource& resource,
                                         std::string_view space) const {
  if (is_real()) return admin_->dynamic(resource, std::string{space}).list().items;
  return in_process_->list({resource.group, resource.resource}, space);
}

bool TestServer::remove(const GroupVersionResource& resource, std::string_view space,
                        std::string_view name) {
  if (!is_real()) return in_process_->remove({resource.group, resource.resource}, space, name);
  try {
    admin_->dynamic(resource, std::string{space}).delete_(name, {.grace_period_seconds = 0});
    return true;
  } catch (const ApiError& error) {
    if (!is_not_found(error)) throw;
    return false;
  }
}

bool TestServer::wait_for(const std::function<bool()>& condition,
                          std::chrono::milliseconds limit) const {
  if (!is_real()) return in_process_->wait_for(condition, limit);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable look_again;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::unique_lock lock{mutex};
    look_again.wait_for(lock, 2ms);
  }
  return true;
}

void TestServer::end_watches() {
  if (is_real()) return proxy_->cut();
  in_process_->end_watches();
}
void TestServer::drop_connections() {
  if (is_real()) return proxy_->cut();
  in_process_->faults().drop_connections();
}
void TestServer::go_silent() {
  if (is_real()) return proxy_->hold(1h);
  in_process_->faults().always().go_silent();
}
void TestServer::stop() {
  if (is_real()) return proxy_->close_port();
  in_process_->stop();
}
void TestServer::start() {
  if (is_real()) return proxy_->open_port();
  in_process_->start();
}
void TestServer::forget_history() {
  if (!is_real()) {
    in_process_->faults().expire_history();
    return;
  }
  run_cluster_script("compact");
  restart();  // only a restart drops the watch cache as well
}
void TestServer::restart() {
  if (!is_real()) return in_process_->restart();
  run_cluster_script("restart-apiserver");
  admin_.emplace(from_kubeconfig("admin"));
}

}  // namespace kube::testing_support

// SPDX-License-Identifier: Apache-2.0
#include <kube/testkit/api_server.hpp>

#include "testkit/cluster/objects.hpp"
#include "testkit/rbac/rbac.hpp"
#include "testkit/requests/access.hpp"
#include "testkit/server/api_server_impl.hpp"

#include "base/ip_address.hpp"
#include <kube/config/kubeconfig.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace kube::testkit {
namespace {

constexpr std::string_view kAdministrator = "kubernetes-admin";

std::string make_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

RequestInfo info_of(const detail::AccessRequest& access) {
  RequestInfo info;
  info.verb = access.verb;
  info.path = access.path;
  info.group = access.group;
  info.version = access.version;
  info.resource = access.resource;
  info.subresource = access.subresource;
  info.namespace_ = access.namespace_;
  info.name = access.name;
  info.user = access.user.name;
  return info;
}

}  // namespace

ApiServer::Impl::Impl(ApiServerOptions given)
    : options(std::move(given)),
      log(options.request_log),
      faults(kube::detail::Inside::make<Faults>(std::make_unique<detail::FaultTable>(
          options.seed != 0 ? options.seed : std::random_device{}(),
          detail::FaultTable::Hooks{[this] { engine.compact(); },
                                    [this] {
                                      const std::lock_guard guard{front_mutex};
                                      if (front) front->drop_connections();
                                    }}))),
      engine(engine_options()),
      pipeline(engine, {.clock = options.clock,
                        .faults = kube::detail::Inside::core(faults).get(),
                        .log = &log,
                        .compress_watches = options.compress_watches,
                        .user_of = [this](const detail::ServerRequest& request) {
                          return user_of(request);
                        }}) {
  if (persistence) {
    const detail::Persistence::Content content = persistence->load();
    if (content.revision > 0) {
      engine.import_objects(content.objects, content.revision);
    }
    if (engine.revision() != content.revision) {  // the engine has created objects of its own
      persistence->replace({engine.export_objects(), engine.revision()});
    }
  }
  recording = true;
  port = options.port;
  start();
  if (options.simulate)
    simulation = std::make_unique<detail::Simulation>(
        engine, options.clock != nullptr ? *options.clock : system_clock(), options.logger);
}

ApiServer::Impl::~Impl() {
  simulation.reset();
  {
    const std::lock_guard guard{front_mutex};
    front.reset();
  }
  engine.shut_down();  // fails the requests that wait for a revision
}

detail::EngineOptions ApiServer::Impl::engine_options() {
  // The file is opened first: another process may have locked it.
  if (!options.data.empty()) persistence = std::make_unique<detail::Persistence>(options.data);
  if (options.tls) {
    authority = std::make_unique<detail::TlsAuthority>();
    certificate = authority->issue_server(options.listen);
  }
  if (options.token.empty()) options.token = make_token();
  detail::EngineOptions engine_options;
  engine_options.tokens[options.token] = {std::string{kAdministrator}, {}, {"system:masters"}};
  for (ServerUser& user : options.users) {
    if (user.token.empty()) user.token = make_token();
    engine_options.tokens[user.token] = {user.name, {}, user.groups};
  }
  engine_options.clock = options.clock;
  engine_options.logger = options.logger;
  engine_options.allow_anonymous = options.allow_anonymous;
  engine_options.origins = {
      .tls = options.tls, .listen = options.listen, .allow_hosts = options.allow_hosts};
  engine_options.seed = options.seed;
  engine_options.version = options.version;
  engine_options.history_size = options.history_size;
  engine_options.history_age = options.history_age;
  engine_options.watch_backlog = options.watch_backlog;
  engine_options.garbage_collection = options.garbage_collection;
  engine_options.namespace_controller = options.namespace_controller;
  engine_options.cluster_objects = options.cluster_objects;
  engine_options.strict = options.strict;
  engine_options.rbac = options.rbac;
  engine_options.aggregate_roles = options.aggregate_roles;
  if (authority) engine_options.ca_pem = authority->ca_pem();
  engine_options.journal = [this](const detail::Change& change) { journal(change); };
  if (options.deny) {
    engine_options.authorize = [deny = options.deny](const detail::AccessRequest& access) {
      if (detail::is_master(access.user)) return detail::AccessDecision{};
      const auto reason = deny(info_of(access));
      return detail::AccessDecision{!reason, reason.value_or("")};
    };
  }
  return engine_options;
}

void ApiServer::Impl::journal(const detail::Change& change) {
  if (persistence && recording) persistence->record(change);
  const std::lock_guard guard{writes_mutex};
  ++writes;
  written.notify_all();
}

void ApiServer::Impl::start() {
  const std::lock_guard guard{front_mutex};
  if (front) return;
  pipeline.refuse_all(false);
  detail::FrontOptions front_options;
  front_options.address = options.listen;
  front_options.port = port;
  front_options.threads = options.threads;
  front_options.limits.http2 = options.http2;
  front_options.max_connections = options.max_connections;
  front_options.counters = &counters;
  front_options.logger = options.logger.named("http");
  if (authority) {
    front_options.tls = {certificate.certificate, certificate.key, authority->ca_pem()};
  }
  front = std::make_unique<detail::HttpFront>(pipeline, std::move(front_options));
  port = front->port();
  if (options.cluster_objects) {
    for (const Value& object : detail::server_endpoints(options.listen, port)) engine.seed(object);
  }
}

void ApiServer::Impl::stop(std::chrono::milliseconds grace) {
  const std::lock_guard guard{front_mutex};
  if (!front) return;
  if (grace.count() > 0) {
    pipeline.refuse_all(true);
    front->drain(grace);
  }
  front.reset();
}

std::string ApiServer::Impl::user_of(const detail::ServerRequest& request) const {
  if (const auto token = detail::bearer_token(request.headers)) {
    if (const auto user = engine.user_of_token(*token)) return user->name;
  }
  if (request.certificate && !request.certificate->common_name.empty()) {
    return request.certificate->common_name;
  }
  return "system:anonymous";
}

ApiServer::ApiServer(ApiServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ApiServer::~ApiServer() = default;

std::string ApiServer::url() const {
  return fmt::format("{}://{}:{}", impl_->options.tls ? "https" : "http",
                     kube::detail::bracketed(impl_->options.listen), impl_->port);
}
std::uint16_t ApiServer::port() const { return impl_->port; }
const std::string& ApiServer::ca_pem() const {
  static const std::string kNone;
  return impl_->authority ? impl_->authority->ca_pem() : kNone;
}

Config ApiServer::config() const {
  Config config;
  config.host = url();
  config.tls.ca_data = ca_pem();
  config.bearer_token = impl_->options.token;
  config.qps = -1;
  return config;
}

Config ApiServer::config_for(std::string_view user, const std::vector<std::string>& groups) const {
  Config config = this->config();
  const auto known = std::ranges::find(impl_->options.users, user, &ServerUser::name);
  if (known != impl_->options.users.end() && groups.empty()) {
    config.bearer_token = known->token;
  } else if (impl_->authority) {
    const detail::Certificate own = impl_->authority->issue_client(user, groups);
    config.bearer_token.clear();
    config.tls.certificate_data = own.certificate;
    config.tls.key_data = own.key;
  } else {
    const std::string token = make_token();
    impl_->engine.add_user(token, {.name = std::string{user}, .groups = groups});
    config.bearer_token = token;
  }
  return config;
}

Config ApiServer::config_for_account(std::string_view namespace_, std::string_view name) const {
  // Longer than a test with a FakeClock lasts.
  constexpr int kYear = 365 * 24 * 3600;
  const Ref<Value> answer = impl_->engine.request(
      "POST", fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", namespace_, name),
      Value::object({{"spec", Value::object({{"expirationSeconds", kYear}})}}));
  Config config = this->config();
  config.bearer_token = std::string{answer->get_string("status.token").value_or("")};
  return config;
}

std::string ApiServer::kubeconfig() const { return kubeconfig(config()); }

std::string ApiServer::kubeconfig(const Config& config) const {
  constexpr const char* kUser = "kubecxx";
  Kubeconfig file;
  file.clusters["kubecxx"].server = config.host;
  file.clusters["kubecxx"].certificate_authority_data = config.tls.ca_data;
  file.users[kUser].token = config.bearer_token;
  file.users[kUser].client_certificate_data = config.tls.certificate_data;
  file.users[kUser].client_key_data = config.tls.key_data;
  file.contexts["kubecxx"] = {.cluster = "kubecxx", .user = kUser};
  file.current_context = "kubecxx";
  return format_kubeconfig(file);
}

Ref<Value> ApiServer::create(const Value& object) { return impl_->engine.seed(object); }
Ref<Value> ApiServer::create_json(std::string_view json) { return impl_->engine.seed(json); }
Ref<Value> ApiServer::find(const GroupResource& resource, std::string_view namespace_,
                           std::string_view name) const {
  return impl_->engine.find(resource, namespace_, name);
}
std::vector<Ref<Value>> ApiServer::list(const GroupResource& resource,
                                        std::string_view namespace_) const {
  return impl_->engine.list(resource, namespace_);
}
bool ApiServer::remove(const GroupResource& resource, std::string_view namespace_,
                       std::string_view name) {
  return impl_->engine.remove(resource, namespace_, name);
}
Ref<Value> ApiServer::request(std::string_view method, std::string_view target, const Value& body,
                              std::string_view content_type) {
  return impl_->engine.request(method, target, body, content_type);
}

bool ApiServer::wait_for(const std::function<bool()>& condition,
                         std::chrono::milliseconds limit) const {
  // The condition may depend on state outside the server, so it is also evaluated without a write.
  constexpr std::chrono::milliseconds kLookAgain{2};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard guard{impl_->writes_mutex};
      seen = impl_->writes;
    }
    if (condition()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::unique_lock lock{impl_->writes_mutex};
    impl_->written.wait_for(lock, kLookAgain, [&] { return impl_->writes != seen; });
  }
}

bool ApiServer::settle(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const std::uint64_t before = revision();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !impl_->engine.settle(left)) return false;
    if (impl_->simulation && !impl_->simulation->settle(left)) return false;
    // Engine and simulation may have given each other new work.
    if (!impl_->simulation || revision() == before) return true;
  }
}

Faults& ApiServer::faults() { return impl_->faults; }
RequestLog& ApiServer::requests() { return impl_->log; }
std::uint64_t ApiServer::revision() const { return impl_->engine.revision(); }
void ApiServer::set_next_revision(std::uint64_t revision) {
  impl_->engine.set_next_revision(revision);
}
void ApiServer::compact(std::uint64_t revision) { impl_->engine.compact(revision); }
void ApiServer::shrink_history(std::size_t count) { impl_->engine.shrink_history(count); }
std::size_t ApiServer::watch_count() const { return impl_->engine.watch_count(); }
std::size_t ApiServer::connection_count() const {
  const std::lock_guard guard{impl_->front_mutex};
  return impl_->front ? impl_->front->connections() : 0;
}
Refusals ApiServer::refusals() const { return impl_->counters.snapshot(); }
void ApiServer::send_bookmarks() { impl_->engine.send_bookmarks(); }
void ApiServer::end_watches() { impl_->engine.end_watches(); }
void ApiServer::set_health(std::string_view check, bool passes) {
  impl_->engine.set_health(check, passes);
}

void ApiServer::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }
void ApiServer::start() { impl_->start(); }
void ApiServer::restart(State state) {
  impl_->stop(std::chrono::milliseconds{0});
  if (state == State::kForget) {
    impl_->engine.reset();
    if (impl_->persistence) {
      impl_->persistence->replace({impl_->engine.export_objects(), impl_->engine.revision()});
    }
  } else {
    impl_->engine.import_objects(impl_->engine.export_objects(), impl_->engine.revision());
  }
  impl_->start();
  if (impl_->simulation) impl_->simulation->start_over();
}

}  // namespace kube::testkit

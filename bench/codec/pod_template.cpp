// SPDX-License-Identifier: Apache-2.0
#include "pod_template.hpp"

#include "field_set.hpp"
#include "random.hpp"

#include <kube/codec/json.hpp>

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace kube::bench {
namespace {

using namespace std::string_view_literals;
using namespace core::v1;

constexpr std::array kTeams = {"payments"sv,  "checkout"sv,   "search"sv,  "identity"sv,
                               "inventory"sv, "shipping"sv,   "catalog"sv, "platform"sv,
                               "data"sv,      "monitoring"sv, "web"sv,     "mobile"sv,
                               "ads"sv,       "risk"sv,       "billing"sv, "media"sv};
constexpr std::array kStages = {"dev"sv, "prod"sv, "staging"sv};
constexpr std::array kApps = {"api"sv,      "web"sv,    "worker"sv,   "gateway"sv,  "indexer"sv,
                              "consumer"sv, "router"sv, "cache"sv,    "exporter"sv, "scheduler"sv,
                              "mailer"sv,   "sync"sv,   "reporter"sv, "proxy"sv,    "frontend"sv};
constexpr std::array kSidecars = {"envoy"sv, "log-agent"sv, "metrics"sv, "vault-agent"sv};
constexpr std::array kRegistries = {"registry.example.com"sv, "ghcr.io/example"sv,
                                    "europe-docker.pkg.dev/acme/apps"sv};
constexpr std::array kSettings = {"LOG_LEVEL"sv,      "LOG_FORMAT"sv,      "HTTP_PORT"sv,
                                  "GRPC_PORT"sv,      "DB_HOST"sv,         "DB_NAME"sv,
                                  "DB_POOL_SIZE"sv,   "CACHE_URL"sv,       "KAFKA_BROKERS"sv,
                                  "FEATURE_FLAGS"sv,  "REQUEST_TIMEOUT"sv, "MAX_CONNECTIONS"sv,
                                  "TRACE_SAMPLING"sv, "REGION"sv,          "GOMAXPROCS"sv,
                                  "UPSTREAM_URL"sv,   "RETRY_BUDGET"sv,    "SHUTDOWN_GRACE"sv};

EnvVar plain(std::string_view name, const std::string& value) {
  EnvVar variable;
  variable.name = name;
  variable.value = value;
  return variable;
}

EnvVar from_field(std::string_view name, std::string_view path) {
  EnvVar variable;
  variable.name = name;
  auto& source = variable.value_from.emplace().field_ref.emplace();
  source.api_version = "v1";
  source.field_path = path;
  return variable;
}

EnvVar from_secret(std::string_view name, const std::string& secret, std::string_view key) {
  EnvVar variable;
  variable.name = name;
  auto& source = variable.value_from.emplace().secret_key_ref.emplace();
  source.name = secret;
  source.key = key;
  return variable;
}

std::string setting_value(std::string_view name, const std::string& app, Random& random) {
  if (name.ends_with("HOST")) return fmt::format("{}-db.data.svc.cluster.local", app);
  if (name.ends_with("URL")) return fmt::format("http://{}-up.backend.svc.cluster.local:8080", app);
  if (name == "KAFKA_BROKERS") return "kafka-0.kafka:9092,kafka-1.kafka:9092,kafka-2.kafka:9092";
  if (name == "DB_NAME") return app;
  if (name == "REGION") return "eu-west-1";
  if (name == "LOG_LEVEL") return random.chance(70) ? "info" : "debug";
  if (name == "LOG_FORMAT") return "json";
  if (name == "FEATURE_FLAGS") return fmt::format("new-{},fast-path", random.suffix(4));
  return std::to_string(random.between(1, 9999));
}

Box<Probe> http_probe(std::string_view path, std::string_view port, std::int32_t delay,
                      std::int32_t period) {
  Probe probe;
  auto& get = probe.http_get.emplace();
  get.path = path;
  get.port = port;
  get.scheme = "HTTP";
  probe.initial_delay_seconds = delay;
  probe.timeout_seconds = 1;
  probe.period_seconds = period;
  probe.success_threshold = 1;
  probe.failure_threshold = 3;
  return probe;
}

VolumeMount mount(const std::string& volume, std::string_view path, bool read_only) {
  VolumeMount result;
  result.name = volume;
  result.mount_path = path;
  result.read_only = read_only;
  return result;
}

SecurityContext hardened(Random& random) {
  SecurityContext context;
  context.capabilities.emplace().drop = {"ALL"};
  context.allow_privilege_escalation = false;
  context.read_only_root_filesystem = true;
  if (random.chance(50)) context.run_as_user = random.between(1000, 65534);
  return context;
}

std::string image_of(const std::string& repository, Random& random) {
  if (random.chance(15)) return fmt::format("{}@sha256:{}", repository, random.hex(64));
  return fmt::format("{}:v{}.{}.{}", repository, random.below(9), random.below(40),
                     random.below(20));
}

void add_resources(Container& container, Random& random) {
  const std::int64_t cpu = random.between(1, 20) * 50;
  const std::int64_t memory = random.between(1, 32) * 64;
  container.resources.requests = {{"cpu", Quantity{fmt::format("{}m", cpu)}},
                                  {"memory", Quantity{fmt::format("{}Mi", memory)}}};
  container.resources.limits = {{"memory", Quantity{fmt::format("{}Mi", memory * 2)}}};
  if (random.chance(30)) container.resources.limits["cpu"] = Quantity{fmt::format("{}m", cpu * 4)};
}

void add_environment(Container& container, const std::string& app, std::size_t count,
                     Random& random) {
  container.env.push_back(from_field("POD_NAME", "metadata.name"));
  container.env.push_back(from_field("POD_NAMESPACE", "metadata.namespace"));
  if (random.chance(40)) container.env.push_back(from_field("POD_IP", "status.podIP"));
  container.env.push_back(from_secret("DB_PASSWORD", app + "-db", "password"));
  if (random.chance(40)) container.env.push_back(from_secret("API_TOKEN", app + "-api", "token"));
  const std::size_t first = random.below(kSettings.size());
  for (std::size_t i = 0; container.env.size() < count; ++i) {
    const std::string_view name = kSettings[(first + i) % kSettings.size()];
    container.env.push_back(plain(name, setting_value(name, app, random)));
  }
}

Container main_container(const std::string& app, Random& random) {
  Container container;
  container.name = app;
  container.image = image_of(fmt::format("{}/{}", random.pick(kRegistries), app), random);
  if (random.chance(50)) container.command = {"/app/server"};
  container.args = {"--config=/etc/app/config.yaml",
                    fmt::format("--workers={}", random.between(1, 16)), "--listen=:8080"};
  ContainerPort http;
  http.name = "http";
  http.container_port = 8080;
  http.protocol = "TCP";
  container.ports = {http};
  if (random.chance(40)) {
    http.name = "metrics";
    http.container_port = 9090;
    container.ports.push_back(http);
  }
  add_environment(container, app, static_cast<std::size_t>(random.between(8, 11)), random);
  add_resources(container, random);
  container.volume_mounts = {mount("config", "/etc/app", true), mount("tmp", "/tmp", false)};
  if (random.chance(50)) container.volume_mounts.push_back(mount("secrets", "/etc/secrets", true));
  container.liveness_probe = http_probe("/healthz", "http", 15, 20);
  container.readiness_probe =
      http_probe("/ready", "http", static_cast<std::int32_t>(random.between(1, 9)), 10);
  container.termination_message_path = "/dev/termination-log";
  container.termination_message_policy = "File";
  container.image_pull_policy = "IfNotPresent";
  if (random.chance(60)) container.security_context = hardened(random);
  return container;
}

Container side_container(const std::string& app, Random& random) {
  Container container;
  const std::string name{random.pick(kSidecars)};
  container.name = name;
  container.image = image_of(fmt::format("registry.example.com/infra/{}", name), random);
  container.args = {"run", fmt::format("--service={}", app)};
  ContainerPort admin;
  admin.name = "admin";
  admin.container_port = static_cast<std::int32_t>(random.between(15000, 15099));
  admin.protocol = "TCP";
  container.ports = {admin};
  container.env = {from_field("POD_NAME", "metadata.name"),
                   plain("UPSTREAM_URL", fmt::format("http://127.0.0.1:8080/{}", app))};
  add_resources(container, random);
  container.volume_mounts = {mount("tmp", "/tmp", false)};
  if (random.chance(40)) container.readiness_probe = http_probe("/ready", "admin", 1, 15);
  container.termination_message_path = "/dev/termination-log";
  container.termination_message_policy = "File";
  container.image_pull_policy = "IfNotPresent";
  container.security_context.emplace().run_as_user = 1337;
  return container;
}

List<Volume> volumes_of(const std::string& app, Random& random) {
  Volume config;
  config.name = "config";
  config.config_map.emplace().name = app + "-config";
  config.config_map->default_mode = 420;
  Volume secrets;
  secrets.name = "secrets";
  secrets.secret.emplace().secret_name = app + "-tls";
  secrets.secret->default_mode = 420;
  Volume scratch;
  scratch.name = "tmp";
  scratch.empty_dir.emplace();
  List<Volume> volumes = {config, secrets, scratch};
  if (random.chance(40)) {
    config.name = "sidecar";
    config.config_map->name = "sidecar-config";
    volumes.push_back(config);
  }
  return volumes;
}

// The volume that the service account admission plugin adds to every pod.
Volume token_volume() {
  Volume volume;
  volume.name = kTokenVolume;
  auto& projected = volume.projected.emplace();
  projected.default_mode = 420;
  auto& token = projected.sources.emplace_back().service_account_token.emplace();
  token.expiration_seconds = 3607;
  token.path = "token";
  auto& root = projected.sources.emplace_back().config_map.emplace();
  root.name = "kube-root-ca.crt";
  auto& certificate = root.items.emplace_back();
  certificate.key = "ca.crt";
  certificate.path = "ca.crt";
  auto& file = projected.sources.emplace_back().downward_api.emplace().items.emplace_back();
  file.path = "namespace";
  file.field_ref.emplace().api_version = "v1";
  file.field_ref->field_path = "metadata.namespace";
  return volume;
}

Toleration default_toleration(std::string_view key) {
  Toleration toleration;
  toleration.key = key;
  toleration.operator_ = "Exists";
  toleration.effect = "NoExecute";
  toleration.toleration_seconds = 300;
  return toleration;
}

void fill_metadata(PodTemplate& result, const std::string& app, const std::string& team,
                   Random& random) {
  auto& metadata = result.pod.metadata;
  const std::string hash = result.replica_set.substr(result.replica_set.rfind('-') + 1);
  metadata.generate_name = result.replica_set + '-';
  metadata.namespace_ = result.name_space;
  metadata.labels = {{"app", app},
                     {"app.kubernetes.io/name", app},
                     {"app.kubernetes.io/part-of", team},
                     {"pod-template-hash", hash},
                     {"team", team}};
  if (random.chance(60)) {
    metadata.labels["app.kubernetes.io/version"] =
        fmt::format("v{}.{}.{}", random.below(9), random.below(40), random.below(20));
  }
  if (random.chance(50)) metadata.labels["tier"] = "backend";
  if (random.chance(20)) metadata.labels["security.istio.io/tlsMode"] = "istio";
  metadata.annotations = {{"checksum/config", random.hex(64)}};
  if (random.chance(60)) {
    metadata.annotations["prometheus.io/port"] = "9090";
    metadata.annotations["prometheus.io/scrape"] = "true";
  }
  if (random.chance(30)) {
    metadata.annotations["kubectl.kubernetes.io/restartedAt"] =
        Time::from_unix(result.created).str();
  }
  auto& owner = metadata.owner_references.emplace_back();
  owner.api_version = "apps/v1";
  owner.kind = "ReplicaSet";
  owner.name = result.replica_set;
  owner.uid = random.uuid();
  owner.controller = true;
  owner.block_owner_deletion = true;
}

void fill_spec(PodSpec& spec, const std::string& app, Random& random) {
  spec.volumes = volumes_of(app, random);
  spec.containers = {main_container(app, random), side_container(app, random)};
  spec.restart_policy = "Always";
  spec.termination_grace_period_seconds = random.chance(70) ? 30 : 60;
  spec.dns_policy = "ClusterFirst";
  spec.service_account_name = app;
  spec.service_account = app;
  auto& context = spec.security_context.emplace();
  context.run_as_non_root = true;
  context.fs_group = random.between(1000, 65534);
  context.seccomp_profile.emplace().type = "RuntimeDefault";
  spec.scheduler_name = "default-scheduler";
  if (random.chance(40)) spec.image_pull_secrets.emplace_back().name = "registry-credentials";
}

// Fields that defaulting and admission add, which no manager owns.
void add_admitted(PodSpec& spec) {
  spec.volumes.push_back(token_volume());
  for (Container& container : spec.containers) {
    container.volume_mounts.push_back(
        mount(std::string{kTokenVolume}, "/var/run/secrets/kubernetes.io/serviceaccount", true));
  }
  spec.tolerations = {default_toleration("node.kubernetes.io/not-ready"),
                      default_toleration("node.kubernetes.io/unreachable")};
  spec.priority = 0;
  spec.preemption_policy = "PreemptLowerPriority";
}

void fill_status(Pod& pod, Random& random) {
  auto& status = pod.status;
  status.phase = "Running";
  for (const std::string_view type : {"PodReadyToStartContainers"sv, "Initialized"sv, "Ready"sv,
                                      "ContainersReady"sv, "PodScheduled"sv}) {
    auto& condition = status.conditions.emplace_back();
    condition.type = type;
    condition.observed_generation = 1;
    condition.status = "True";
  }
  status.observed_generation = 1;
  for (const Container& container : pod.spec.containers) {
    auto& state = status.container_statuses.emplace_back();
    state.name = container.name;
    state.image = container.image;
    const std::string_view image = container.image;
    const bool has_digest = image.find('@') != std::string_view::npos;
    state.image_id =
        has_digest ? std::string{image}
                   : fmt::format("{}@sha256:{}", image.substr(0, image.rfind(':')), random.hex(64));
    state.ready = true;
    state.started = true;
    state.state.running.emplace();
    for (const VolumeMount& mounted : container.volume_mounts) {
      auto& shown = state.volume_mounts.emplace_back();
      shown.name = mounted.name;
      shown.mount_path = mounted.mount_path;
      shown.read_only = mounted.read_only;
      if (mounted.read_only) shown.recursive_read_only = "Disabled";
    }
  }
  status.qos_class = "Burstable";
}

// Sets the field sets, derived from the fields of each manager.
void fill_managers(PodTemplate& result, bool has_network_annotations) {
  Value spec = *decode_json<Value>(encode_json(result.pod));
  for (const std::string_view other : {"apiVersion"sv, "kind"sv, "status"sv}) spec.erase(other);
  spec["metadata"].erase("namespace");
  spec["metadata"].erase("creationTimestamp");
  result.spec_fields = field_set(spec);
  if (has_network_annotations) {
    result.network_fields =
        R"({"f:metadata":{"f:annotations":{"f:cni.projectcalico.org/containerID":{},)"
        R"("f:cni.projectcalico.org/podIP":{},"f:cni.projectcalico.org/podIPs":{}}}})";
  }
}

void fill_kubelet_fields(PodTemplate& result) {
  Pod seen;
  seen.status = result.pod.status;
  auto& status = seen.status;
  const Time some_time = Time::from_unix(result.created);
  for (auto& condition : status.conditions) condition.last_transition_time = some_time;
  status.start_time = some_time;
  status.host_ip = kAddressGap;
  status.host_ips.emplace_back().ip = kAddressGap;
  status.pod_ip = kAddressGap;
  status.pod_ips.emplace_back().ip = kAddressGap;
  Value document = *decode_json<Value>(encode_json(seen));
  for (const std::string_view other : {"apiVersion"sv, "kind"sv, "metadata"sv, "spec"sv}) {
    document.erase(other);
  }
  document["status"].erase("qosClass");  // set when the pod is created
  result.status_fields = field_set(document);
}

// Short like most names; the number makes it unique.
std::string app_of(std::size_t index, Random& random) {
  return fmt::format("{}-{}", random.pick(kApps), index);
}

}  // namespace

std::string template_namespace(std::uint64_t seed, std::size_t index) {
  Random random{seed, index * 4 + 1};
  const std::string_view team = random.pick(kTeams);
  return fmt::format("{}-{}", team, random.pick(kStages));
}

std::string template_replica_set(std::uint64_t seed, std::size_t index) {
  Random random{seed, index * 4 + 2};
  const std::string app = app_of(index, random);
  return fmt::format("{}-{}", app, random.suffix(10));
}

PodTemplate make_template(std::uint64_t seed, std::size_t index) {
  PodTemplate result;
  result.name_space = template_namespace(seed, index);
  result.replica_set = template_replica_set(seed, index);
  const std::string team = result.name_space.substr(0, result.name_space.find('-'));
  const std::string app = result.replica_set.substr(0, result.replica_set.rfind('-'));
  Random random{seed, index * 4 + 3};
  result.created = 1'767'000'000 + random.between(0, 30 * 86'400);

  fill_metadata(result, app, team, random);
  fill_spec(result.pod.spec, app, random);
  result.pod.spec.enable_service_links = true;
  fill_managers(result, random.chance(75));
  add_admitted(result.pod.spec);
  fill_status(result.pod, random);
  fill_kubelet_fields(result);
  return result;
}

}  // namespace kube::bench

// SPDX-License-Identifier: Apache-2.0
// Containers of pods and templates.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/pods.hpp"
#include "testkit/validation/string_formats.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::int64_t kLargestId = 2147483647;
constexpr std::string_view kNotForInit =
    "may not be set for init containers without restartPolicy=Always";

/// State that is shared by the checks of all containers of a pod.
struct PodScope {
  const Value& spec;
  std::set<std::string, std::less<>> names;
  std::set<std::string, std::less<>> host_ports;
};

bool has_spaces_around(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  return !text.empty() && (is_space(text.front()) || is_space(text.back()));
}

void check_ports(const Field& ports, PodScope& scope) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Field port = ports.at(i);
    const Field name = port["name"];
    if (!name.text().empty()) {
      const Problems problems = port_name_problems(name.text());
      for (const std::string& problem : problems) name.invalid(problem);
      if (problems.empty() && !names.emplace(name.text()).second) name.duplicate();
    }
    const Field number = port["containerPort"];
    if (number.number().value_or(0) == 0) {
      number.required();
    } else {
      check_port(number);
    }
    const Field host = port["hostPort"];
    if (host.number().value_or(0) != 0) {
      check_port(host);
      if (scope.spec["hostNetwork"] == Value{true} && host.number() != number.number()) {
        host.invalid("must match `containerPort` when `hostNetwork` is true");
      }
      std::string id =
          fmt::format("{}/{}/{}", port["protocol"].text(), port["hostIP"].text(), *host.number());
      if (!scope.host_ports.insert(id).second) host.duplicate(id);
    }
    check_one_of(port["protocol"], {"SCTP", "TCP", "UDP"});
    check_optional_text(port["hostIP"], ip_problems);
  }
}

/// Checks a fieldRef of an environment variable, or of a downwardAPI volume if `in_volume`.
void check_field_ref(const Field& ref, bool in_volume) {
  const Field path = ref["fieldPath"];
  if (!check_required(path)) return;
  static const Pattern kSubscript{"^metadata\\.(annotations|labels)\\['[^']+'\\]$"};
  if (kSubscript.found_in(path.text())) return;
  static constexpr std::array<std::string_view, 5> kInVolume{"metadata.annotations",
                                                             "metadata.labels", "metadata.name",
                                                             "metadata.namespace", "metadata.uid"};
  static constexpr std::array<std::string_view, 9> kInVariable{
      "metadata.name",  "metadata.namespace",      "metadata.uid", "spec.nodeName", "status.hostIP",
      "status.hostIPs", "spec.serviceAccountName", "status.podIP", "status.podIPs"};
  const auto has = [&](const auto& known) {
    return std::ranges::find(known, path.text()) != known.end();
  };
  if (in_volume ? has(kInVolume) : has(kInVariable)) return;
  if (has(kInVolume) || has(kInVariable)) {
    if (in_volume) {
      path.unsupported({"metadata.annotations", "metadata.labels", "metadata.name",
                        "metadata.namespace", "metadata.uid"});
    } else {
      path.unsupported({"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
                        "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
                        "status.podIP", "status.podIPs"});
    }
    return;
  }
  path.invalid(
      fmt::format("error converting fieldPath: field label not supported: {}", path.text()));
}

void check_resource_field_ref(const Field& ref) {
  const Field resource = ref["resource"];
  if (!check_required(resource)) return;
  const std::string_view name = resource.text();
  if (name.starts_with("limits.hugepages-") || name.starts_with("requests.hugepages-")) return;
  check_one_of(resource, {"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
                          "requests.ephemeral-storage", "requests.memory"});
}

void check_key_ref(const Field& ref) {
  check_text(ref["name"], dns1123_subdomain_problems);
  if (check_required(ref["key"])) check_text(ref["key"], config_key_problems);
}

void check_variable(const Field& variable) {
  if (check_required(variable["name"])) check_text(variable["name"], environment_name_problems);
  const Field from = variable["valueFrom"];
  if (!from.is_set()) return;
  std::size_t sources = 0;
  if (from["fieldRef"].is_set()) {
    ++sources;
    check_field_ref(from["fieldRef"], false);
  }
  if (from["resourceFieldRef"].is_set()) {
    ++sources;
    check_resource_field_ref(from["resourceFieldRef"]);
  }
  for (const char* member : {"configMapKeyRef", "secretKeyRef"}) {
    if (!from[member].is_set()) continue;
    ++sources;
    check_key_ref(from[member]);
  }
  if (from["fileKeyRef"].is_set()) ++sources;
  if (sources == 0) {
    from.invalid("",
                 "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                 "`secretKeyRef` or `fileKeyRef`");
  } else if (!variable["value"].text().empty()) {
    from.invalid("", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    from.invalid("", "may not have more than one field specified at a time");
  }
}

void check_variable_source(const Field& sources, std::size_t index) {
  const Field source = sources.at(index);
  check_optional_text(source["prefix"], environment_name_problems);
  std::size_t given = 0;
  for (const char* member : {"configMapRef", "secretRef"}) {
    if (!source[member].is_set()) continue;
    ++given;
    if (check_required(source[member]["name"])) {
      check_text(source[member]["name"], dns1123_subdomain_problems);
    }
  }
  if (given == 0) sources.invalid("", "must specify one of: `configMapRef` or `secretRef`");
  if (given > 1) sources.invalid("", "may not have more than one field specified at a time");
}

void check_mounts(const Field& mounts, const Value& spec) {
  std::set<std::string, std::less<>> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    const Field mount = mounts.at(i);
    const Field name = mount["name"];
    check_required(name);
    if (find_volume(spec, name.text()) == nullptr) name.not_found();
    const Field path = mount["mountPath"];
    if (check_required(path) && !paths.emplace(path.text()).second) path.invalid("must be unique");
    const Field sub_path = mount["subPath"];
    const Field expression = mount["subPathExpr"];
    if (!sub_path.text().empty()) check_local_path(mounts["subPath"].with(sub_path.value()));
    if (!expression.text().empty()) {
      if (!sub_path.text().empty()) {
        expression.invalid("subPathExpr and subPath are mutually exclusive");
      }
      check_local_path(mounts["subPathExpr"].with(expression.value()));
    }
    check_one_of(mounts["mountPropagation"].with(mount["mountPropagation"].value()),
                 {"Bidirectional", "HostToContainer", "None"});
  }
}

void check_devices(const Field& devices, const Value& spec) {
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Field name = devices.at(i)["name"];
    if (!check_required(name)) continue;
    const Value* volume = find_volume(spec, name.text());
    if (volume == nullptr) {
      name.not_found();
    } else if (!(*volume)["persistentVolumeClaim"].is_object() &&
               !(*volume)["ephemeral"].is_object()) {
      name.invalid(
          "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode");
    }
    if (!names.emplace(name.text()).second) name.invalid("must be unique");
    check_required(devices.at(i)["devicePath"]);
  }
}

/// Checks the handlers of a probe or lifecycle hook. `handlers` may have at most one.
void check_handlers(const Field& handlers, std::int64_t grace_period) {
  std::size_t given = 0;
  const auto is_first = [&](const Field& handler) {
    if (!handler.is_set()) return false;
    if (++given == 1) return true;
    handler.forbidden("may not specify more than 1 handler type");
    return false;
  };
  if (const Field exec = handlers["exec"]; is_first(exec)) {
    if (exec["command"].size() == 0) exec["command"].required();
  }
  if (const Field http = handlers["httpGet"]; is_first(http)) {
    check_port_or_name(http["port"]);
    check_one_of(http["scheme"], {"HTTP", "HTTPS"});
    for (std::size_t i = 0; i < http["httpHeaders"].size(); ++i) {
      static const Pattern kHeader{"^[-A-Za-z0-9]+$"};
      const Field name = http["httpHeaders"].at(i)["name"];
      if (!kHeader.found_in(name.text())) {
        http["httpHeaders"].invalid(
            name.text(),
            "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. "
            "'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')");
      }
    }
  }
  if (const Field tcp = handlers["tcpSocket"]; is_first(tcp)) check_port_or_name(tcp["port"]);
  if (const Field grpc = handlers["grpc"]; is_first(grpc)) check_port(grpc["port"]);
  if (const Field sleep = handlers["sleep"]; is_first(sleep)) {
    const std::int64_t seconds = sleep["seconds"].number().value_or(0);
    if (seconds < 0 || seconds > grace_period) {
      sleep.invalid(seconds,
                    fmt::format("must be non-negative and less than terminationGracePeriodSeconds "
                                "({})",
                                grace_period));
    }
  }
  if (given == 0) handlers.required("must specify a handler type");
}

void check_probe(const Field& probe, bool only_one_success) {
  if (!probe.is_set()) return;
  check_handlers(probe, 0);
  for (const char* member : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    check_not_negative(probe[member]);
  }
  const Field grace = probe["terminationGracePeriodSeconds"];
  if (only_one_success) {
    if (grace.number() && *grace.number() <= 0) grace.invalid("must be greater than 0");
    if (const Field successes = probe["successThreshold"]; successes.number().value_or(1) > 1) {
      successes.invalid("must be 1");
    }
  } else if (grace.is_set()) {
    grace.invalid("must not be set for readinessProbes");
  }
}

void check_security_context(const Field& context) {
  if (!context.is_set()) return;
  for (const char* member : {"runAsUser", "runAsGroup"}) {
    check_range(context[member], 0, kLargestId);
  }
  check_one_of(context["procMount"], {"Default", "Unmasked"});
  const bool no_escalation = context["allowPrivilegeEscalation"].value() == Value{false};
  if (no_escalation && context["privileged"].is_true()) {
    context.invalid("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  const Field added = context["capabilities"]["add"];
  for (std::size_t i = 0; no_escalation && i < added.size(); ++i) {
    if (added.at(i).is("CAP_SYS_ADMIN")) {
      context.invalid(
          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
    }
  }
}

void check_container(const Field& container, PodScope& scope, bool is_init) {
  const Field name = container["name"];
  if (check_required(name)) {
    const Problems problems = dns1123_label_problems(name.text());
    for (const std::string& problem : problems) name.invalid(problem);
    if (problems.empty() && !scope.names.emplace(name.text()).second) name.duplicate();
  }
  const Field image = container["image"];
  if (check_required(image) && has_spaces_around(image.text())) {
    image.invalid("must not have leading or trailing whitespace");
  }
  check_one_of(container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"});
  check_one_of(container["terminationMessagePolicy"], {"File", "FallbackToLogsOnError"});
  check_one_of(container["restartPolicy"], {"Always", "Never", "OnFailure"});
  check_ports(container["ports"], scope);
  for (std::size_t i = 0; i < container["env"].size(); ++i) check_variable(container["env"].at(i));
  for (std::size_t i = 0; i < container["envFrom"].size(); ++i) {
    check_variable_source(container["envFrom"], i);
  }
  check_mounts(container["volumeMounts"], scope.spec);
  check_devices(container["volumeDevices"], scope.spec);
  check_resource_requirements(container["resources"]);
  check_security_context(container["securityContext"]);
  if (is_init && !container["restartPolicy"].is("Always")) {
    for (const char* member : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (container[member].is_set()) container[member].forbidden(kNotForInit);
    }
    return;
  }
  const std::int64_t grace = scope.spec.get_integer("terminationGracePeriodSeconds").value_or(30);
  for (const char* moment : {"postStart", "preStop"}) {
    const Field handler = container["lifecycle"][moment];
    if (handler.is_set()) check_handlers(handler, grace);
  }
  check_probe(container["livenessProbe"], true);
  check_probe(container["startupProbe"], true);
  check_probe(container["readinessProbe"], false);
}

}  // namespace

const Value* find_volume(const Value& spec, std::string_view name) {
  for (std::size_t i = 0; i < spec["volumes"].size(); ++i) {
    if (spec["volumes"][i]["name"] == Value{name}) return &spec["volumes"][i];
  }
  return nullptr;
}

void check_containers(const Field& spec) {
  PodScope scope{spec.value(), {}, {}};
  if (spec["containers"].size() == 0) spec["containers"].required();
  for (std::size_t i = 0; i < spec["containers"].size(); ++i) {
    check_container(spec["containers"].at(i), scope, false);
  }
  // Init containers end before other containers start, so both may use the same host ports.
  scope.host_ports.clear();
  for (std::size_t i = 0; i < spec["initContainers"].size(); ++i) {
    check_container(spec["initContainers"].at(i), scope, true);
    scope.host_ports.clear();
  }
}

void check_downward_field(const Field& ref) { check_field_ref(ref, true); }
void check_downward_resource(const Field& ref) { check_resource_field_ref(ref); }

}  // namespace kube::testkit::detail

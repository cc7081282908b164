// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/service_accounts.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "testkit/admission/admission.hpp"
#include "testkit/defaults/value_defaults.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {

namespace {

constexpr const char* kDefaultAccount = "default";
constexpr const char* kVolumePrefix = "kube-api-access-";
constexpr const char* kMountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr const char* kTokenVolume =
    R"({"projected":{"defaultMode":420,"sources":[
    {"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
    {"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},
    {"downwardAPI":{"items":[{"path":"namespace","fieldRef":
    {"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}]}})";

bool wants_token(const Value& account, const Value& pod) {
  for (const Value* from :
       {&pod["spec"]["automountServiceAccountToken"], &account["automountServiceAccountToken"]}) {
    if (!is_unset(*from)) return *from == Value{true};
  }
  return true;
}

std::string token_volume(Services& services, const Value& pod) {
  for (const Value& volume : pod.get_array("spec.volumes")) {
    const std::string_view name = text_member(volume, "name");
    if (name.starts_with(kVolumePrefix)) return std::string{name};
  }
  return kVolumePrefix + services.ids.suffix();
}

bool has_volume(const Value& pod, std::string_view name) {
  for (const Value& volume : pod.get_array("spec.volumes")) {
    if (text_member(volume, "name") == name) return true;
  }
  return false;
}

bool is_mounted(const Value& container) {
  for (const Value& mount : container.get_array("volumeMounts")) {
    if (text_member(mount, "mountPath") == kMountPath) return true;
  }
  return false;
}

void mount_token(Services& services, Value& pod) {
  const std::string name = token_volume(services, pod);
  bool is_needed = false;
  for (const char* list : {"initContainers", "containers"}) {
    each(pod["spec"], list, [&](Value& container) {
      if (is_mounted(container)) return;
      container["volumeMounts"].push_back(
          Value::object({{"name", name}, {"readOnly", true}, {"mountPath", kMountPath}}));
      is_needed = true;
    });
  }
  if (!is_needed || has_volume(pod, name)) return;
  Value volume = *parse_json(kTokenVolume);
  volume["name"] = name;
  pod["spec"]["volumes"].push_back(std::move(volume));
}

}  // namespace

void mount_service_account(Services& services, const Resource& resource, Value& pod) {
  if (!std::as_const(pod)["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_absent()) {
    return;
  }
  Value& spec = part(pod, "spec");
  fill_empty(spec, "serviceAccountName", kDefaultAccount);
  const std::string name{text_member(spec, "serviceAccountName")};
  spec["serviceAccount"] = name;
  const std::string namespace_ = metadata_text(pod, "namespace");
  const StoredObject found = services.store.get(services.store.collection({"", "serviceaccounts"}),
                                                key_of(namespace_, name));
  // The default account of a new namespace is created asynchronously.
  if (!found && name != kDefaultAccount) {
    throw not_admitted(resource, pod,
                       fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" "
                                   "not found",
                                   namespace_, name, name));
  }
  const Value account = found ? *found.value() : Value::object();
  if (wants_token(account, pod)) mount_token(services, pod);
  if (std::as_const(spec)["imagePullSecrets"].size() == 0 &&
      account["imagePullSecrets"].size() > 0) {
    spec["imagePullSecrets"] = account["imagePullSecrets"];
  }
}

}  // namespace kube::testkit::detail

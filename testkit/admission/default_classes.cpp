// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/default_classes.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include "testkit/defaults/value_defaults.hpp"
#include "testkit/rest/metadata.hpp"

namespace kube::testkit::detail {

namespace {

/// Returns the name of the default class; empty if there is none.
std::string default_class(Services& services, const GroupResource& classes,
                          std::initializer_list<const char*> annotations) {
  std::string name;
  std::string newest;
  for (const auto& [key, object] :
       services.store.list(services.store.collection(classes), {}).objects) {
    const Ref<Value> candidate = object.value();
    bool is_default = false;
    for (const char* annotation : annotations) {
      is_default =
          is_default || (*candidate)["metadata"]["annotations"][annotation] == Value{"true"};
    }
    // Candidates are sorted by name; among classes created in the same second the first one wins.
    const std::string created = metadata_text(*candidate, "creationTimestamp");
    if (!is_default || (!name.empty() && created <= newest)) continue;
    name = metadata_text(*candidate, "name");
    newest = created;
  }
  return name;
}

}  // namespace

void choose_storage_class(Services& services, Value& claim) {
  const Value& given = claim;
  if (given["spec"]["storageClassName"].is_string() ||
      !given["metadata"]["annotations"]["volume.beta.kubernetes.io/storage-class"].is_absent()) {
    return;
  }
  const std::string name = default_class(services, {"storage.k8s.io", "storageclasses"},
                                         {"storageclass.kubernetes.io/is-default-class",
                                          "storageclass.beta.kubernetes.io/is-default-class"});
  if (!name.empty()) part(claim, "spec")["storageClassName"] = name;
}

void choose_ingress_class(Services& services, Value& ingress) {
  const Value& given = ingress;
  if (given["spec"]["ingressClassName"].is_string() ||
      !given["metadata"]["annotations"]["kubernetes.io/ingress.class"].is_absent()) {
    return;
  }
  const std::string name = default_class(services, {"networking.k8s.io", "ingressclasses"},
                                         {"ingressclass.kubernetes.io/is-default-class"});
  if (!name.empty()) part(ingress, "spec")["ingressClassName"] = name;
}

}  // namespace kube::testkit::detail

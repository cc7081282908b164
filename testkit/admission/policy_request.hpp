// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/admission/policy_matching.hpp"
#include "testkit/cel/policy.hpp"
#include "testkit/requests/services.hpp"
#include "testkit/rest/rest.hpp"

namespace kube::testkit::detail {

/// A write, as seen by admission.
struct AdmittedWrite {
  std::string_view operation;  ///< CREATE, UPDATE or DELETE
  const Value* object = nullptr;
  const Value* old_object = nullptr;
  bool dry_run = false;
};

/// Returns the objects of a resource of admissionregistration.k8s.io, such as policies.
[[nodiscard]] std::vector<Ref<Value>> admission_objects(Services& services, const char* resource);

/// Returns whether policies do not apply to a resource. They do not apply to policies and webhooks,
/// so that a mistake can always be undone.
[[nodiscard]] bool is_exempt_from_policies(const Resource& resource);

/// A write, as policies see it: what selects policies and bindings, the parameters of bindings, and
/// the variables of expressions (AP-1, AP-3, AP-4).
class PolicyRequest {
 public:
  PolicyRequest(Services& services, RestRequest& request, const AdmittedWrite& write);
  PolicyRequest(const PolicyRequest&) = delete;
  PolicyRequest& operator=(const PolicyRequest&) = delete;

  /// Returns whether matchConstraints of a policy or matchResources of a binding select the write.
  [[nodiscard]] bool matches(const Value& constraints) const {
    return matched_version(constraints).has_value();
  }
  /// Returns the version of the resource in which they select it, or nothing.
  [[nodiscard]] std::optional<std::string> matched_version(const Value& constraints) const {
    return match_resources(constraints, matched_);
  }
  /// Returns why the paramKind of a policy cannot be used; empty if it can.
  [[nodiscard]] std::string unknown_param_kind(const Value& policy) const;
  /// Returns the parameters to evaluate with; a single absent one if the policy has no paramKind.
  /// Sets `error` if the binding cannot be used.
  [[nodiscard]] std::vector<Value> params_of(const Value& policy, const Value& binding,
                                             std::string& error) const;
  /// Returns the variables of expressions. They refer to the arguments.
  [[nodiscard]] cel::AdmissionInput input(const Value& object, const Value& params) const;
  /// The write in one version of its resource, which is that of the rule that selects it.
  struct Seen {
    Value object;
    Value old_object;
    Value info;
  };
  [[nodiscard]] Seen in_version(const Value* object, const std::string& version) const;
  /// Returns the variables of expressions. They refer to the arguments.
  [[nodiscard]] cel::AdmissionInput input(const Seen& seen, const Value& params) const;
  /// Reports that a policy uses functions that are not implemented here: by a warning or, if the
  /// server is strict, by throwing ApiError 403. `kind` is the kind of the policy.
  void not_evaluated(std::string_view kind, const Value& policy, const cel::Policy& compiled) const;

 private:
  [[nodiscard]] std::vector<Value> find_params(const Resource& resource, const std::string& space,
                                               const Value& ref) const;

  [[nodiscard]] Value converted(const Value* object, const std::string& version) const;

  Services& services_;
  RestRequest& request_;
  const AdmittedWrite write_;
  Value info_;
  Value namespace_;
  MatchedRequest matched_;
};

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#include "testkit/admission/mutations.hpp"

#include <kube/api/errors.hpp>
#include <kube/api/meta/v1.hpp>
#include <kube/codec/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testkit/cel/policy.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/json_patch.hpp"
#include "testkit/values/typed_value.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

/// A patch that cannot be applied.
struct PatchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds the paths of lists, maps and structs in `value` that can only be replaced as a whole.
void find_atomic(const SchemaNode& schema, const Value& value, const std::string& path,
                 std::vector<std::string>& found) {
  if (value.is_object() && schema.shape == SchemaNode::Shape::kObject) {
    if (schema.atomic) found.push_back(path);
    for (const auto& [name, member] : value.as_object()) {
      if (const SchemaField* const field = schema.field(name.view())) {
        find_atomic(*field->node, member, fmt::format("{}.{}", path, name.view()), found);
      }
    }
  } else if (value.is_array() && schema.shape == SchemaNode::Shape::kList) {
    if (schema.list_type == SchemaNode::ListType::kAtomic) found.push_back(path);
    for (std::size_t i = 0; i < value.size(); ++i) {
      find_atomic(*schema.element, value[i], fmt::format("{}[{}]", path, i), found);
    }
  }
}

/// Merges an apply configuration. Ownership of fields is not tracked.
Value applied(const Resource& resource, const Value& object, Value config) {
  const SchemaNode& schema = schema_of(resource);
  config["apiVersion"] = resource.api_version();
  config["kind"] = resource.kind;
  if (const std::vector<std::string> errors = validate_typed(schema, config); !errors.empty()) {
    throw PatchError{fmt::format(
        "error applying patch: failed to convert patch object to typed object: {}",
        fmt::join(errors, "\n"))};
  }
  std::vector<std::string> atomic;
  find_atomic(schema, config, "", atomic);
  if (!atomic.empty()) {
    throw PatchError{fmt::format(
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
        "structs: {}",
        fmt::join(atomic, ", "))};
  }
  return merge_typed(schema, object, config);
}

/// Applies a JSON patch; returns the object unchanged if an operation `test` fails.
Value patched(const Value& object, const Value& operations) {
  Value next = object;
  for (const Value& operation : operations.as_array()) {
    try {
      next = json_patch(std::move(next), Value::array({operation}));
    } catch (const ApiError& error) {
      if (operation["op"] == Value{"test"}) return object;
      throw PatchError{fmt::format("JSON Patch: {}", error.status().message.view())};
    }
  }
  return next;
}

/// Applies all mutating policies to one write.
class Mutations {
 public:
  Mutations(Services& services, RestRequest& request, const AdmittedWrite& write, Value& object,
            const MutationSteps& steps)
      : asked_(services, request, write), request_(request), object_(object), steps_(steps) {}

  /// Finds the bindings of a policy that select the write.
  void select(const Ref<Value>& policy, const std::vector<Ref<Value>>& bindings) {
    if (!asked_.matches((*policy)["spec"]["matchConstraints"])) return;
    std::shared_ptr<const cel::Policy> compiled;
    for (const Ref<Value>& binding : bindings) {
      if ((*binding)["spec"]["policyName"] != Value{metadata_text(*policy, "name")}) continue;
      if (!asked_.matches((*binding)["spec"]["matchResources"])) continue;
      if (!compiled) compiled = std::make_shared<const cel::Policy>(*policy);
      std::string error;
      for (Value& params : asked_.params_of(*policy, *binding, error)) {
        invocations_.push_back({policy, binding, compiled, std::move(params)});
      }
      if (!error.empty()) {
        fail({policy, binding, compiled, {}}, "failed to configure binding: " + error, "");
      }
    }
  }

  void run() {
    std::set<std::size_t> repeatable;
    for (std::size_t i = 0; i < invocations_.size(); ++i) {
      if (invoke(invocations_[i]) && may_repeat(invocations_[i])) repeatable.insert(i);
    }
    if (is_patched_) {
      steps_.admit(object_);
      for (const std::size_t i : repeatable) invoke(invocations_[i]);
    }
    if (first_error_) throw ApiError{std::move(*first_error_)};
  }

 private:
  struct Invocation {
    Ref<Value> policy;
    Ref<Value> binding;
    std::shared_ptr<const cel::Policy> compiled;
    Value params;
  };

  static bool may_repeat(const Invocation& invocation) {
    return (*invocation.policy)["spec"]["reinvocationPolicy"] == Value{"IfNeeded"};
  }

  /// Returns whether the match conditions hold.
  bool invoke(const Invocation& invocation) {
    const cel::Policy& compiled = *invocation.compiled;
    if (!compiled.missing().empty()) {
      asked_.not_evaluated("MutatingAdmissionPolicy", *invocation.policy, compiled);
      return false;
    }
    if (!compiled.errors().empty()) {
      fail(invocation, compiled.errors().front().message, "Invalid");
      return false;
    }
    const cel::MatchResult matched = compiled.matches(asked_.input(object_, invocation.params));
    if (!matched.error.empty()) fail(invocation, matched.error, "Invalid");
    if (!matched.error.empty() || !matched.matches) return false;
    for (std::size_t i = 0; i < compiled.mutations(); ++i) {
      try {
        mutate(compiled.mutation(i, asked_.input(object_, invocation.params)));
      } catch (const PatchError& error) {
        fail(invocation, error.what(), "Invalid");
      } catch (const CodecError& error) {
        fail(invocation, error.what(), "Invalid");
      }
    }
    return true;
  }

  void mutate(const cel::Policy::Patch& patch) {
    if (!patch.error.empty()) throw PatchError{patch.error};
    Value next = patch.is_json_patch ? patched(object_, patch.content)
                                     : applied(*request_.resource, object_, patch.content);
    steps_.complete(next);
    object_ = std::move(next);
    is_patched_ = true;
  }

  /// Records an error, unless failurePolicy is Ignore. The first one is the message of the Status.
  void fail(const Invocation& invocation, const std::string& why, std::string_view reason) {
    if ((*invocation.policy)["spec"]["failurePolicy"] == Value{"Ignore"}) return;
    const std::string message = fmt::format(
        "policy '{}' with binding '{}' denied request: {}",
        metadata_text(*invocation.policy, "name"), metadata_text(*invocation.binding, "name"), why);
    if (!first_error_) {
      first_error_ = forbidden(request_.resource->group_resource(), request_.name, "").status();
      first_error_->message = message;
      if (!reason.empty()) first_error_->reason = std::string{reason};
    }
    meta::v1::StatusCause cause;
    cause.message = message;
    first_error_->details->causes.push_back(std::move(cause));
  }

  PolicyRequest asked_;
  RestRequest& request_;
  Value& object_;
  const MutationSteps& steps_;
  std::vector<Invocation> invocations_;
  bool is_patched_ = false;
  std::optional<meta::v1::Status> first_error_;
};

}  // namespace

void mutate_by_policies(Services& services, RestRequest& request, const AdmittedWrite& write,
                        Value& object, const MutationSteps& steps) {
  if (is_exempt_from_policies(*request.resource)) return;
  const auto policies = admission_objects(services, "mutatingadmissionpolicies");
  if (policies.empty()) return;
  const auto bindings = admission_objects(services, "mutatingadmissionpolicybindings");
  if (bindings.empty()) return;
  Mutations mutations{services, request, write, object, steps};
  for (const Ref<Value>& policy : policies) mutations.select(policy, bindings);
  mutations.run();
}

}  // namespace kube::testkit::detail

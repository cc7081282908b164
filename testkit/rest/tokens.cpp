// SPDX-License-Identifier: Apache-2.0
// Service account tokens: TokenRequest and TokenReview (AU-10).
#include "testkit/rest/rest.hpp"

#include <kube/api/authentication/v1.hpp>
#include <kube/api/time.hpp>

#include <fmt/format.h>

#include <utility>

#include "testkit/kinds/builtin_schema.hpp"
#include "testkit/requests/access.hpp"
#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/values/value_text.hpp"

namespace kube::testkit::detail {
namespace {

constexpr std::int64_t kShortest = 600;
constexpr std::int64_t kLongest = std::int64_t{1} << 32;

const ResourcePtr& token_requests() {
  static const ResourcePtr kRequests = [] {
    Resource resource;
    resource.group = "authentication.k8s.io";
    resource.version = "v1";
    resource.kind = "TokenRequest";
    resource.type = &type_of<authentication::v1::TokenRequest>();
    resource.storage_type = resource.type;
    resource.schema = builtin_schema(resource.group, resource.version, resource.kind);
    return std::make_shared<const Resource>(std::move(resource));
  }();
  return kRequests;
}

void check_lifetime(std::int64_t seconds) {
  const char* problem = seconds < kShortest  ? "may not specify a duration less than 10 minutes"
                        : seconds > kLongest ? "may not specify a duration larger than 2^32 seconds"
                                             : nullptr;
  if (problem == nullptr) return;
  throw invalid({"authentication.k8s.io", "TokenRequest"}, "",
                invalid_value("spec.expirationSeconds", seconds, problem));
}

/// Returns the object that the token is bound to. Throws ApiError if it does not exist or has a
/// different uid.
std::optional<AccountTokens::Bound> bound_object(Store& store, const RestRequest& request,
                                                 const Value& body) {
  const Value* reference = body.find("spec.boundObjectRef");
  if (reference == nullptr || !reference->is_object()) return std::nullopt;
  AccountTokens::Bound bound{string_at(*reference, "kind"), string_at(*reference, "name"),
                             string_at(*reference, "uid")};
  const char* resource = bound.kind == "Pod"      ? "pods"
                         : bound.kind == "Secret" ? "secrets"
                         : bound.kind == "Node"   ? "nodes"
                                                  : nullptr;
  if (resource == nullptr || string_at(*reference, "apiVersion") != "v1") {
    throw bad_request(fmt::format("cannot bind token to object of type {}, Kind={}",
                                  string_at(*reference, "apiVersion"), bound.kind));
  }
  const StoredObject stored =
      store.get(store.collection({"", resource}),
                key_of(bound.kind == "Node" ? std::string{} : request.namespace_, bound.name));
  if (!stored) throw not_found({"", resource}, bound.name);
  if (bound.kind == "Pod" && stored.field_text("spec.serviceAccountName") != request.name) {
    throw bad_request(
        fmt::format("cannot bind token for serviceaccount \"{}\" to pod running with "
                    "different serviceaccount name.",
                    request.name));
  }
  const std::string uid = stored.metadata_text("uid");
  if (!bound.uid.empty() && bound.uid != uid) {
    throw conflict({"", bound.kind}, bound.name,
                   fmt::format("the UID in the bound object reference ({}) does not match the UID "
                               "in record. The object might have been deleted and then recreated",
                               bound.uid));
  }
  bound.uid = uid;
  return bound;
}

}  // namespace

ServerResponse Rest::token(RestRequest& request) {
  request.choose_output({});
  const StoredObject account = services_.store.get(*request.resource->collection, request.key());
  if (!account) throw not_found(request.resource->group_resource(), request.name);
  Value body = Value::object();
  if (!request.http.body.empty()) body = decode_body(request, *token_requests(), {});
  const std::int64_t lifetime = body.get_integer("spec.expirationSeconds").value_or(3600);
  check_lifetime(lifetime);
  std::vector<std::string> audiences = strings_at(body, "spec.audiences");
  if (audiences.empty()) audiences.emplace_back(kTokenIssuer);
  const auto bound = bound_object(services_.store, request, body);
  body["kind"] = "TokenRequest";
  body["apiVersion"] = token_requests()->api_version();
  body["metadata"]["name"] = request.name;
  body["metadata"]["namespace"] = request.namespace_;
  body["metadata"]["creationTimestamp"] = services_.now_text();
  body["spec"]["audiences"] = string_list(audiences);
  body["spec"]["expirationSeconds"] = lifetime;
  const std::chrono::seconds time{lifetime};
  body["status"] =
      Value::object({{"token", services_.account_tokens.issue(
                                   {request.namespace_, request.name, account.metadata_text("uid")},
                                   audiences, time, bound, services_.ids.uuid())},
                     {"expirationTimestamp", Time{services_.clock.wall_now() + time}.str()}});
  const StoredObject answer = services_.codec.from_value(*token_requests()->type, body);
  return make_response(201, request.output.content_type(),
                       encode_as(request.output, answer.type(), answer.data()));
}

Value Rest::review_token(const Value& review) const {
  const std::string token = string_at(review, "spec.token");
  std::vector<std::string> audiences = strings_at(review, "spec.audiences");
  if (audiences.empty()) audiences.emplace_back(kTokenIssuer);
  AccountTokens::Holder holder;
  if (auto known = services_.user_tokens.find(token)) {
    holder.user = std::move(*known);  // valid for all audiences
    add_group(holder.user, kAuthenticated);
  } else if (auto found = services_.account_tokens.check(token, audiences)) {
    holder = std::move(*found);
  } else {
    return Value::object({{"authenticated", false}, {"error", "invalid bearer token"}});
  }
  Value status =
      Value::object({{"authenticated", true},
                     {"user", Value::object({{"username", holder.user.name},
                                             {"uid", holder.user.uid},
                                             {"groups", string_list(holder.user.groups)}})}});
  for (const auto& [key, values] : holder.user.extra) {
    status["user"]["extra"][key] = string_list(values);
  }
  if (!holder.audiences.empty()) status["audiences"] = string_list(holder.audiences);
  return status;
}

}  // namespace kube::testkit::detail

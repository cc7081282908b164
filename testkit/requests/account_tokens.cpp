// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/account_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kube::testkit::detail {
namespace {

/// The name of the private claims.
constexpr const char* kPlace = "kubernetes.io";

std::int64_t seconds_of(Clock::WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string text(const Value& value) {
  return value.is_string() ? std::string{value.as_string()} : std::string{};
}

/// A kind that tokens can be bound to: its claim and its resource.
struct BoundKind {
  const char* kind;
  const char* claim;
  const char* resource;
  bool namespaced;
};
constexpr BoundKind kBoundKinds[] = {{"Pod", "pod", "pods", true},
                                     {"Secret", "secret", "secrets", true},
                                     {"Node", "node", "nodes", false}};

}  // namespace

std::string AccountTokens::issue(const Account& account, const std::vector<std::string>& audiences,
                                 std::chrono::seconds lifetime, const std::optional<Bound>& bound,
                                 const std::string& id) const {
  const std::int64_t now = seconds_of(clock_.wall_now());
  Value place = Value::object(
      {{"namespace", account.namespace_},
       {"serviceaccount", Value::object({{"name", account.name}, {"uid", account.uid}})}});
  if (bound) {
    for (const BoundKind& known : kBoundKinds) {
      if (bound->kind != known.kind) continue;
      place[known.claim] = Value::object({{"name", bound->name}, {"uid", bound->uid}});
    }
  }
  Value wanted = Value::array();
  for (const std::string& audience : audiences) wanted.push_back(audience);
  return signer_.sign(Value::object(
      {{"aud", std::move(wanted)},
       {"exp", now + lifetime.count()},
       {"iat", now},
       {"iss", kTokenIssuer},
       {"jti", id},
       {kPlace, std::move(place)},
       {"nbf", now},
       {"sub", fmt::format("system:serviceaccount:{}:{}", account.namespace_, account.name)}}));
}

std::optional<AccountTokens::Holder> AccountTokens::check(
    std::string_view token, const std::vector<std::string>& audiences) const {
  const Ref<Value> signed_claims = signer_.verify(token);
  if (!signed_claims) return std::nullopt;
  const Value& claims = *signed_claims;
  const std::int64_t now = seconds_of(clock_.wall_now());
  if (claims.get_integer("exp").value_or(0) <= now || claims.get_integer("nbf").value_or(0) > now) {
    return std::nullopt;
  }
  Holder holder;
  for (const Value& audience : claims.get_array("aud")) {
    if (std::ranges::find(audiences, text(audience)) != audiences.end()) {
      holder.audiences.push_back(text(audience));
    }
  }
  const Value& place = claims[kPlace];
  if (holder.audiences.empty() || !is_alive(place)) return std::nullopt;
  holder.user = {
      .name = text(claims["sub"]),
      .uid = text(place["serviceaccount"]["uid"]),
      .groups = {"system:serviceaccounts", "system:serviceaccounts:" + text(place["namespace"]),
                 "system:authenticated"},
      .extra = {{"authentication.kubernetes.io/credential-id", {"JTI=" + text(claims["jti"])}}}};
  return holder;
}

bool AccountTokens::exists(const char* resource, std::string_view namespace_,
                           const Value& reference) const {
  std::string key{namespace_};
  if (!key.empty()) key.push_back('/');
  const StoredObject stored =
      store_.get(store_.collection({"", resource}), key + text(reference["name"]));
  return stored && stored.metadata_text("uid") == text(reference["uid"]);
}

bool AccountTokens::is_alive(const Value& place) const {
  const std::string namespace_ = text(place["namespace"]);
  if (!exists("serviceaccounts", namespace_, place["serviceaccount"])) return false;
  return std::ranges::all_of(kBoundKinds, [&](const BoundKind& known) {
    const Value& reference = place[known.claim];
    return reference.is_absent() ||
           exists(known.resource, known.namespaced ? namespace_ : std::string{}, reference);
  });
}

std::string AccountTokens::configuration(std::string_view base) {
  return fmt::format(
      R"({{"issuer":"{}","jwks_uri":"{}/openid/v1/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]}})",
      kTokenIssuer, base);
}

}  // namespace kube::testkit::detail

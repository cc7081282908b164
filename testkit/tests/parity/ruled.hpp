// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "two_servers.hpp"

namespace kube::testing_support {

inline constexpr const char* kRbac = "rbac.authorization.k8s.io";
inline constexpr const char* kMerge = "application/merge-patch+json";
inline constexpr const char* kApply = "application/apply-patch+yaml";

/// A server that enforces roles, and users whose names nobody else uses.
class Ruled : public Asked {
 public:
  Ruled() : Asked({.rbac = true}), by_token_(server.config_for("root")) {}

  [[nodiscard]] const std::string& space() const { return server.space(); }
  [[nodiscard]] std::string user(const std::string& name) const { return name + '.' + space(); }
  /// Returns `/api/v1/namespaces/<space><rest>`.
  [[nodiscard]] std::string in_space(const std::string& rest) const {
    return "/api/v1/namespaces/" + space() + rest;
  }
  [[nodiscard]] std::string rbac_in_space(const std::string& rest) const {
    return std::string{"/apis/"} + kRbac + "/v1/namespaces/" + space() + rest;
  }

  /// Stores a role with these rules (YAML) in space(), and binds it to the subject.
  void grant(const std::string& subject, const std::string& rules) {
    const std::string name = "grant-" + std::to_string(++grants_);
    add("Role", name, "rules: [" + rules + "]");
    bind("RoleBinding", name, "Role", name, subject);
  }
  /// Does the same with a ClusterRole and a ClusterRoleBinding.
  void grant_everywhere(const std::string& subject, const std::string& rules) {
    const std::string name = global("grant-" + std::to_string(++grants_));
    add("ClusterRole", name, "rules: [" + rules + "]");
    bind("ClusterRoleBinding", name, "ClusterRole", name, subject);
  }
  void add(const std::string& kind, const std::string& name, const std::string& more) {
    const bool local = kind == "Role" || kind == "RoleBinding";
    server.load_yaml("{apiVersion: " + std::string{kRbac} + "/v1, kind: " + kind +
                     ", metadata: {name: '" + name + "'" +
                     (local ? ", namespace: " + space() : "") + "}, " + more + "}");
  }
  void bind(const std::string& kind, const std::string& name, const std::string& role_kind,
            const std::string& role, const std::string& subject) {
    add(kind, name,
        "subjects: [" + subject + "], roleRef: {apiGroup: " + kRbac + ", kind: " + role_kind +
            ", name: '" + role + "'}");
  }
  /// Returns a subject: a User unless `name` says otherwise.
  static std::string subject(const std::string& name, const std::string& kind = "User") {
    return "{apiGroup: " + std::string{kRbac} + ", kind: " + kind + ", name: '" + name + "'}";
  }
  /// Returns a name for a cluster-scoped object that is deleted with the test.
  [[nodiscard]] std::string global(const std::string& name) const { return name + '.' + space(); }

  struct Request {
    std::string method;
    std::string path;
    std::string body = {};
    std::string type = "application/json";
  };
  /// Returns the status code of the answer or, if it is an error, the message.
  std::string answer(const Headers& who, const Request& request) {
    RawRequest raw{.method = request.method, .path = request.path, .headers = who};
    raw.body = request.body;
    if (const std::size_t question = raw.path.find('?'); question != std::string::npos) {
      std::string query = raw.path.substr(question + 1);
      raw.path.resize(question);
      for (std::size_t end = 0; !query.empty(); query.erase(0, end)) {
        end = std::min(query.find('&'), query.size());
        const std::string one = query.substr(0, end);
        raw.query.emplace_back(one.substr(0, one.find('=')), one.substr(one.find('=') + 1));
        if (end < query.size()) ++end;
      }
    }
    if (!request.body.empty()) raw.headers.push_back({"Content-Type", request.type});
    try {
      // The administrator of a real server has a certificate, which would win over a token.
      const bool has_token = !who.empty() && who.front().name == "Authorization";
      const RawResponse response = (has_token ? by_token_ : client).raw().send(raw);
      body = decode_json_or_null(response.body);
      return std::to_string(response.status);
    } catch (const ApiError& error) {
      status = error.status();
      return error.status().message.str();
    }
  }
  /// Expects an answer. Retries, because a real server sees changes of roles with a delay.
  void expect(const Headers& who, const Request& request, const std::string& expected) {
    std::string last;
    server.wait_for([&] {
      last = answer(who, request);
      return last == expected;
    });
    EXPECT_EQ(last, expected) << request.method << ' ' << request.path;
  }
  void expect(const std::string& who, const Request& request, const std::string& expected) {
    expect(as(who), request, expected);
  }
  static Headers as(const std::string& who) { return {{"Impersonate-User", who}}; }
  /// Returns the message with which the server refuses a manifest; empty if it accepts it.
  std::string problem(const std::string& yaml) {
    try {
      (void)create(yaml, true);
      return {};
    } catch (const ApiError& error) {
      return error.status().message.str();
    }
  }
  /// Returns the text of a refusal in space().
  [[nodiscard]] std::string refused(const std::string& what, const std::string& who,
                                    const std::string& verb, const std::string& resource,
                                    const std::string& group = "") const {
    return what + " is forbidden: User \"" + who + "\" cannot " + verb + " resource \"" + resource +
           "\" in API group \"" + group + "\" in the namespace \"" + space() + '"';
  }

  /// Returns the status of a SubjectAccessReview of a user, as JSON. `attributes` is YAML.
  std::string review(const std::string& who, const std::string& attributes) {
    const Ref<Value> spec = decode_yaml<Value>("{user: '" + who + "', " + attributes + "}");
    answer({}, {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                encode_json(Value::object({{"spec", *spec}}))});
    return encode_json((*body)["status"]);
  }
  bool may(const std::string& who, const std::string& resource_attributes) {
    return review(who, "resourceAttributes: {" + resource_attributes + "}")
        .find(R"("allowed":true)") != std::string::npos;
  }
  /// Waits until the last grant is effective.
  void expect_allowed(const std::string& who, const std::string& resource_attributes) {
    EXPECT_TRUE(server.wait_for([&] { return may(who, resource_attributes); }))
        << resource_attributes;
  }
  void expect_refused(const std::string& who, const std::string& resource_attributes) {
    EXPECT_FALSE(may(who, resource_attributes)) << resource_attributes;
  }

  /// Makes a service account in space() and returns the header with its token.
  Headers account(const std::string& name) {
    create("{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name + "}}");
    EXPECT_EQ(answer({}, {"POST", in_space("/serviceaccounts/" + name + "/token"), "{}"}), "201");
    return {{"Authorization", "Bearer " + text(*body, "status.token")}};
  }
  [[nodiscard]] std::string account_user(const std::string& name) const {
    return "system:serviceaccount:" + space() + ':' + name;
  }

  /// The body of the last answer that was no error; null if it was not JSON.
  Ref<Value> body;
  /// The last error.
  meta::v1::Status status;

 private:
  static Ref<Value> decode_json_or_null(const std::string& json) {
    try {
      return decode_json<Value>(json);
    } catch (const Error&) {
      return nullptr;
    }
  }

  Client by_token_;
  int grants_ = 0;
};

}  // namespace kube::testing_support

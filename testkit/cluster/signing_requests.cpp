// SPDX-License-Identifier: Apache-2.0
#include "testkit/cluster/signing_requests.hpp"

#include <kube/codec/base64.hpp>

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <utility>

#include "testkit/requests/failures.hpp"
#include "testkit/rest/metadata.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/values/value_edit.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::array<std::string_view, 3> kFinal{"Approved", "Denied", "Failed"};

bool has_condition(const Value& request, std::string_view type) {
  const Value& conditions = request["status"]["conditions"];
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (text_member(conditions[i], "type") == type) return true;
  }
  return false;
}

Value texts(const std::vector<std::string>& list) {
  Value values = Value::array();
  for (const std::string& text : list) values.push_back(text);
  return values;
}

}  // namespace

void set_requester(const User& user, Value& request) {
  if (!std::as_const(request)["spec"].is_object()) request["spec"] = Value::object();
  Value& spec = request["spec"];
  for (const char* member : {"username", "uid", "groups", "extra"}) spec.erase(member);
  spec["username"] = user.name;
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.groups.empty()) spec["groups"] = texts(user.groups);
  for (const auto& [key, values] : user.extra) spec["extra"][key] = texts(values);
}

void stamp_conditions(Value& request, const std::string& now) {
  if (!std::as_const(request)["status"]["conditions"].is_array()) return;
  for (Value& condition : elements(request["status"]["conditions"])) {
    for (const char* member : {"lastUpdateTime", "lastTransitionTime"}) {
      if (text_member(std::as_const(condition), member).empty()) condition[member] = now;
    }
  }
}

void check_signing_status(const Field& object, const Value& live) {
  const Field conditions = object["status"]["conditions"];
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const Field type = conditions.at(i)["type"];
    const Field status = conditions.at(i)["status"];
    check_required(type);
    if (!seen.insert(type.text()).second) type.duplicate();
    if (!check_required(status)) continue;
    if (type.is("Approved") || type.is("Denied") || type.is("Failed")) {
      check_one_of(status, {"True"});
    } else {
      check_one_of(status, {"False", "True", "Unknown"});
    }
  }
  if (seen.contains("Approved") && seen.contains("Denied")) {
    conditions.invalid("Denied", "Approved and Denied conditions are mutually exclusive");
  }
  for (const std::string_view type : kFinal) {
    if (has_condition(live, type) && !seen.contains(type)) {
      conditions.forbidden(fmt::format("updates may not remove a condition of type \"{}\"", type));
    }
  }
  const Field certificate = object["status"]["certificate"];
  const std::string pem = base64_decode(certificate.text()).value_or("");
  if (!certificate.text().empty() && pem.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    certificate.invalid("<certificate data>", "must contain at least one CERTIFICATE PEM block");
  }
}

void check_no_new_approval(const Value& live, const Value& next) {
  for (const std::string_view type : {std::string_view{"Approved"}, std::string_view{"Denied"}}) {
    if (!has_condition(next, type) || has_condition(live, type)) continue;
    throw invalid(
        {"certificates.k8s.io", "CertificateSigningRequest"}, metadata_text(next, "name"),
        forbidden_value("status.conditions",
                        fmt::format("updates may not add a condition of type \"{}\"", type)));
  }
}

}  // namespace kube::testkit::detail

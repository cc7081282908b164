// SPDX-License-Identifier: Apache-2.0
// flowcontrol.apiserver.k8s.io/v1, certificates.k8s.io/v1 and apiregistration.k8s.io/v1.
#include <kube/codec/base64.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "testkit/cluster/signing_requests.hpp"
#include "testkit/validation/field_rules.hpp"
#include "testkit/validation/validation.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::array<std::string_view, 9> kVerbs{
    "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"};

bool has(const Field& list, std::string_view text) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.at(i).is(text)) return true;
  }
  return false;
}

void check_verbs(const Field& verbs) {
  if (verbs.size() == 0) {
    verbs.required("verbs must contain at least one value");
  } else if (has(verbs, "*")) {
    if (verbs.size() > 1) verbs.invalid("if '*' is present, must not specify other verbs");
  } else {
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      if (std::ranges::find(kVerbs, verbs.at(i).text()) != kVerbs.end()) continue;
      verbs.unsupported(verbs.value(), {"create", "delete", "deletecollection", "get", "list",
                                        "patch", "proxy", "update", "watch"});
      break;
    }
  }
}

void check_flow_subject(const Field& subject) {
  struct Kind {
    std::string_view name;
    std::string_view member;
  };
  static constexpr std::array<Kind, 3> kKinds{
      {{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}}};
  bool known = false;
  for (const Kind& kind : kKinds) {
    if (!subject["kind"].is(kind.name)) continue;
    known = true;
    const Field part = subject[kind.member];
    if (!part.is_set()) {
      part.required(
          fmt::format("{} is required when subject kind is '{}'", kind.member, kind.name));
    } else {
      check_required(part["name"]);
    }
  }
  if (!known) subject["kind"].unsupported({"Group", "ServiceAccount", "User"});
}

void check_flow_rule(const Field& rule) {
  if (rule["subjects"].size() == 0) {
    rule["subjects"].required("subjects must contain at least one value");
  }
  for (std::size_t i = 0; i < rule["subjects"].size(); ++i) {
    check_flow_subject(rule["subjects"].at(i));
  }
  const Field resources = rule["resourceRules"];
  const Field paths = rule["nonResourceRules"];
  if (resources.size() + paths.size() == 0) {
    rule.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const Field one = resources.at(i);
    check_verbs(one["verbs"]);
    if (one["apiGroups"].size() == 0) {
      one["apiGroups"].required("resource rules must supply at least one api group");
    }
    if (one["resources"].size() == 0) {
      one["resources"].required("resource rules must supply at least one resource");
    }
    if (one["namespaces"].size() == 0 && !one["clusterScope"].is_true()) {
      one["namespaces"].required(
          "resource rules that are not cluster scoped must supply at least one namespace");
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    check_verbs(paths.at(i)["verbs"]);
    const Field urls = paths.at(i)["nonResourceURLs"];
    if (urls.size() == 0) urls.required("nonResourceURLs must contain at least one value");
    for (std::size_t j = 0; j < urls.size(); ++j) {
      if (!urls.at(j).is("*") && !urls.at(j).text().starts_with('/')) {
        urls.at(j).invalid("must start with slash");
      }
    }
  }
}

void check_limited(const Field& limited) {
  if (limited["nominalConcurrencyShares"].number().value_or(0) < 0) {
    limited["nominalConcurrencyShares"].invalid("must be a non-negative integer");
  }
  check_range(limited["lendablePercent"], 0, 100);
  const Field response = limited["limitResponse"];
  const Field queuing = response["queuing"];
  if (response["type"].is("Queue")) {
    if (!queuing.is_set()) {
      queuing.required("must not be empty if limited.limitResponse.type is Limited");
      return;
    }
    for (const char* member : {"queueLengthLimit", "queues", "handSize"}) {
      if (queuing[member].number().value_or(0) <= 0) {
        queuing[member].invalid(queuing[member].number().value_or(0), "must be positive");
      }
    }
    const std::int64_t queues = queuing["queues"].number().value_or(0);
    if (queuing["handSize"].number().value_or(0) > queues) {
      queuing["handSize"].invalid(fmt::format("should not be greater than queues ({})", queues));
    }
  } else if (response["type"].is("Reject")) {
    if (queuing.is_set()) {
      queuing.forbidden("must be nil if limited.limitResponse.type is not Limited");
    }
  } else {
    response["type"].unsupported({"Queue", "Reject"});
  }
}

void check_usages(const Field& usages) {
  if (usages.size() == 0) usages.required();
  std::set<std::string, std::less<>> seen;
  for (std::size_t i = 0; i < usages.size(); ++i) {
    check_one_of(usages.at(i), {"any",
                                "cert sign",
                                "client auth",
                                "code signing",
                                "content commitment",
                                "crl sign",
                                "data encipherment",
                                "decipher only",
                                "digital signature",
                                "email protection",
                                "encipher only",
                                "ipsec end system",
                                "ipsec tunnel",
                                "ipsec user",
                                "key agreement",
                                "key encipherment",
                                "microsoft sgc",
                                "netscape sgc",
                                "ocsp signing",
                                "s/mime",
                                "server auth",
                                "signing",
                                "timestamping"});
    if (!seen.emplace(usages.at(i).text()).second) usages.at(i).duplicate();
  }
}

}  // namespace

void validate_flow_schema(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  const Field precedence = spec["matchingPrecedence"];
  if (precedence.number().value_or(0) != 0) {
    if (*precedence.number() < 0) {
      precedence.invalid("must be a positive value");
    } else if (*precedence.number() > 10000) {
      precedence.invalid("must not be greater than 10000");
    } else if (*precedence.number() == 1 && !object["metadata"]["name"].is("exempt")) {
      precedence.invalid("only the schema named 'exempt' may have matchingPrecedence 1");
    }
  }
  if (const Field method = spec["distinguisherMethod"]; method.is_set()) {
    if (!method["type"].is("ByNamespace") && !method["type"].is("ByUser")) {
      method["type"].unsupported(method.value(), {"ByNamespace", "ByUser"});
    }
  }
  check_required(spec["priorityLevelConfiguration"]["name"], "must reference a priority level");
  for (std::size_t i = 0; i < spec["rules"].size(); ++i) check_flow_rule(spec["rules"].at(i));
}

void validate_priority_level(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  const Field type = spec["type"];
  const bool exempt = object["metadata"]["name"].is("exempt");
  if (type.is("Exempt") != exempt && (type.is("Exempt") || type.is("Limited"))) {
    type.invalid("must be 'Exempt' if and only if `name` is 'exempt'");
  }
  const Field limited = spec["limited"];
  if (type.is("Exempt")) {
    if (limited.is_set()) limited.forbidden("must be nil if the type is not Limited");
  } else if (type.is("Limited")) {
    if (!limited.is_set()) {
      limited.required("must not be empty when type is Limited");
    } else {
      check_limited(limited);
    }
  } else {
    type.unsupported({"Exempt", "Limited"});
  }
}

void validate_signing_request(const Field& object, const Value* live) {
  if (live != nullptr) {
    check_signing_status(object, *live);
    return;  // the spec is unchanged
  }
  const Field spec = object["spec"];
  const std::string pem = base64_decode(spec["request"].text()).value_or("");
  if (!pem.starts_with("-----BEGIN CERTIFICATE REQUEST-----") &&
      pem.find("\n-----BEGIN CERTIFICATE REQUEST-----") == std::string::npos) {
    spec["request"].invalid("PEM block type must be CERTIFICATE REQUEST");
  }
  check_usages(spec["usages"]);
  const Field signer = spec["signerName"];
  if (check_required(signer)) {
    if (signer.is("kubernetes.io/legacy-unknown")) {
      signer.invalid("the legacy signerName is not allowed via this API version");
    }
    const std::size_t slash = signer.text().find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == signer.text().size()) {
      signer.invalid(
          "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    } else {
      for (const std::string& problem :
           dns1123_subdomain_problems(signer.text().substr(0, slash))) {
        signer.invalid(problem);
      }
    }
  }
  if (const Field seconds = spec["expirationSeconds"]; seconds.number().value_or(600) < 600) {
    seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)");
  }
}

void validate_api_service(const Field& object, const Value* /*live*/) {
  const Field spec = object["spec"];
  const Field name = object["metadata"]["name"];
  const std::string required = fmt::format("{}.{}", spec["version"].text(), spec["group"].text());
  if (name.text() != required) {
    name.invalid(fmt::format("must be `spec.version+\".\"+spec.group`: \"{}\"", required));
  }
  check_optional_text(spec["group"], dns1123_subdomain_problems);
  check_text(spec["version"], dns1035_label_problems);
  const std::int64_t group_priority = spec["groupPriorityMinimum"].number().value_or(0);
  if (group_priority <= 0 || group_priority > 20000) {
    spec["groupPriorityMinimum"].invalid(group_priority, "must be positive and less than 20000");
  }
  const std::int64_t version_priority = spec["versionPriority"].number().value_or(0);
  if (version_priority <= 0 || version_priority > 1000) {
    spec["versionPriority"].invalid(version_priority, "must be positive and less than 1000");
  }
  const Field service = spec["service"];
  const Field unverified = spec["insecureSkipTLSVerify"];
  const bool has_bundle = !spec["caBundle"].text().empty();
  if (!service.is_set()) {
    if (has_bundle) spec["caBundle"].invalid("local APIServices may not have a caBundle");
    if (unverified.is_true()) {
      unverified.invalid("local APIServices may not have insecureSkipTLSVerify");
    }
    return;
  }
  check_required(service["namespace"]);
  check_required(service["name"]);
  if (unverified.is_true() && has_bundle) {
    unverified.invalid("may not be true if caBundle is present");
  }
}

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#include "testkit/rbac/policy_rules.hpp"

#include <algorithm>
#include <utility>

#include "testkit/validation/field_error.hpp"

namespace kube::testkit::detail {

namespace {

using rbac::v1::PolicyRule;

bool has(const List<String>& texts, std::string_view wanted) {
  return std::ranges::any_of(texts, [&](const String& text) { return text == wanted; });
}

bool has_or_everything(const List<String>& texts, std::string_view wanted) {
  return std::ranges::any_of(
      texts, [&](const String& text) { return text == wanted || text == kEverything; });
}

/// Returns whether `text` is `*/<subresource>`.
bool is_any_with(std::string_view text, std::string_view subresource) {
  return text.starts_with("*/") && text.substr(2) == subresource;
}

bool resource_matches(const List<String>& resources, const AccessRequest& access) {
  const std::string& sub = access.subresource;
  return std::ranges::any_of(resources, [&](const String& one) {
    const std::string_view text = one;
    if (text == kEverything) return true;
    if (sub.empty()) return text == access.resource;
    if (is_any_with(text, sub)) return true;
    return text.size() == access.resource.size() + 1 + sub.size() &&
           text.starts_with(access.resource) && text[access.resource.size()] == '/' &&
           text.ends_with(sub);
  });
}

/// `pattern` may end with `*`, which stands for any rest.
bool url_matches(std::string_view pattern, std::string_view url) {
  if (pattern == url) return true;
  if (!pattern.ends_with('*')) return false;
  while (pattern.ends_with('*')) pattern.remove_suffix(1);
  return url.starts_with(pattern);
}

bool any_url_matches(const List<String>& patterns, std::string_view url) {
  return std::ranges::any_of(patterns,
                             [&](const String& pattern) { return url_matches(pattern, url); });
}

/// A right to one verb on one resource, or on one URL.
struct Right {
  std::string_view verb;
  std::string_view group = {};
  std::string_view resource = {};
  std::string_view name = {};  ///< empty: all names
  std::string_view url = {};   ///< empty: a resource

  [[nodiscard]] bool same_target(const Right& other) const {
    return group == other.group && resource == other.resource && name == other.name &&
           url == other.url;
  }
};

std::vector<Right> rights_of(const PolicyRule& rule) {
  std::vector<Right> rights;
  for (const String& group : rule.api_groups) {
    for (const String& resource : rule.resources) {
      for (const String& verb : rule.verbs) {
        for (const String& name : rule.resource_names) {
          rights.push_back({.verb = verb, .group = group, .resource = resource, .name = name});
        }
        if (rule.resource_names.empty()) {
          rights.push_back({.verb = verb, .group = group, .resource = resource});
        }
      }
    }
  }
  for (const String& url : rule.non_resource_urls) {
    for (const String& verb : rule.verbs) rights.push_back({.verb = verb, .url = url});
  }
  return rights;
}

bool includes(const PolicyRule& held, const Right& right) {
  if (!has_or_everything(held.verbs, right.verb)) return false;
  if (!right.url.empty()) return any_url_matches(held.non_resource_urls, right.url);
  const std::size_t slash = right.resource.find('/');
  const bool resource = has_or_everything(held.resources, right.resource) ||
                        (slash != std::string_view::npos &&
                         std::ranges::any_of(held.resources, [&](const String& one) {
                           return is_any_with(one, right.resource.substr(slash + 1));
                         }));
  const bool name = held.resource_names.empty() ||
                    (!right.name.empty() && has(held.resource_names, right.name));
  return resource && name && has_or_everything(held.api_groups, right.group);
}

PolicyRule rule_of(const Right& right) {
  if (!right.url.empty()) return {.verbs = {right.verb}, .non_resource_urls = {right.url}};
  PolicyRule rule{
      .verbs = {right.verb}, .api_groups = {right.group}, .resources = {right.resource}};
  if (!right.name.empty()) rule.resource_names = {right.name};
  return rule;
}

std::string shown(const List<String>& texts) {
  const std::vector<std::string> copies = texts;
  return list_text(copies);
}

}  // namespace

bool allows(const PolicyRule& rule, const AccessRequest& access) {
  if (!has_or_everything(rule.verbs, access.verb)) return false;
  if (!access.is_resource()) return any_url_matches(rule.non_resource_urls, access.path);
  return has_or_everything(rule.api_groups, access.group) &&
         resource_matches(rule.resources, access) &&
         (rule.resource_names.empty() || has(rule.resource_names, access.name));
}

std::vector<PolicyRule> missing_rights(std::span<const PolicyRule> held,
                                       const List<PolicyRule>& wanted) {
  std::vector<std::pair<Right, PolicyRule>> missing;
  for (const PolicyRule& rule : wanted) {
    for (const Right& right : rights_of(rule)) {
      if (std::ranges::any_of(held,
                              [&](const PolicyRule& one) { return includes(one, right); })) {
        continue;
      }
      const auto same = std::ranges::find_if(missing, [&](const auto& entry) {
        return right.url.empty() && entry.first.same_target(right);
      });
      if (same == missing.end()) {
        missing.emplace_back(right, rule_of(right));
      } else if (!has(same->second.verbs, right.verb)) {
        same->second.verbs.push_back(right.verb);
      }
    }
  }
  std::vector<PolicyRule> rules;
  for (auto& [right, rule] : missing) rules.push_back(std::move(rule));
  return rules;
}

std::string rule_text(const PolicyRule& rule) {
  std::string text;
  const auto add = [&](const char* name, const List<String>& values) {
    if (values.empty()) return;
    text += text.empty() ? "{" : ", ";
    text += name;
    text += shown(values);
  };
  add("APIGroups:", rule.api_groups);
  add("Resources:", rule.resources);
  add("NonResourceURLs:", rule.non_resource_urls);
  add("ResourceNames:", rule.resource_names);
  add("Verbs:", rule.verbs);
  return text + '}';
}

std::string list_text(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    if (!all.empty()) all += ' ';
    all += quoted_go(text);
  }
  return '[' + all + ']';
}

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#include <kube/client/rest_mapper.hpp>

#include "base/text.hpp"
#include <kube/api/validation.hpp>

#include <algorithm>

namespace kube {

namespace {

using Found = std::optional<RestMapping>;

/// Returns the first resource that `is_it` accepts, by group, with preferred versions first.
template <typename IsIt>
Found find_first(const DiscoveredApi& api, IsIt is_it) {
  for (const DiscoveredGroup& group : api.groups) {
    for (const DiscoveredVersion& version : group.versions) {
      for (const DiscoveredResource& one : version.resources) {
        if (is_it(one)) return RestMapping{one.resource, one.kind, one.namespaced};
      }
    }
  }
  return std::nullopt;
}

/// Returns whether `name` is the plural, singular or a short name of the resource.
bool matches_name(const DiscoveredResource& one, std::string_view name) {
  return one.resource.resource == name || one.singular == name ||
         std::ranges::find(one.short_names, name) != one.short_names.end();
}

}  // namespace

template <typename Find>
RestMapping RestMapper::look_up(const std::string& what, std::stop_token stop, Find find) {
  std::shared_ptr<const DiscoveredApi> known = api(stop);
  Found found = find(*known);
  if (!found) {
    bool is_old = false;
    {
      const std::lock_guard guard{mutex_};
      is_old = client_.options().clock->now() - fetched_ >= options_.least_age;
    }
    if (is_old) {
      known = refresh(std::move(stop));
      found = find(*known);
    }
  }
  if (found) return *found;
  std::string message = "the server has no " + what;
  if (!known->failures.empty()) message += "; discovery failed for " + known->failure_text();
  throw NoMatchError(message);
}

RestMapping RestMapper::for_kind(const GroupVersionKind& kind, std::stop_token stop) {
  return look_up("kind " + to_string(kind), std::move(stop), [&](const DiscoveredApi& api) {
    return find_first(api, [&](const DiscoveredResource& one) {
      return one.kind.kind == kind.kind && one.resource.group == kind.group &&
             (kind.version.empty() || one.resource.version == kind.version);
    });
  });
}

RestMapping RestMapper::for_resource(const GroupVersionResource& resource, std::stop_token stop) {
  const std::string name = detail::lower_case(resource.resource);
  const bool any_group = resource.group.empty() && resource.version.empty();
  return look_up("resource " + to_string(resource), std::move(stop), [&](const DiscoveredApi& api) {
    return find_first(api, [&](const DiscoveredResource& one) {
      return matches_name(one, name) && (any_group || one.resource.group == resource.group) &&
             (resource.version.empty() || one.resource.version == resource.version);
    });
  });
}

RestMapping RestMapper::for_text(std::string_view text, std::stop_token stop) {
  const std::string typed = detail::lower_case(text);
  const std::size_t dot = std::min(typed.find('.'), typed.size());
  const std::string name = typed.substr(0, dot);
  const std::string rest = dot < typed.size() ? typed.substr(dot + 1) : std::string{};
  const std::size_t second = std::min(rest.find('.'), rest.size());
  const std::string version = rest.substr(0, second);
  const std::string group = second < rest.size() ? rest.substr(second + 1) : std::string{};
  return look_up("resource " + detail::quoted(text), std::move(stop),
                 [&](const DiscoveredApi& api) {
                   // "deployments.v1.apps" first: a group may look like a version followed by
                   // another group.
                   Found found = find_first(api, [&](const DiscoveredResource& one) {
                     return !rest.empty() && matches_name(one, name) &&
                            one.resource.version == version && one.resource.group == group;
                   });
                   if (found) return found;
                   return find_first(api, [&](const DiscoveredResource& one) {
                     return matches_name(one, name) && (rest.empty() || one.resource.group == rest);
                   });
                 });
}

std::shared_ptr<const DiscoveredApi> RestMapper::api(std::stop_token stop) {
  {
    const std::lock_guard guard{mutex_};
    if (api_) return api_;
  }
  return refresh(std::move(stop));
}

std::shared_ptr<const DiscoveredApi> RestMapper::refresh(std::stop_token stop) {
  auto fresh = std::make_shared<const DiscoveredApi>(Discovery{client_}.fetch(std::move(stop)));
  const std::lock_guard guard{mutex_};
  api_ = fresh;
  fetched_ = client_.options().clock->now();
  return fresh;
}

void RestMapper::reset() {
  const std::lock_guard guard{mutex_};
  api_.reset();
}

}  // namespace kube

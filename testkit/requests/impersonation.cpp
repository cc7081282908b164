// SPDX-License-Identifier: Apache-2.0
#include "testkit/requests/impersonation.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "testkit/requests/access.hpp"
#include "testkit/requests/failures.hpp"

namespace kube::testkit::detail {

namespace {

constexpr std::string_view kNode = "system:node:";
constexpr std::string_view kAccount = "system:serviceaccount:";
constexpr const char* kAuthentication = "authentication.k8s.io";
constexpr std::size_t kMaxUsers = 10000;

/// Returns `acme.com/project` for the header `Impersonate-Extra-Acme.com%2fproject`; empty for
/// other headers.
std::string extra_key(std::string_view name) {
  constexpr std::string_view kPrefix = "impersonate-extra-";
  const std::string lower = kube::detail::lower_case(name);
  if (!lower.starts_with(kPrefix)) return {};
  const std::string key = lower.substr(kPrefix.size());
  return kube::detail::lower_case(kube::detail::percent_decode(key, false).value_or(key));
}

/// Returns the user in the headers; the name is empty if there is none. Throws ApiError 400.
User wanted_user(const Headers& headers) {
  User wanted;
  if (const std::string* name = find_header(headers, "Impersonate-User")) wanted.name = *name;
  if (const std::string* uid = find_header(headers, "Impersonate-Uid")) wanted.uid = *uid;
  wanted.groups = header_values(headers, "Impersonate-Group");
  for (const Header& header : headers) {
    if (const std::string key = extra_key(header.name); !key.empty()) {
      wanted.extra[key].push_back(header.value);
    }
  }
  if (wanted.name.empty() &&
      !(wanted.uid.empty() && wanted.groups.empty() && wanted.extra.empty())) {
    throw bad_request("requested impersonation without impersonating a user");
  }
  return wanted;
}

struct Account {
  std::string namespace_;
  std::string name;
};

std::optional<Account> account_of(const User& user) {
  if (!user.name.starts_with(kAccount)) return std::nullopt;
  const std::string rest = user.name.substr(kAccount.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Account{rest.substr(0, colon), rest.substr(colon + 1)};
}

bool is_node(const User& user) { return user.name.starts_with(kNode); }
bool is_only_name(const User& user) {
  return user.uid.empty() && user.groups.empty() && user.extra.empty();
}

/// A set of permissions that allows an impersonation. A constrained mode needs, for each value,
/// `impersonate:<name>`, and `impersonate-on:<name>:<verb>` for the request itself.
struct Mode {
  std::string_view name;  ///< empty: the plain verb `impersonate`
  bool (*fits)(const User& wanted);
};

constexpr std::array kModes{
    Mode{"arbitrary-node", [](const User& user) { return is_only_name(user) && is_node(user); }},
    Mode{"serviceaccount",
         [](const User& user) { return is_only_name(user) && account_of(user).has_value(); }},
    Mode{"user-info", [](const User& user) { return !is_node(user) && !account_of(user); }},
    Mode{"", [](const User&) { return true; }}};

/// Checks the permissions of one mode.
class ModeCheck {
 public:
  ModeCheck(const Services& services, const AccessRequest& access, const User& wanted,
            const Mode& mode)
      : services_(services), access_(access), wanted_(wanted), mode_(mode) {}

  /// Returns the error, or nullopt if the impersonation is allowed.
  std::optional<ApiError> refusal() {
    static_cast<void>(may_do_request() && may_be_user() && may_have_uid() && may_have_groups() &&
                      may_have_extra());
    return std::move(error_);
  }

 private:
  [[nodiscard]] bool is_plain() const { return mode_.name.empty(); }

  bool is_allowed(const AccessRequest& needed) {
    error_ = detail::refusal(services_, needed);
    return !error_;
  }
  /// Returns the permission to use a value. Users and groups are in the core group in the plain
  /// mode.
  [[nodiscard]] AccessRequest value(const char* resource, std::string name,
                                    const char* plain_group = "") const {
    return {.user = access_.user,
            .verb = is_plain() ? "impersonate" : "impersonate:" + std::string{mode_.name},
            .group = is_plain() ? plain_group : kAuthentication,
            .version = {},
            .resource = resource,
            .subresource = {},
            .namespace_ = {},
            .name = std::move(name),
            .path = {}};
  }
  bool may_do_request() {
    if (is_plain()) return true;
    AccessRequest needed = access_;
    needed.verb = "impersonate-on:" + std::string{mode_.name} + ':' + access_.verb;
    return is_allowed(needed);
  }
  bool may_be_user() {
    if (const auto account = account_of(wanted_)) {
      AccessRequest needed = value("serviceaccounts", account->name);
      needed.namespace_ = account->namespace_;
      return is_allowed(needed);
    }
    if (!is_plain() && is_node(wanted_)) {
      return is_allowed(value("nodes", wanted_.name.substr(kNode.size())));
    }
    return is_allowed(value("users", wanted_.name));
  }
  bool may_have_uid() {
    return wanted_.uid.empty() || is_allowed(value("uids", wanted_.uid, kAuthentication));
  }
  bool may_have_groups() {
    for (const std::string& group : wanted_.groups) {
      const AccessRequest needed = value("groups", group);
      if (!is_plain() && group == "system:masters") {
        error_ = forbidden_access(needed, "impersonating the system:masters group is not allowed");
        return false;
      }
      if (!is_allowed(needed)) return false;
    }
    return true;
  }
  bool may_have_extra() {
    for (const auto& [key, values] : wanted_.extra) {
      for (const std::string& one : values) {
        AccessRequest needed = value("userextras", one, kAuthentication);
        needed.subresource = key;
        if (!is_allowed(needed)) return false;
      }
    }
    return true;
  }

  const Services& services_;
  const AccessRequest& access_;
  const User& wanted_;
  const Mode& mode_;
  std::optional<ApiError> error_;
};

/// Adds the groups that the user has by name (AU-6).
User with_groups(User user, const Mode& mode) {
  const auto account = account_of(user);
  if (account && user.groups.empty()) {
    user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->namespace_};
  } else if (is_node(user) && !mode.name.empty()) {
    user.groups = {"system:nodes"};
  }
  const bool anonymous =
      user.name == kAnonymous ||
      std::ranges::find(user.groups, kUnauthenticated) != user.groups.end();
  add_group(user, anonymous ? kUnauthenticated : kAuthenticated);
  return user;
}

}  // namespace

std::optional<std::size_t> ImpersonationModes::last(const std::string& user) const {
  const std::lock_guard lock{mutex_};
  const auto found = modes_.find(user);
  return found == modes_.end() ? std::nullopt : std::optional{found->second};
}

void ImpersonationModes::remember(const std::string& user, std::size_t mode) {
  const std::lock_guard lock{mutex_};
  if (modes_.size() >= kMaxUsers) modes_.clear();
  modes_[user] = mode;
}

bool has_impersonation(const Headers& headers) {
  return std::ranges::any_of(headers, [](const Header& header) {
    constexpr std::string_view kPrefix = "impersonate-";
    return header.name.size() > kPrefix.size() &&
           kube::detail::lower_case(header.name.substr(0, kPrefix.size())) == kPrefix;
  });
}

std::optional<User> impersonate(Services& services, const ServerRequest& request,
                                const AccessRequest& access) {
  if (!has_impersonation(request.headers)) return std::nullopt;
  const User wanted = wanted_user(request.headers);
  if (wanted.name.empty()) return std::nullopt;
  // Only RBAC knows the verbs of constrained modes; an authorizer of the options would allow them.
  constexpr std::size_t kPlain = kModes.size() - 1;
  std::vector<std::size_t> order;
  const auto last = services.rbac ? services.impersonation_modes.last(access.user.name) : kPlain;
  if (last) order.push_back(*last);
  for (std::size_t i = 0; services.rbac && i < kModes.size(); ++i) {
    if (last != i) order.push_back(i);
  }
  std::optional<ApiError> first;
  for (const std::size_t i : order) {
    const Mode& mode = kModes[i];
    if (!mode.fits(wanted)) continue;
    std::optional<ApiError> error = ModeCheck{services, access, wanted, mode}.refusal();
    if (!error) {
      if (services.rbac) services.impersonation_modes.remember(access.user.name, i);
      return with_groups(wanted, mode);
    }
    if (!first) first = std::move(error);
  }
  throw *first;  // the plain mode fits everybody
}

}  // namespace kube::testkit::detail

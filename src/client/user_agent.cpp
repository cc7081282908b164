// SPDX-License-Identifier: Apache-2.0
#include <kube/client/user_agent.hpp>

#include "base/text.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>

namespace kube {

namespace {

std::string_view known(std::string_view text) { return text.empty() ? "unknown" : text; }

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns operating system and processor with Go's names.
std::string platform() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown/unknown";
  std::string machine = names.machine;
  if (machine == "x86_64") machine = "amd64";
  if (machine == "aarch64") machine = "arm64";
  return detail::lower_case(names.sysname) + '/' + machine;
}

}  // namespace

std::string make_user_agent(std::string_view program, std::string_view version,
                            std::string_view commit) {
  if (program.empty()) program = base_name(::program_invocation_name);
  version = version.substr(0, version.find('-'));
  std::string agent{known(program)};
  agent.append("/").append(known(version));
  agent.append(" (").append(platform()).append(") kubernetes/").append(known(commit.substr(0, 7)));
  return agent;
}

Config with_user_agent_suffix(Config config, std::string_view role) {
  if (config.user_agent.empty()) config.user_agent = make_user_agent();
  config.user_agent.append("/").append(role);
  return config;
}

}  // namespace kube

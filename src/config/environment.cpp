// SPDX-License-Identifier: Apache-2.0
#include <kube/config/environment.hpp>

#include <string_view>

#include <unistd.h>

namespace kube {

std::map<std::string, std::string> process_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    // If a name occurs twice, the first one counts, as with getenv().
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

bool standard_input_is_terminal() { return isatty(STDIN_FILENO) == 1; }

std::string Environment::variable(const std::string& name) const {
  std::map<std::string, std::string> all = variables();
  const auto found = all.find(name);
  return found == all.end() ? std::string{} : std::move(found->second);
}

}  // namespace kube

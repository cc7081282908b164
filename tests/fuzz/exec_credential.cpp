// SPDX-License-Identifier: Apache-2.0
// Input: the output of an exec plugin. Must yield a credential, or an error that does not contain
// the input.
#include "../../src/config/exec_credential.hpp"

#include "fuzz.hpp"

#include <algorithm>
#include <string>
#include <string_view>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kube::fuzz::require;
  const std::string_view output = kube::fuzz::text_of(data, size);
  try {
    const kube::detail::ExecCredential credential =
        kube::detail::parse_exec_credential(output, "client.authentication.k8s.io/v1");
    require(credential.certificate.empty() == credential.key.empty(), "a pair is whole");
    require(!credential.token.empty() || !credential.key.empty(), "a credential is one");
    require(std::ranges::none_of(credential.token,
                                 [](char c) { return c == '\r' || c == '\n' || c == 0; }),
            "a token fits into a header");
  } catch (const kube::ConfigError& error) {
    const std::string_view message = error.what();
    require(!message.empty(), "an error has a message");
    require(std::ranges::all_of(message, [](char c) { return c >= ' ' && c <= '~'; }),
            "a message can be printed");
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "token_file.hpp"

#include "files.hpp"

namespace kube::detail {

namespace {

constexpr std::chrono::seconds kValidFor{60};
constexpr std::chrono::seconds kLeeway{10};

}  // namespace

TokenFile::TokenFile(std::string path, SecretText fallback, Clock& clock, Logger log)
    : path_(std::move(path)), clock_(clock), log_(std::move(log)), token_(std::move(fallback)) {
  if (!token_.empty()) return;
  token_ = read_token(path_);
  stale_at_ = clock_.now() + kValidFor - kLeeway;
}

SecretText TokenFile::token() {
  std::string problem;
  SecretText token;
  {
    const std::scoped_lock lock{mutex_};
    if (clock_.now() >= stale_at_) {
      try {
        token_ = read_token(path_);
        stale_at_ = clock_.now() + kValidFor - kLeeway;
      } catch (const ConfigError& error) {
        problem = error.what();  // the next request tries again
      }
    }
    token = token_;
  }
  if (!problem.empty()) log_.error("the older token stays in use: {}", problem);
  return token;
}

}  // namespace kube::detail

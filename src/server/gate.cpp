// SPDX-License-Identifier: Apache-2.0
#include "gate.hpp"

#include <algorithm>

namespace kube::server {

template <typename Add>
void Gate::post(Add add) noexcept {
  std::shared_ptr<detail::Job> job;
  {
    const std::lock_guard guard{mutex_};
    if (closed_) return;
    try {
      add(mail_);
    } catch (...) {
      mail_.broken = true;  // the only way to report that there will be no answer
    }
    if (!attended_) job = job_.lock();
  }
  if (job) job->schedule();
}

void Gate::answer(std::int32_t exchange, Reply reply) noexcept {
  post([&](Mail& mail) { mail.answers.emplace_back(exchange, std::move(reply)); });
}

void Gate::fail(std::int32_t exchange) noexcept {
  post([&](Mail& mail) { mail.answers.emplace_back(exchange, std::nullopt); });
}

void Gate::wake(std::int32_t exchange) noexcept {
  post([&](Mail& mail) {
    if (std::ranges::find(mail.woken, exchange) == mail.woken.end()) {
      mail.woken.push_back(exchange);
    }
  });
}

std::function<void()> Gate::waker(std::int32_t exchange) {
  return [gate = shared_from_this(), exchange] { gate->wake(exchange); };
}

void Gate::open(std::weak_ptr<detail::Job> job) noexcept {
  const std::lock_guard guard{mutex_};
  job_ = std::move(job);
}

void Gate::attend() noexcept {
  const std::lock_guard guard{mutex_};
  attended_ = true;
}

Gate::Mail Gate::take_all() noexcept {
  const std::lock_guard guard{mutex_};
  if (mail_.empty()) attended_ = false;
  return std::exchange(mail_, {});
}

std::optional<std::optional<Reply>> Gate::take_answer(std::int32_t exchange) noexcept {
  const std::lock_guard guard{mutex_};
  for (auto at = mail_.answers.begin(); at != mail_.answers.end(); ++at) {
    if (at->first != exchange) continue;
    std::optional<std::optional<Reply>> taken{std::in_place, std::move(at->second)};
    mail_.answers.erase(at);
    return taken;
  }
  return std::nullopt;
}

void Gate::close() noexcept {
  Mail dropped;  // destroyed without the lock: sources may call back
  const std::lock_guard guard{mutex_};
  closed_ = true;
  std::swap(dropped, mail_);
}

}  // namespace kube::server

// SPDX-License-Identifier: Apache-2.0
#include "exchange.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace kube::detail {

namespace {

constexpr std::chrono::seconds kRest{1};

}  // namespace

void Mailbox::open(std::weak_ptr<Waker> waker) noexcept {
  const std::lock_guard lock{mutex_};
  waker_.swap(waker);
}

bool Mailbox::post(std::shared_ptr<Exchange> exchange) noexcept {
  std::shared_ptr<Waker> waker;
  {
    const std::lock_guard lock{mutex_};
    if (closed_) return false;
    if (!std::exchange(exchange->posted_, true)) posted_.push(std::move(exchange));
    waker = waker_.lock();
  }
  if (waker != nullptr) waker->wake();  // without the lock, which the dispatcher takes first
  return true;
}

void Mailbox::nudge() noexcept {
  std::shared_ptr<Waker> waker;
  {
    const std::lock_guard lock{mutex_};
    if (!closed_) waker = waker_.lock();
  }
  if (waker != nullptr) waker->wake();
}

std::size_t Mailbox::posted_count() noexcept {
  const std::lock_guard lock{mutex_};
  return posted_.size();
}

std::shared_ptr<Exchange> Mailbox::next() noexcept {
  const std::lock_guard lock{mutex_};
  std::shared_ptr<Exchange> oldest = posted_.pop();
  if (oldest != nullptr) oldest->posted_ = false;
  return oldest;
}

void Mailbox::announce(std::shared_ptr<const TlsMaterial> material) noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (closed_) return;
    announced_ = std::move(material);
  }
  nudge();
}

std::shared_ptr<const TlsMaterial> Mailbox::take_announced() noexcept {
  const std::lock_guard lock{mutex_};
  return std::exchange(announced_, nullptr);
}

void Mailbox::close() noexcept {
  const std::lock_guard lock{mutex_};
  closed_ = true;
}

const HttpResponseHead& Exchange::wait_head() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return knows_head_locked(); });
  return head_locked();
}

const HttpResponseHead* Exchange::poll_head() {
  const std::lock_guard lock{mutex_};
  if (!knows_head_locked()) {
    is_pending_ = true;
    return nullptr;
  }
  return &head_locked();
}

const HttpResponseHead& Exchange::head_locked() const {
  if (!head_there_ || canceled_) throw_locked();
  return head_;
}

HttpResponseHead Exchange::take_head() {
  const std::lock_guard lock{mutex_};
  return std::move(head_);
}

void Exchange::take(std::string& bytes) {
  bytes.clear();
  bool tell = false;
  {
    std::unique_lock lock{mutex_};
    charge_locked(bytes_.size());
    ask_for_more(lock);
    const auto ready = [this] { return is_readable_locked(); };
    if (!changed_.wait_for(lock, kRest, ready)) {
      release_buffers_locked(bytes);
      changed_.wait(lock, ready);
    }
    tell = take_locked(bytes);
  }
  if (tell) mailbox_->post(shared_from_this());
}

bool Exchange::poll_take(std::string& bytes) {
  bytes.clear();
  bool tell = false;
  {
    std::unique_lock lock{mutex_};
    charge_locked(bytes_.size());
    ask_for_more(lock);
    if (!is_readable_locked()) {
      release_buffers_locked(bytes);
      // Set under the lock: the thread that makes it readable takes the lock later, and sees it.
      is_pending_ = true;
      return false;
    }
    tell = take_locked(bytes);
  }
  if (tell) mailbox_->post(shared_from_this());
  return true;
}

bool Exchange::take_locked(std::string& bytes) {
  if (canceled_) throw_locked();
  if (bytes_.empty() && failed_) throw_locked();
  bytes.swap(bytes_);
  const std::size_t before = credit_;
  credit_ += bytes.size();
  // The window is reopened when half of it is free, so that a fast reader does not wake the loop
  // each time.
  const bool tell =
      !ended_ && !failed_ && before < buffer_bytes_ / 2 && credit_ >= buffer_bytes_ / 2;
  if (!tell || !budget_ || !budget_->is_exhausted()) return tell;
  budget_->count_refusal();
  withheld_ = true;
  return false;
}

/// An idle watch should not keep the memory that it needed while busy.
void Exchange::release_buffers_locked(std::string& bytes) {
  bytes.shrink_to_fit();
  bytes_.shrink_to_fit();
}

/// Lets the loop resume reading after the budget prevented it.
void Exchange::ask_for_more(std::unique_lock<std::mutex>& lock) {
  // A reader that holds no bytes may always continue; otherwise streams could deadlock.
  if (!withheld_ || (!bytes_.empty() && budget_->is_exhausted())) return;
  withheld_ = false;
  lock.unlock();
  mailbox_->post(shared_from_this());
  lock.lock();
}

bool Exchange::wait(std::chrono::nanoseconds timeout) {
  std::unique_lock lock{mutex_};
  ask_for_more(lock);
  // A longer timeout would overflow a time point.
  constexpr std::chrono::hours kMost{24 * 365};
  return changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(timeout, kMost),
                           [this] { return is_readable_locked(); });
}

void Exchange::cancel() noexcept {
  bool under_way = false;
  {
    const std::lock_guard lock{mutex_};
    if (canceled_) return;
    canceled_ = true;
    under_way = !ended_ && !failed_;
  }
  flush();
  if (under_way) mailbox_->post(shared_from_this());
}

void Exchange::limit_buffer(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  buffer_bytes_ = std::min(buffer_bytes_, bytes);
}

void Exchange::on_head(HttpResponseHead head) {
  head_at = last_byte = clock_.now();
  status = head.status;
  Headers{}.swap(request.headers);  // there is no further attempt
  const std::lock_guard lock{mutex_};
  head_ = std::move(head);
  head_there_ = true;
}

void Exchange::on_bytes(std::string_view bytes) {
  last_byte = clock_.now();
  received += bytes.size();
  const std::lock_guard lock{mutex_};
  if (canceled_) return;
  bytes_.append(bytes);
  charge_locked(charged_ + bytes.size());
}

void Exchange::charge_locked(std::size_t bytes) {
  if (!budget_ || bytes == charged_) return;
  if (bytes > charged_) {
    budget_->add(bytes - charged_);
  } else {
    budget_->remove(charged_ - bytes);
  }
  charged_ = bytes;
}

void Exchange::flush() noexcept {
  changed_.notify_all();  // without the lock, on which the reader would block
  // A reader that blocks in a thread is never pending.
  if (!is_pending_.exchange(false)) return;
  if (const std::shared_ptr<Waker> waker = waker_.lock()) waker->wake();
}

void Exchange::on_end() noexcept {
  if (done_) return;
  finish();
  const std::lock_guard lock{mutex_};
  ended_ = true;
}

void Exchange::fail(const TransportError& error) noexcept {
  if (done_) return;
  failure_ = error.kind();
  finish();
  {
    const std::lock_guard lock{mutex_};
    try {
      message_ = error.what();
    } catch (const std::bad_alloc&) {
      message_.clear();
    }
    failed_ = true;
  }
  flush();
}

void Exchange::finish() noexcept {
  done_ = true;
  connection = nullptr;
  if (finished != nullptr) finished->push(shared_from_this());
}

bool Exchange::full() const {
  const std::lock_guard lock{mutex_};
  if (bytes_.size() >= buffer_bytes_) return true;
  if (!budget_ || bytes_.empty() || !budget_->is_exhausted()) return false;
  if (!std::exchange(withheld_, true)) budget_->count_refusal();
  return true;
}

bool Exchange::canceled() const {
  const std::lock_guard lock{mutex_};
  return canceled_;
}

std::size_t Exchange::take_credit() {
  const std::lock_guard lock{mutex_};
  return std::exchange(credit_, 0);
}

void Exchange::throw_locked() const {
  const bool canceled = canceled_ || !failed_;
  if (!canceled && !message_.empty()) throw TransportError(*failure_, message_);
  throw TransportError(canceled ? TransportError::Kind::kCanceled : *failure_,
                       request.method + " " + request.target.substr(0, request.target.find('?')) +
                           (canceled ? ": canceled" : ": failed; out of memory for the reason"));
}

}  // namespace kube::detail

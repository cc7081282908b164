// SPDX-License-Identifier: Apache-2.0
#include "blocking_source.hpp"

#include "engine/thread.hpp"
#include <kube/base/condition.hpp>
#include <kube/base/error.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace kube::detail {

namespace {

/// Maximum number of listed objects waiting to be taken.
constexpr std::size_t kMostItems = 256;
/// Maximum number of available events handed over as one batch.
constexpr std::size_t kMostEvents = 64;

}  // namespace

/// Shared with the thread, which may outlive the BlockingSource.
struct BlockingSource::State {
  const std::shared_ptr<AnyListWatch> source;
  std::stop_source stop;
  std::mutex mutex;
  Condition changed;
  std::deque<std::shared_ptr<Call>> wanted;  // guarded by mutex

  explicit State(std::shared_ptr<AnyListWatch> from) : source(std::move(from)) {}
  /// Makes the thread call run() of `call`. Throws std::bad_alloc.
  void want(std::shared_ptr<Call> call) {
    {
      const std::lock_guard guard{mutex};
      wanted.push_back(std::move(call));
    }
    changed.notify_one();
  }
  void run() noexcept;
};

/// A call of user functions, shared by the thread that makes it and the one that polls.
class BlockingSource::Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<State> state, std::weak_ptr<Waker> waker)
      : state_(std::move(state)), waker_(std::move(waker)) {}
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Makes the call, in the thread of the source.
  virtual void run(AnyListWatch& source) = 0;

  /// Called by the polling side when it no longer needs the result.
  void cancel() noexcept { stop_.request_stop(); }
  [[nodiscard]] bool is_canceled() const noexcept { return stop_.stop_requested(); }
  /// Records the exception of run().
  void fail(std::exception_ptr error) noexcept {
    {
      const std::lock_guard guard{mutex_};
      error_ = std::move(error);
      done_ = true;
    }
    wake();
  }

 protected:
  [[nodiscard]] std::stop_token token() const noexcept { return stop_.get_token(); }
  void want() { state_->want(shared_from_this()); }
  void rethrow_locked() const {
    if (error_) std::rethrow_exception(error_);
  }
  void wake() const noexcept {
    if (const std::shared_ptr<Waker> waker = waker_.lock()) waker->wake();
  }

  std::mutex mutex_;
  // Guarded by mutex_:
  bool done_ = false;
  std::exception_ptr error_;

 private:
  const std::shared_ptr<State> state_;
  const std::weak_ptr<Waker> waker_;
  std::stop_source stop_;
};

class BlockingSource::ListCall final : public Call {
 public:
  ListCall(std::shared_ptr<State> state, std::weak_ptr<Waker> waker, ListOptions options)
      : Call(std::move(state), std::move(waker)), options_(std::move(options)) {}

  void run(AnyListWatch& source) override {
    ListMetadata metadata = source.list(
        options_, [this](ObjectRef object) { add(std::move(object)); }, token());
    {
      const std::lock_guard guard{mutex_};
      metadata_ = std::move(metadata);
      done_ = true;
    }
    wake();
  }

  [[nodiscard]] Poll take(const std::function<void(ObjectRef)>& on_item) {
    for (;;) {
      ObjectRef item;
      {
        const std::lock_guard guard{mutex_};
        if (items_.empty()) {
          if (!done_) return Poll::kPending;
          rethrow_locked();
          return Poll::kReady;
        }
        item = std::move(items_.front());
        items_.pop_front();
      }
      taken_.notify_one();
      on_item(std::move(item));
    }
  }
  /// Valid once take() has returned Poll::kReady.
  [[nodiscard]] const ListMetadata& metadata() const noexcept { return metadata_; }

 private:
  void add(ObjectRef object) {
    {
      std::unique_lock lock{mutex_};
      (void)taken_.wait(lock, token(), [this] { return items_.size() < kMostItems; });
      if (is_canceled()) throw Error("stopped");
      items_.push_back(std::move(object));
    }
    wake();
  }

  const ListOptions options_;
  Condition taken_;
  // Guarded by mutex_:
  std::deque<ObjectRef> items_;
  ListMetadata metadata_;
};

class BlockingSource::WatchCall final : public Call {
 public:
  WatchCall(std::shared_ptr<State> state, std::weak_ptr<Waker> waker, ListOptions options)
      : Call(std::move(state), std::move(waker)), options_(std::move(options)) {}

  void run(AnyListWatch& source) override {
    if (!opened_) return open(source);
    bool has_ended = false;
    // The next event is requested only after this one was processed, unless it is available
    // already.
    for (std::size_t count = 0;; ++count) {
      std::optional<AnyWatchEvent> event = stream_->next(token());
      has_ended = !event;
      if (has_ended) break;
      const std::lock_guard guard{mutex_};
      events_.push_back(std::move(*event));
      if (count == kMostEvents || !stream_->has_next()) break;
    }
    if (has_ended) stream_.reset();  // before the next stream is opened
    {
      const std::lock_guard guard{mutex_};
      done_ = has_ended;
      wanted_ = false;
    }
    wake();
  }

  [[nodiscard]] Poll poll_open() {
    const std::lock_guard guard{mutex_};
    if (done_) rethrow_locked();
    return opened_ || done_ ? Poll::kReady : Poll::kPending;
  }
  [[nodiscard]] std::optional<AnyWatchEvent> take() {
    const std::lock_guard guard{mutex_};
    if (!events_.empty()) {
      AnyWatchEvent event = std::move(events_.front());
      events_.pop_front();
      return event;
    }
    if (done_) rethrow_locked();
    if (!done_ && !wanted_) {
      want();
      wanted_ = true;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool has_next() {
    const std::lock_guard guard{mutex_};
    return !events_.empty();
  }
  [[nodiscard]] bool has_ended() {
    const std::lock_guard guard{mutex_};
    return events_.empty() && done_;
  }

 private:
  void open(AnyListWatch& source) {
    stream_ = source.watch(options_, token());
    {
      const std::lock_guard guard{mutex_};
      opened_ = true;
      done_ = stream_ == nullptr;
    }
    wake();
  }

  const ListOptions options_;
  std::unique_ptr<AnyWatchStream> stream_;  // used only by the thread of the source
  // Written by the thread of the source, under mutex_:
  std::atomic<bool> opened_ = false;
  // Guarded by mutex_:
  bool wanted_ = false;  // the thread was asked for more events
  std::deque<AnyWatchEvent> events_;
};

class BlockingSource::List final : public AsyncList {
 public:
  explicit List(std::shared_ptr<ListCall> call) : call_(std::move(call)) {}
  ~List() override { call_->cancel(); }

  Poll poll(const std::function<void(ObjectRef)>& on_item, std::size_t /*budget*/) override {
    return call_->take(on_item);
  }
  [[nodiscard]] const ListMetadata& metadata() const noexcept override { return call_->metadata(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override {
    return Clock::TimePoint::max();
  }

 private:
  const std::shared_ptr<ListCall> call_;
};

class BlockingSource::Watch final : public AsyncWatch {
 public:
  explicit Watch(std::shared_ptr<WatchCall> call) : call_(std::move(call)) {}
  ~Watch() override { call_->cancel(); }

  Poll poll_open() override { return call_->poll_open(); }
  std::optional<AnyWatchEvent> poll_next() override { return call_->take(); }
  [[nodiscard]] bool has_next() const noexcept override { return call_->has_next(); }
  [[nodiscard]] bool has_ended() const noexcept override { return call_->has_ended(); }
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept override {
    return Clock::TimePoint::max();
  }

 private:
  const std::shared_ptr<WatchCall> call_;
};

BlockingSource::BlockingSource(std::shared_ptr<AnyListWatch> source)
    : state_(std::make_shared<State>(std::move(source))) {}

BlockingSource::~BlockingSource() {
  if (thread_.get_id() == std::this_thread::get_id()) {
    state_->stop.request_stop();
    thread_.detach();
  } else {
    join();
  }
}

void BlockingSource::join() noexcept {
  state_->stop.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool BlockingSource::supports_watch_list() const { return state_->source->supports_watch_list(); }

std::unique_ptr<AsyncList> BlockingSource::start_list(const ListOptions& options, Poller poller) {
  auto call = std::make_shared<ListCall>(state_, std::move(poller.waker), options);
  auto list = std::make_unique<List>(call);
  start(std::move(call));
  return list;
}

std::unique_ptr<AsyncWatch> BlockingSource::start_watch(const ListOptions& options, Poller poller) {
  auto call = std::make_shared<WatchCall>(state_, std::move(poller.waker), options);
  auto watch = std::make_unique<Watch>(call);
  start(std::move(call));
  return watch;
}

void BlockingSource::start(std::shared_ptr<Call> call) {
  state_->want(std::move(call));
  if (thread_.joinable()) return;
  try {
    thread_ = make_thread("kube-source", [state = state_] { state->run(); });
  } catch (const std::system_error& error) {
    throw Error(std::string{"cannot create the thread of a blocking source: "} + error.what());
  }
}

void BlockingSource::State::run() noexcept {
  for (;;) {
    std::shared_ptr<Call> call;
    {
      std::unique_lock lock{mutex};
      if (!changed.wait(lock, stop.get_token(), [this] { return !wanted.empty(); })) return;
      call = std::move(wanted.front());
      wanted.pop_front();
    }
    if (call->is_canceled()) continue;
    const std::stop_callback forward{stop.get_token(), [&]() noexcept { call->cancel(); }};
    try {
      call->run(*source);
    } catch (...) {
      call->fail(std::current_exception());
    }
  }
}

std::shared_ptr<AsyncListWatch> polled_form(std::shared_ptr<AnyListWatch> source) {
  if (auto own = source->async_form()) return own;
  return std::make_shared<BlockingSource>(std::move(source));
}

}  // namespace kube::detail

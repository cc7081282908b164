// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "async_list_watch.hpp"

#include <kube/cache/list_watch.hpp>

#include <memory>
#include <thread>

namespace kube::detail {

/// Makes a source with blocking functions pollable: a thread of its own (`kube-source`) makes the
/// calls. The thread is created by the first request, and ends with the object.
///
/// Thread safety: one list or watch at a time, as an informer uses it.
class BlockingSource final : public AsyncListWatch {
 public:
  explicit BlockingSource(std::shared_ptr<AnyListWatch> source);
  /// As join(), unless the thread itself drops the last reference; then it ends by itself.
  ~BlockingSource() override;

  /// Throws std::system_error if the thread cannot be created.
  [[nodiscard]] std::unique_ptr<AsyncList> start_list(const ListOptions& options,
                                                      Poller poller) override;
  [[nodiscard]] std::unique_ptr<AsyncWatch> start_watch(const ListOptions& options,
                                                        Poller poller) override;
  [[nodiscard]] bool supports_watch_list() const override;
  /// Ends the thread, and waits until a user call that is under way has returned.
  void join() noexcept override;

 private:
  class Call;
  class ListCall;
  class WatchCall;
  class List;
  class Watch;

  struct State;

  void start(std::shared_ptr<Call> call);

  const std::shared_ptr<State> state_;
  std::thread thread_;
};

/// Returns the pollable form of `source`: its own, or one with a thread.
[[nodiscard]] std::shared_ptr<AsyncListWatch> polled_form(std::shared_ptr<AnyListWatch> source);

}  // namespace kube::detail

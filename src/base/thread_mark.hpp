// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kube::detail {

/// Marks the calling thread as working for `owner` while the mark exists. An owner that would wait
/// for its own threads can thus detect that it is called from one of them, and refuse. Marks nest.
class ThreadMark {
 public:
  explicit ThreadMark(const void* owner) noexcept : owner_(owner), outer_(innermost()) {
    innermost() = this;
  }
  ThreadMark(const ThreadMark&) = delete;
  ThreadMark& operator=(const ThreadMark&) = delete;
  ~ThreadMark() { innermost() = outer_; }

  /// True if the calling thread works for `owner`.
  [[nodiscard]] static bool is_set(const void* owner) noexcept {
    for (const ThreadMark* mark = innermost(); mark != nullptr; mark = mark->outer_) {
      if (mark->owner_ == owner) return true;
    }
    return false;
  }

 private:
  static const ThreadMark*& innermost() noexcept {
    thread_local const ThreadMark* mark = nullptr;
    return mark;
  }

  const void* owner_;
  const ThreadMark* outer_;
};

}  // namespace kube::detail

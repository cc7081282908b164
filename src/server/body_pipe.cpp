// SPDX-License-Identifier: Apache-2.0
#include "body_pipe.hpp"

#include <utility>

namespace kube::server {

class BodyPipe::Reader final : public BodySource {
 public:
  explicit Reader(std::shared_ptr<BodyPipe> pipe) noexcept : pipe_(std::move(pipe)) {}
  ~Reader() override {
    {
      const std::lock_guard guard{pipe_->mutex_};
      pipe_->abandoned_ = true;
      pipe_->read_ += pipe_->bytes_.size();
      pipe_->bytes_.clear();
      pipe_->wake_ = nullptr;
    }
    pipe_->on_read_();
  }

  Poll poll(const std::function<void()>& wake) override {
    Poll next;
    {
      const std::lock_guard guard{pipe_->mutex_};
      if (pipe_->bytes_.empty()) {
        if (pipe_->state_ == State::kWait) pipe_->wake_ = wake;
        return {pipe_->state_};
      }
      next = {State::kChunk, std::exchange(pipe_->bytes_, {})};
      pipe_->read_ += next.bytes.size();
    }
    pipe_->on_read_();
    return next;
  }

 private:
  const std::shared_ptr<BodyPipe> pipe_;
};

std::unique_ptr<BodySource> BodyPipe::reader() {
  return std::make_unique<Reader>(shared_from_this());
}

void BodyPipe::write(std::string_view bytes) {
  std::function<void()> wake;
  {
    const std::lock_guard guard{mutex_};
    if (abandoned_) {
      read_ += bytes.size();
      return;
    }
    bytes_.append(bytes);
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

void BodyPipe::end(BodySource::State state) noexcept {
  std::function<void()> wake;
  {
    const std::lock_guard guard{mutex_};
    if (state_ == BodySource::State::kWait) state_ = state;
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();
}

std::size_t BodyPipe::size() const {
  const std::lock_guard guard{mutex_};
  return bytes_.size();
}

std::size_t BodyPipe::take_read() noexcept {
  const std::lock_guard guard{mutex_};
  return std::exchange(read_, 0);
}

}  // namespace kube::server

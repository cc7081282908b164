// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/base/log.hpp>
#include <kube/client/options.hpp>
#include <kube/client/watch_event.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/object/ref.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace kube {

namespace detail {
class AsyncListWatch;
template <typename T>
class ErasedListWatch;
}  // namespace detail

/// An open watch. Its destructor closes it, at the server too.
///
/// Thread safety: used by one thread; only the stop token may be used by others.
template <typename T>
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  /// Waits for the next event. Returns nothing when the stream has ended, or after a stop. Does not
  /// read ahead: the next event is read only after the previous one was taken. A TransportError
  /// counts as the end of the stream; any other exception causes a new list.
  [[nodiscard]] virtual std::optional<WatchEvent<T>> next(std::stop_token stop) = 0;
  /// True if an event can be returned without waiting. A hint: events that arrive together are
  /// passed on as one batch.
  [[nodiscard]] virtual bool has_next() const { return false; }
};

/// The source of a Reflector: one resource, in one namespace or in all.
///
/// Thread safety: one call at a time; an informer calls it from one thread.
template <typename T>
class ListWatch {
 public:
  virtual ~ListWatch() = default;
  /// Makes one request, without paging. Passes each object to `on_item` as soon as it is decoded;
  /// exceptions of `on_item` propagate. Throws ApiError, TransportError, CodecError. After a stop
  /// it returns or throws soon, and the result is ignored.
  virtual ListMetadata list(const ListOptions& options, const std::function<void(Ref<T>)>& on_item,
                            std::stop_token stop) = 0;
  /// Opens a watch. Throws as list(), and has released everything then.
  [[nodiscard]] virtual std::unique_ptr<WatchStream<T>> watch(const ListOptions& options,
                                                              std::stop_token stop) = 0;
  /// False if watches cannot begin with the existing objects (sendInitialEvents).
  [[nodiscard]] virtual bool supports_watch_list() const { return true; }
  /// Returns the logger of informers and reflectors that read from this source and have none in
  /// their options. For a client's resource it is the client's. Nothing means stderr_logger().
  [[nodiscard]] virtual std::optional<Logger> log() const { return std::nullopt; }

 private:
  friend class detail::ErasedListWatch<T>;
  /// Returns the same source without blocking calls; null if there is none, as for every source
  /// that a user writes.
  [[nodiscard]] virtual std::shared_ptr<detail::AsyncListWatch> async_form() const {
    return nullptr;
  }
};

/// A ListWatch made from two functions, and optionally a third that changes the options of every
/// request (for instance, sets a selector). It receives a fresh copy each time.
template <typename T>
class FunctionListWatch final : public ListWatch<T> {
 public:
  /// See ListWatch::list().
  using List = std::function<ListMetadata(const ListOptions&, const std::function<void(Ref<T>)>&,
                                          std::stop_token)>;
  /// See ListWatch::watch().
  using Watch = std::function<std::unique_ptr<WatchStream<T>>(const ListOptions&, std::stop_token)>;
  /// Changes the options of a request in place.
  using Tweak = std::function<void(ListOptions&)>;

  /// `watch_list` is the result of supports_watch_list().
  FunctionListWatch(List list, Watch watch, Tweak tweak = nullptr, bool watch_list = true)
      : list_(std::move(list)),
        watch_(std::move(watch)),
        tweak_(std::move(tweak)),
        watch_list_(watch_list) {}

  ListMetadata list(const ListOptions& options, const std::function<void(Ref<T>)>& on_item,
                    std::stop_token stop) override {
    return list_(tweaked(options), on_item, std::move(stop));
  }
  std::unique_ptr<WatchStream<T>> watch(const ListOptions& options, std::stop_token stop) override {
    return watch_(tweaked(options), std::move(stop));
  }
  [[nodiscard]] bool supports_watch_list() const override { return watch_list_; }

 private:
  [[nodiscard]] ListOptions tweaked(ListOptions options) const {
    if (tweak_) tweak_(options);
    return options;
  }

  List list_;
  Watch watch_;
  Tweak tweak_;
  bool watch_list_;
};

namespace detail {

/// Returns `own`, or the logger of the source if `own` is not set.
template <typename T>
[[nodiscard]] std::optional<Logger> log_for(const std::shared_ptr<ListWatch<T>>& source,
                                            const std::optional<Logger>& own) {
  return own || source == nullptr ? own : source->log();
}

/// A type-erased WatchStream.
class AnyWatchStream {
 public:
  virtual ~AnyWatchStream() = default;
  virtual std::optional<AnyWatchEvent> next(std::stop_token stop) = 0;
  [[nodiscard]] virtual bool has_next() const { return false; }
};
/// A type-erased ListWatch.
class AnyListWatch {
 public:
  virtual ~AnyListWatch() = default;
  virtual ListMetadata list(const ListOptions& options,
                            const std::function<void(ObjectRef)>& on_item,
                            std::stop_token stop) = 0;
  virtual std::unique_ptr<AnyWatchStream> watch(const ListOptions& options,
                                                std::stop_token stop) = 0;
  [[nodiscard]] virtual bool supports_watch_list() const = 0;
  /// Returns the same source without blocking calls, or null.
  [[nodiscard]] virtual std::shared_ptr<AsyncListWatch> async_form() const { return nullptr; }
};

template <typename T>
class ErasedWatchStream final : public AnyWatchStream {
 public:
  explicit ErasedWatchStream(std::unique_ptr<WatchStream<T>> stream) : stream_(std::move(stream)) {}
  std::optional<AnyWatchEvent> next(std::stop_token stop) override {
    auto event = stream_->next(std::move(stop));
    if (!event) return std::nullopt;
    return AnyWatchEvent::from(std::move(*event));
  }
  [[nodiscard]] bool has_next() const override { return stream_->has_next(); }

 private:
  std::unique_ptr<WatchStream<T>> stream_;
};

template <typename T>
class ErasedListWatch final : public AnyListWatch {
 public:
  explicit ErasedListWatch(std::shared_ptr<ListWatch<T>> source) : source_(std::move(source)) {}
  ListMetadata list(const ListOptions& options, const std::function<void(ObjectRef)>& on_item,
                    std::stop_token stop) override {
    return source_->list(
        options, [&](const Ref<T>& object) { on_item(ObjectRef::from(object)); }, std::move(stop));
  }
  std::unique_ptr<AnyWatchStream> watch(const ListOptions& options, std::stop_token stop) override {
    auto stream = source_->watch(options, std::move(stop));
    if (stream == nullptr) return nullptr;
    return std::make_unique<ErasedWatchStream<T>>(std::move(stream));
  }
  [[nodiscard]] bool supports_watch_list() const override { return source_->supports_watch_list(); }
  [[nodiscard]] std::shared_ptr<AsyncListWatch> async_form() const override {
    return source_->async_form();
  }

 private:
  std::shared_ptr<ListWatch<T>> source_;
};

}  // namespace detail
}  // namespace kube

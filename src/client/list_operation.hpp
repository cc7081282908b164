// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "admission.hpp"
#include "body_operation.hpp"
#include "negotiated_send.hpp"
#include "request.hpp"

#include "engine/polling.hpp"
#include <kube/base/byte_budget.hpp>
#include <kube/base/clock.hpp>
#include <kube/client/resource_core.hpp>
#include <kube/codec/list_metadata.hpp>
#include <kube/codec/list_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kube::detail {

/// A LIST, decoded while it arrives. See ResourceCore::list() and engine/polling.hpp.
class ListOperation {
 public:
  using OnItem = ResourceCore::OnItem;

  /// ResourceCore::start_list() makes it.
  ListOperation(ResourceCore resource, Request request, Poller poller);
  ListOperation(const ListOperation&) = delete;
  ListOperation& operator=(const ListOperation&) = delete;

  /// Decodes what has arrived, at most `budget` bytes of it (at least one), and calls `on_item` for each object. Throws as
  /// ResourceCore::list().
  [[nodiscard]] Poll poll(const OnItem& on_item, std::size_t budget);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// Once it is ready.
  [[nodiscard]] const ListMetadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] TransportError canceled() const;

 private:
  enum class State : std::uint8_t {
    kSending,   ///< the answer has not begun
    kAnswered,  ///< its body has not
    kStatus,    ///< the body is a Status, which is read as a whole
    kItems,     ///< the body is a list
    kDone,      ///< all items have been handed out
  };

  void take_answer();
  [[nodiscard]] Poll poll_first();
  [[nodiscard]] Poll poll_status();
  [[nodiscard]] Poll poll_items(const OnItem& on_item, std::size_t& budget);
  /// The next bytes, with errors that say what was asked.
  [[nodiscard]] std::optional<std::string_view> read();

  const ResourceCore resource_;
  Request request_;
  const Poller poller_;
  State state_ = State::kSending;
  std::optional<NegotiatedSend> sending_;
  Answer answer_;
  std::string_view unread_;  // what the stream gave last and was not looked at yet

  // Of a Status:
  std::string begin_;
  std::optional<BodyOperation> rest_of_status_;

  // Of a list:
  std::optional<ListReaderCore> items_;
  std::optional<ByteAccount> account_;
  std::optional<Admission> admission_;
  ListMetadata metadata_;
};

}  // namespace kube::detail

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

  /// Use ResourceCore::start_list().
  ListOperation(ResourceCore resource, Request request, Poller poller);
  ListOperation(const ListOperation&) = delete;
  ListOperation& operator=(const ListOperation&) = delete;

  /// Decodes at most `budget` (at least one) of the received bytes and calls `on_item` for each
  /// object. Throws like ResourceCore::list().
  [[nodiscard]] Poll poll(const OnItem& on_item, std::size_t budget);
  [[nodiscard]] Clock::TimePoint wake_at() const noexcept;
  /// Valid once ready.
  [[nodiscard]] const ListMetadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] TransportError canceled() const;

 private:
  enum class State : std::uint8_t {
    kSending,   ///< no response yet
    kAnswered,  ///< head received, no body yet
    kStatus,    ///< the body is a Status, which is read as a whole
    kItems,     ///< the body is a list
    kDone,      ///< all items have been delivered
  };

  void take_answer();
  [[nodiscard]] Poll poll_first();
  [[nodiscard]] Poll poll_status();
  [[nodiscard]] Poll poll_items(const OnItem& on_item, std::size_t& budget);
  /// Returns the next bytes. Errors name the request.
  [[nodiscard]] std::optional<std::string_view> read();

  const ResourceCore resource_;
  Request request_;
  const Poller poller_;
  State state_ = State::kSending;
  std::optional<NegotiatedSend> sending_;
  Answer answer_;
  std::string_view unread_;  // bytes of the last read that have not been processed

  // If the body is a Status:
  std::string begin_;
  std::optional<BodyOperation> rest_of_status_;

  // If the body is a list:
  std::optional<ListReaderCore> items_;
  std::optional<ByteAccount> account_;
  std::optional<Admission> admission_;
  ListMetadata metadata_;
};

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>

namespace kube::torture {

namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames = {
    "allocation", "send", "receive", "poll",   "epoll_wait",
    "connect",    "open", "disk",    "thread", "callback"};

std::atomic<bool> armed = false;
std::atomic<std::uint64_t> calls = 0;
std::atomic<bool> struck = false;
std::atomic<std::size_t> threads = 0;
// Written only while no fault is armed.
Fault current;

// Plain data in the executable's static TLS block: accessing it does not allocate.
thread_local bool subject = false;

}  // namespace

std::string_view to_string(FaultKind kind) noexcept {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<FaultKind> parse_fault_kind(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<FaultKind>(i);
  }
  return std::nullopt;
}

std::span<const int> errors_of(FaultKind kind) noexcept {
  static constexpr std::array kSend = {ECONNRESET, EINTR, ENOBUFS};
  static constexpr std::array kReceive = {ECONNRESET, EINTR, ENOMEM};
  static constexpr std::array kPoll = {EINTR, ENOMEM};
  static constexpr std::array kEpollWait = {EINTR};
  static constexpr std::array kConnect = {ECONNREFUSED, EINTR, EADDRNOTAVAIL};
  static constexpr std::array kOpen = {EMFILE, ENOMEM};
  static constexpr std::array kDisk = {ENOSPC, EIO};
  switch (kind) {
    case FaultKind::kSend:
      return kSend;
    case FaultKind::kReceive:
      return kReceive;
    case FaultKind::kPoll:
      return kPoll;
    case FaultKind::kEpollWait:
      return kEpollWait;
    case FaultKind::kConnect:
      return kConnect;
    case FaultKind::kOpen:
      return kOpen;
    case FaultKind::kDisk:
      return kDisk;
    case FaultKind::kAllocation:
    case FaultKind::kThread:
    case FaultKind::kCallback:
      break;
  }
  return {};
}

void arm(const Fault& fault) noexcept {
  armed = false;
  current = fault;
  calls = 0;
  struck = false;
  armed = true;
}

void disarm() noexcept { armed = false; }

bool fault_struck() noexcept { return struck; }

std::uint64_t calls_seen() noexcept { return calls; }

int fault_error() noexcept { return current.error; }

bool strikes(FaultKind kind) noexcept {
  if (!subject || !armed.load() || current.kind != kind) return false;
  const std::uint64_t number = ++calls;
  if (number < current.number || number >= current.number + current.burst) return false;
  struck = true;
  return true;
}

Subject::Subject() noexcept : before_(subject) { subject = true; }
Subject::~Subject() { subject = before_; }

Immune::Immune() noexcept : before_(subject) { subject = false; }
Immune::~Immune() { subject = before_; }

bool is_subject() noexcept { return subject; }
void set_subject(bool value) noexcept { subject = value; }

std::size_t subject_threads() noexcept { return threads; }
void count_subject_thread(int by) noexcept { threads += static_cast<std::size_t>(by); }

void callback_point() {
  if (!strikes(FaultKind::kCallback)) return;
  if (current.number % 2 == 0) throw 42;  // NOLINT: users may throw anything
  throw std::runtime_error{"the callback failed on purpose"};
}

}  // namespace kube::torture

// SPDX-License-Identifier: Apache-2.0
#include "object/arena.hpp"

#include "base/buffer.hpp"
#include "base/heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>

namespace kube::detail {

namespace {

/// Memory is committed in steps of this size.
constexpr std::size_t kStep = std::size_t{256} << 10;
/// After an object that needed more steps than these, the excess memory is returned to the system.
constexpr std::size_t kKeptSteps = 4;
/// Largest size of the node tables that is kept for the next object, in bytes.
constexpr std::size_t kKeptTable = std::size_t{64} << 10;

std::size_t round_up(std::size_t size, std::size_t to) { return (size + to - 1) / to * to; }

/// Address range per direction that suffices for nearly every object.
constexpr std::size_t kUsualReach = std::size_t{1} << 20;
/// A larger range is not kept for the next object.
constexpr std::size_t kKeptReach = std::size_t{4} << 20;
/// Usual ratio of an object's size to the size of its input. A larger object is decoded twice.
constexpr std::size_t kUsualExpansion = 4;
constexpr std::size_t kMoreReach = 4;

/// Free list of address ranges of destroyed arenas. They have the usual reach, and at most one step
/// is committed in each direction. A program that decodes single documents creates an arena for
/// each; mapping and unmapping its memory would take longer than decoding.
/// Thread safety: all methods, from any thread.
class IdleRegions {
 public:
  struct Region {
    std::byte* middle = nullptr;
    std::size_t up = 0;  // committed bytes above the middle
    // Committed bytes below the middle.
    std::size_t down = 0;
  };
  /// Returns a region without a middle if the list is empty.
  Region take() noexcept {
    const std::lock_guard lock{mutex_};
    return count_ == 0 ? Region{} : regions_[--count_];
  }
  /// Returns false if the list is full.
  bool keep(const Region& region) noexcept {
    const std::lock_guard lock{mutex_};
    if (count_ == regions_.size()) return false;
    regions_[count_++] = region;
    return true;
  }
  /// Returns the memory of all regions to the system, which clears it.
  void drop_pages() noexcept {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < count_; ++i) {
      const Region& region = regions_[i];
      if (region.up + region.down > 0) {
        ::madvise(region.middle - region.down, region.down + region.up, MADV_DONTNEED);
      }
    }
  }
  /// Called around fork(), so that the mutex is not locked in the child.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::array<Region, 4> regions_{};
  std::size_t count_ = 0;
};

constinit IdleRegions idle_regions;
[[maybe_unused]] const bool has_fork_handlers = add_fork_handlers(
    []() noexcept { idle_regions.lock(); }, []() noexcept { idle_regions.unlock(); });

}  // namespace

Arena::Arena(std::size_t limit) : limit_(round_up(std::max<std::size_t>(limit, kStep), kStep)) {}

Arena::~Arena() {
  clear();
  unmap_region();
}

void Arena::drop_idle_memory() noexcept { idle_regions.drop_pages(); }

bool Arena::map_region(std::size_t wanted, std::size_t least) noexcept {
  if (wanted == kUsualReach) {
    const IdleRegions::Region idle = idle_regions.take();
    if (idle.middle != nullptr) {
      reach_ = kUsualReach;
      middle_ = top_ = bottom_ = idle.middle;
      committed_top_ = middle_ + idle.up;
      committed_bottom_ = middle_ - idle.down;
      return true;
    }
  }
  for (std::size_t reach = wanted; reach > least; reach = round_up(reach / 2, kStep)) {
    // Reserves addresses only; pages are committed as needed.
    void* const memory =
        ::mmap(nullptr, 2 * reach, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      reach_ = reach;
      middle_ = static_cast<std::byte*>(memory) + reach;
      top_ = bottom_ = committed_top_ = committed_bottom_ = middle_;
      return true;
    }
    if (reach == kStep) break;
  }
  return false;
}

void Arena::unmap_region() noexcept {
  if (reach_ == 0) return;
  const IdleRegions::Region region{middle_, static_cast<std::size_t>(committed_top_ - middle_),
                                   static_cast<std::size_t>(middle_ - committed_bottom_)};
  const bool is_usual = reach_ == kUsualReach && std::max(region.up, region.down) <= kStep;
  if (!is_usual || !idle_regions.keep(region)) ::munmap(middle_ - reach_, 2 * reach_);
  reach_ = 0;
  middle_ = top_ = bottom_ = committed_top_ = committed_bottom_ = nullptr;
}

void Arena::reserve(std::size_t expected) {
  const std::size_t wanted =
      expected > limit_ / kUsualExpansion
          ? limit_
          : std::min(limit_, round_up(std::max(kUsualReach, kUsualExpansion * expected), kStep));
  if (reach_ >= wanted) return;
  unmap_region();
  if (!map_region(wanted, 0)) throw std::bad_alloc{};
}

void Arena::reserve_beyond(std::size_t reach) {
  unmap_region();
  if (!map_region(std::min(limit_, kMoreReach * reach), reach)) throw std::bad_alloc{};
}

void Arena::make_room(std::size_t up, std::size_t down) {
  if (up > limit_ || static_cast<std::size_t>(top_ - middle_) + up > limit_) {
    throw std::length_error("object larger than the limit of " + std::to_string(limit_) + " bytes");
  }
  if (down > limit_ || static_cast<std::size_t>(middle_ - bottom_) + down > limit_) {
    throw std::length_error("object with more text than the limit of " + std::to_string(limit_) +
                            " bytes");
  }
  if (used() + up + down > budget_) {
    throw std::length_error("object takes more than " + std::to_string(budget_) +
                            " bytes, out of proportion to its input");
  }
  if (reach_ == 0 && !map_region(limit_, 0)) throw std::bad_alloc{};
  if (static_cast<std::size_t>(top_ - middle_) + up > reach_ ||
      static_cast<std::size_t>(middle_ - bottom_) + down > reach_) {
    throw Full{};
  }
  const auto open = [](std::byte* from, std::size_t size) {
    if (::mprotect(from, size, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc{};
  };
  if (top_ + up > committed_top_) {
    const std::size_t more = round_up(static_cast<std::size_t>(top_ + up - committed_top_), kStep);
    open(committed_top_, more);
    committed_top_ += more;
  }
  if (bottom_ - down < committed_bottom_) {
    const std::size_t more =
        round_up(static_cast<std::size_t>(committed_bottom_ - (bottom_ - down)), kStep);
    open(committed_bottom_ - more, more);
    committed_bottom_ -= more;
  }
}

void Arena::shrink_text(char* text, std::size_t asked, std::size_t used) {
  std::memmove(text + (asked - used), text, used);
  bottom_ += asked - used;
}

void Arena::set_text(Word& word, std::string_view text) {
  if (text.size() <= Word::kMaxInline) {
    word = Word::inline_text(text.data(), text.size());
    return;
  }
  if (text.size() > Word::kMaxCount) throw std::length_error("text of more than 128 MiB");
  char* copy = allocate_text(text.size());
  std::memcpy(copy, text.data(), text.size());
  word.set_relative(copy, text.size(), Content::kBytes);
}

void Arena::make_room_for_node(std::size_t index, Word word) {
  try {
    node_words_.resize(std::max<std::size_t>(index / 64 + 1, 2 * node_words_.size()));
  } catch (...) {
    if (!word.is_held()) word.node()->release();
    throw;
  }
}

template <typename See>
void Arena::for_each_node_word(See see) const {
  const std::size_t used_groups =
      std::min(node_words_.size(), static_cast<std::size_t>(top_ - middle_) / 512 + 1);
  for (std::size_t group = 0; group < used_groups; ++group) {
    for (std::uint64_t bits = node_words_[group]; bits != 0; bits &= bits - 1) {
      see(word_at(middle_ + 8 * (group * 64 + static_cast<std::size_t>(std::countr_zero(bits)))));
    }
  }
}

std::size_t Arena::list_steps() {
  steps_.clear();
  std::size_t count = 0;
  std::size_t last = 0;
  for_each_node_word([&](const Word& word) {
    if (word.is_held()) return;
    const std::size_t index = word_index(word);
    // One byte per distance, with escapes for long ones.
    std::size_t distance = index - last;
    for (; distance >= 254; distance -= 254) steps_.push_back(255);
    steps_.push_back(static_cast<std::uint8_t>(distance));
    last = index;
    ++count;
  });
  return count;
}

void Arena::assign(Word& to, const Word& from) {
  switch (from.form()) {
    case Form::kRelative:
      to.set_relative(from.relative_target(), from.relative_count(), from.relative_content());
      break;
    case Form::kNode:
      share_node(to, from);
      break;
    default:
      to = from;
      break;
  }
}

void Arena::drop(Word& word) noexcept {
  if (word.form() == Form::kNode) {
    const std::size_t index = word_index(word);
    node_words_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    if (word.is_held()) {
      --held_;
    } else {
      word.node()->release();
    }
  }
  word = {};
}

void Arena::pad_text() {
  const std::size_t padding = reinterpret_cast<std::uintptr_t>(bottom_) % 8;
  bottom_ -= padding;  // within a page, so committed
  // Zeroed, so that equal content has an equal image.
  if (padding > 0) std::memset(bottom_, 0, padding);
}

Arena::Image Arena::image(const std::byte* root) {
  pad_text();
  return {{bottom_, top_}, static_cast<std::size_t>(root - bottom_)};
}

Arena::Holding Arena::choose_holding(bool for_others) const {
  const bool suits = held_ > 0 && bundle_->suits(held_);
  if (for_others) {
    std::size_t small = 0;  // nodes that the lent bundle does not hold
    for_each_node_word([&](const Word& word) {
      if (!word.is_held() && word.node()->size <= Bundle::kLargestNode) ++small;
    });
    if (held_ + small >= Bundle::kFewestNodes && (!suits || small > held_ / 4)) {
      return Holding::kBundleOfOwn;
    }
  }
  return suits ? Holding::kLentBundle : Holding::kEach;
}

Bundle* Arena::hold_nodes(Holding holding, Bundle* own) noexcept {
  switch (holding) {
    case Holding::kBundleOfOwn:
      for_each_node_word([&](Word& word) {
        Node* const node = word.node();
        if (word.is_held()) node->retain();
        if (word.is_held() || node->size <= Bundle::kLargestNode) {
          own->add(node);
          word = Word::of_held_node(node);
        }
      });
      return own;
    case Holding::kLentBundle:
      bundle_->retain();
      return bundle_;
    case Holding::kEach:
      for_each_node_word([&](Word& word) {
        if (!word.is_held()) return;
        word.node()->retain();
        word = Word::of_node(word.node());
      });
      break;
  }
  return nullptr;
}

Block* Arena::finish(bool for_others) {
  pad_text();
  const Holding holding = choose_holding(for_others);
  Bundle* own = nullptr;
  if (holding == Holding::kBundleOfOwn) {
    std::size_t nodes = 0;
    for_each_node_word([&](const Word&) { ++nodes; });
    own = Bundle::make(nodes);
  }
  Bundle* const bundle = hold_nodes(holding, own);

  std::size_t nodes = 0;
  const auto text_size = static_cast<std::size_t>(middle_ - bottom_);
  const auto size = static_cast<std::size_t>(top_ - middle_);
  std::byte* memory = nullptr;
  try {
    nodes = list_steps();
    memory = static_cast<std::byte*>(heap_allocate(text_size + size + steps_.size()));
  } catch (const std::bad_alloc&) {
    if (bundle != nullptr) bundle->release();
    throw;
  }
  std::memcpy(memory, bottom_, text_size + size);
  auto* block = new (memory + text_size) Block{{1},
                                               static_cast<std::uint32_t>(text_size),
                                               static_cast<std::uint32_t>(size),
                                               static_cast<std::uint32_t>(nodes),
                                               bundle};
  if (!steps_.empty()) std::memcpy(memory + text_size + size, steps_.data(), steps_.size());
  reset();  // the block owns the references now
  count_block(*block, +1);
  return block;
}

void Arena::clear() noexcept {
  for_each_node_word([&](const Word& word) {
    if (!word.is_held()) word.node()->release();
  });
  reset();
}

void Arena::rest() noexcept {
  if (reach_ == 0) return;
  clear();
  unmap_region();
}

void Arena::reset() noexcept {
  const std::size_t marked =
      std::min(node_words_.size(), static_cast<std::size_t>(top_ - middle_) / 512 + 1);
  std::fill_n(node_words_.begin(), marked, 0);
  held_ = 0;
  budget_ = kNoBudget;
  bundle_ = nullptr;
  clear_buffer(steps_, kKeptTable);
  if (node_words_.size() * sizeof(node_words_[0]) > kKeptTable) node_words_ = {};
  top_ = bottom_ = middle_;
  if (reach_ > kKeptReach) {
    unmap_region();
    return;
  }
  const auto shrink = [](std::byte* from, std::size_t size) {
    ::madvise(from, size, MADV_DONTNEED);
    ::mprotect(from, size, PROT_NONE);
  };
  if (static_cast<std::size_t>(committed_top_ - middle_) > kKeptSteps * kStep) {
    shrink(middle_ + kStep, static_cast<std::size_t>(committed_top_ - (middle_ + kStep)));
    committed_top_ = middle_ + kStep;
  }
  if (static_cast<std::size_t>(middle_ - committed_bottom_) > kKeptSteps * kStep) {
    shrink(committed_bottom_, static_cast<std::size_t>(middle_ - kStep - committed_bottom_));
    committed_bottom_ = middle_ - kStep;
  }
}

}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#include <kube/object/pool.hpp>

#include "base/heap.hpp"
#include "object/intern.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <random>

namespace kube {

using detail::Content;
using detail::Node;

namespace {

struct Key {
  std::span<const std::byte> image;
  std::uint32_t hash;
  std::uint32_t count;
  std::uint32_t root;
  Content content;
};

struct NodeHash {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(const Node* node) const noexcept { return spread(node->hash); }
  std::size_t operator()(const Key& key) const noexcept { return spread(key.hash); }
  static std::size_t spread(std::uint32_t hash) noexcept {
    return static_cast<std::size_t>(hash) * 0x9e3779b97f4a7c15ULL;
  }
};

struct NodeEqual {
  using is_transparent = void;
  bool operator()(const Node* a, const Node* b) const noexcept { return a == b; }
  bool operator()(const Key& key, const Node* node) const noexcept { return (*this)(node, key); }
  bool operator()(const Node* node, const Key& key) const noexcept {
    return node->hash == key.hash && node->count == key.count && node->root == key.root &&
           node->content == key.content && node->size == key.image.size() &&
           std::memcmp(node->image(), key.image.data(), key.image.size()) == 0;
  }
};

}  // namespace

class Pool::Core {
 public:
  Core() : seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {
    const std::lock_guard lock{registry_.mutex};
    next_ = registry_.first;
    if (next_ != nullptr) next_->previous_ = this;
    registry_.first = this;
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  std::uint64_t hash(const void* data, std::size_t size) const noexcept {
    return XXH3_64bits_withSeed(data, size, seed_);
  }

  Node* intern(const Key& key) {
    Shard& shard = shard_of(shards(), key.hash);
    const std::lock_guard lock{shard.mutex};
    if (const auto found = shard.nodes.find(key); found != shard.nodes.end()) {
      (*found)->retain();
      return *found;
    }
    auto* node = new (detail::heap_allocate(sizeof(Node) + key.image.size()))
        Node{{1},      key.count,   key.hash, static_cast<std::uint32_t>(key.image.size()),
             key.root, key.content, this};
    std::memcpy(node->image(), key.image.data(), key.image.size());
    try {
      shard.nodes.insert(node);
    } catch (...) {
      detail::heap_release(node);
      throw;
    }
    bytes_.fetch_add(sizeof(Node) + key.image.size(), std::memory_order_relaxed);
    nodes_.fetch_add(1, std::memory_order_relaxed);
    owners_.fetch_add(1, std::memory_order_relaxed);
    return node;
  }

  /// Called with what may be the last reference. The count drops to zero under the lock, so that
  /// intern() cannot return a node that is being destroyed.
  void release_last(Node* node) noexcept {
    {
      Shard& shard = shard_of(*shards_.load(std::memory_order_acquire), node->hash);
      const std::lock_guard lock{shard.mutex};
      if (node->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      shard.nodes.erase(node);
    }
    bytes_.fetch_sub(sizeof(Node) + node->size, std::memory_order_relaxed);
    nodes_.fetch_sub(1, std::memory_order_relaxed);
    detail::heap_release(node);
    disown();
  }

  /// Releases one share of the core, which is owned by the Pool and by each node.
  void disown() noexcept {
    if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  [[nodiscard]] Totals totals() const noexcept {
    return {nodes_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
  }

 private:
  /// All pools of the process; their locks are taken around fork(), so that none is locked in the
  /// child.
  struct Registry {
    std::mutex mutex;
    Core* first = nullptr;
  };
  static constinit Registry registry_;
  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static const bool has_fork_handlers_;

  ~Core() {
    const std::lock_guard lock{registry_.mutex};
    (previous_ != nullptr ? previous_->next_ : registry_.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    delete shards_.load(std::memory_order_relaxed);
  }

  struct alignas(64) Shard {
    std::mutex mutex;
    boost::unordered_flat_set<Node*, NodeHash, NodeEqual> nodes;  // guarded by mutex
  };
  using Shards = std::array<Shard, 16>;

  static Shard& shard_of(Shards& shards, std::uint32_t hash) noexcept {
    return shards[hash % shards.size()];
  }
  /// Made with the first node, so that the pool of a cache without objects is small.
  Shards& shards() {
    if (Shards* const made = shards_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock{registry_.mutex};  // fork handlers must find them unlocked
    Shards* made = shards_.load(std::memory_order_relaxed);
    if (made == nullptr) {
      made = new Shards;
      shards_.store(made, std::memory_order_release);
    }
    return *made;
  }

  const std::uint64_t seed_;
  std::atomic<std::size_t> owners_{1};
  std::atomic<std::size_t> nodes_{0};
  std::atomic<std::size_t> bytes_{0};
  std::atomic<Shards*> shards_{nullptr};
  Core* previous_ = nullptr;  // links of the registry
  Core* next_ = nullptr;
};

constinit Pool::Core::Registry Pool::Core::registry_;
const bool Pool::Core::has_fork_handlers_ = detail::add_fork_handlers(before_fork, after_fork);

void Pool::Core::before_fork() noexcept {
  registry_.mutex.lock();
  for (Core* core = registry_.first; core != nullptr; core = core->next_) {
    Shards* const shards = core->shards_.load(std::memory_order_acquire);
    if (shards == nullptr) continue;
    for (Shard& shard : *shards) shard.mutex.lock();
  }
}

void Pool::Core::after_fork() noexcept {
  for (Core* core = registry_.first; core != nullptr; core = core->next_) {
    Shards* const shards = core->shards_.load(std::memory_order_acquire);
    if (shards == nullptr) continue;
    for (Shard& shard : *shards) shard.mutex.unlock();
  }
  registry_.mutex.unlock();
}

Pool::Pool() : core_(new Core) {}
Pool::~Pool() { core_->disown(); }

Node* detail::intern(Pool& pool, const Arena::Image& image, std::size_t count, Content content) {
  Pool::Core& core = *Inside::core(pool);
  return core.intern(
      {image.bytes, static_cast<std::uint32_t>(core.hash(image.bytes.data(), image.bytes.size())),
       static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(image.root), content});
}

Node* detail::intern_text(Pool& pool, std::string_view text) {
  return intern(pool, {std::as_bytes(std::span{text}), 0}, text.size(), Content::kBytes);
}

std::uint64_t Pool::hash(std::string_view text) const noexcept {
  return core_->hash(text.data(), text.size());
}

Pool::Totals Pool::totals() const noexcept { return core_->totals(); }

void detail::Node::release() noexcept {
  std::uint32_t seen = references.load(std::memory_order_relaxed);
  while (seen > 1) {
    if (references.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
      return;
    }
  }
  static_cast<Pool::Core*>(pool)->release_last(this);
}

}  // namespace kube

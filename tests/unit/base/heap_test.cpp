// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include "support/forks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace kube::detail {
namespace {

constexpr std::size_t kReserved = 16 * Heap::kChunk;

struct Piece {
  unsigned char* memory;
  std::size_t size;
  unsigned char mark;  ///< value of each byte

  [[nodiscard]] bool is_intact() const {
    return std::all_of(memory, memory + size, [&](unsigned char byte) { return byte == mark; });
  }
};

/// Pieces that are filled completely, so that overlaps are detected.
class Pieces {
 public:
  explicit Pieces(Heap& heap) : heap_(heap) {}
  ~Pieces() {
    while (!pieces_.empty()) release(pieces_.size() - 1);
  }
  Piece& allocate(std::size_t size) {
    auto* memory = static_cast<unsigned char*>(heap_.allocate(size));
    const auto mark = static_cast<unsigned char>(++marks_);
    std::memset(memory, mark, size);
    return pieces_.emplace_back(Piece{memory, size, mark});
  }
  void release(std::size_t i) {
    const Piece piece = pieces_[i];
    EXPECT_TRUE(piece.is_intact());
    heap_.release(piece.memory);
    pieces_[i] = pieces_.back();
    pieces_.pop_back();
  }
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

 private:
  Heap& heap_;
  std::vector<Piece> pieces_;
  unsigned marks_ = 0;
};

TEST(Heap, HasPiecesOfEachSize) {
  Heap heap{kReserved};
  Pieces pieces{heap};
  for (std::size_t size = 0; size <= 3 * Heap::kLargest; size += size < 600 ? 1 : 97) {
    const Piece& piece = pieces.allocate(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.memory) % 16, 0U) << size;
    const std::size_t taken = heap.size_of(piece.memory);
    EXPECT_GE(taken, size);
    if (size <= Heap::kLargest) {
      EXPECT_LE(taken, size + std::max<std::size_t>(16, size / 16));
    }
  }
}

TEST(Heap, UsesMemoryAgainForTheSameSize) {
  Heap heap{kReserved};
  Pieces pieces{heap};
  for (int i = 0; i < 100; ++i) pieces.allocate(5000);
  const std::size_t before = heap.chunk_bytes();
  for (int i = 0; i < 10'000; ++i) {
    pieces.release(static_cast<std::size_t>(i * 7) % pieces.size());
    pieces.allocate(5000);
  }
  EXPECT_EQ(heap.chunk_bytes(), before);
}

TEST(Heap, UsesMemoryAgainForAnotherSize) {
  Heap heap{kReserved};
  for (const std::size_t size : {100, 2000, 16'000, 48}) {
    Pieces pieces{heap};
    for (std::size_t i = 0; i < 3 * Heap::kChunk / size; ++i) pieces.allocate(size);
    EXPECT_LE(heap.chunk_bytes(), 5 * Heap::kChunk) << size;
  }
}

TEST(Heap, GivesBackAllChunksButOne) {
  Heap heap{kReserved};
  {
    Pieces pieces{heap};
    for (std::size_t i = 0; i < 10 * Heap::kChunk / 4096; ++i) pieces.allocate(4000);
    EXPECT_GE(heap.chunk_bytes(), 10 * Heap::kChunk);
  }
  // One chunk has the span that is kept for the next piece of this size, one is kept for any size.
  EXPECT_LE(heap.chunk_bytes(), 2 * Heap::kChunk);
  Pieces pieces{heap};
  for (std::size_t i = 0; i < 10 * Heap::kChunk / 4096; ++i) pieces.allocate(4000);
}

TEST(Heap, GoesOnWithMallocWhenItsAddressesAreUsedUp) {
  for (const std::size_t reserved : {std::size_t{0}, Heap::kChunk}) {
    Heap heap{reserved};
    Pieces pieces{heap};
    for (std::size_t i = 0; i < 2 * Heap::kChunk / 1000; ++i) pieces.allocate(1000);
    EXPECT_EQ(heap.chunk_bytes(), reserved);
    while (pieces.size() > 10) pieces.release(pieces.size() / 2);
    for (int i = 0; i < 100; ++i) pieces.allocate(1000);
  }
}

TEST(Heap, KeepsPiecesApartWhateverTheOrder) {
  Heap heap{kReserved};
  std::mt19937 random{4711};
  const auto below = [&](std::size_t limit) { return random() % limit; };
  Pieces pieces{heap};
  for (int step = 0; step < 50'000; ++step) {
    const bool grows = step / 5000 % 2 == 0;
    if (pieces.size() == 0 || below(10) < (grows ? 7U : 3U)) {
      pieces.allocate(below(4) == 0 ? below(20'000) : below(400));
    } else {
      pieces.release(below(pieces.size()));
    }
  }
}

TEST(Heap, MayBeUsedFromAnyThread) {
  Heap heap{kReserved};
  std::mutex mutex;
  std::vector<Piece> handed;  // guarded by mutex
  const auto release = [&](const Piece& piece) {
    EXPECT_TRUE(piece.is_intact());
    heap.release(piece.memory);
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937 random{seed};
        for (int i = 0; i < 5000; ++i) {
          const std::size_t size = 8 + random() % 3000;
          const Piece piece{static_cast<unsigned char*>(heap.allocate(size)), size,
                            static_cast<unsigned char>(random())};
          std::memset(piece.memory, piece.mark, size);
          const std::lock_guard lock{mutex};
          handed.push_back(piece);
          // Each thread releases pieces that another may have allocated.
          std::swap(handed[random() % handed.size()], handed.back());
          if (handed.size() > 100) {
            release(handed.back());
            handed.pop_back();
          }
        }
      });
    }
  }
  for (const Piece& piece : handed) release(piece);
}

TEST(HeapDeathTest, EndsTheProgramWhenAPieceIsReleasedTwice) {
  for (const std::size_t size : {16U, 100U, 255U, 256U, 257U, 5000U}) {
    EXPECT_DEATH(
        {
          Heap heap{kReserved};
          void* const other = heap.allocate(size);
          void* const piece = heap.allocate(size);
          heap.release(piece);
          heap.release(piece);
          heap.release(other);
        },
        "released twice|use-after-poison");
  }
}

TEST(HeapDeathTest, EndsTheProgramWhenAReleasedPieceWasWrittenTo) {
  for (const std::size_t at : {0U, 8U, 15U}) {
    EXPECT_DEATH(
        {
          Heap heap{kReserved};
          void* const other = heap.allocate(100);
          auto* const piece = static_cast<unsigned char*>(heap.allocate(100));
          heap.release(piece);
          piece[at] ^= 0x10;
          heap.release(heap.allocate(100));
          heap.release(other);
        },
        "written to|use-after-poison");
  }
}

TEST(HeapDeathTest, EndsTheProgramWhenNoPieceIsReleased) {
  EXPECT_DEATH(
      {
        Heap heap{kReserved};
        heap.release(static_cast<std::byte*>(heap.allocate(100)) + 16);
      },
      "not an allocated object");
}

TEST(Heap, TellsAFreePieceFromOneWithOldContent) {
  Heap heap{kReserved};
  void* const other = heap.allocate(64);
  for (int i = 0; i < 100; ++i) heap.release(heap.allocate(64));  // never written to
  heap.release(other);
}

TEST(Heap, TellsAFreePieceFromOneOfAnotherSizeThatStoodThere) {
  Heap heap{kReserved};
  for (const std::size_t size : {64U, 4000U, 128U, 1000U, 64U}) {
    std::vector<void*> pieces;  // not written to
    for (std::size_t i = 0; i < 2 * Heap::kChunk / size; ++i) pieces.push_back(heap.allocate(size));
    for (void* piece : pieces) heap.release(piece);
  }
}

// A child process used to deadlock on the lock of a size class that a thread of the parent held.
TEST(Heap, IsUsableInAChildProcess) {
  test::expect_children_can([] {
    for (int i = 0; i < 100; ++i) heap_release(heap_allocate(200));
  });
}

TEST(Heap, TakesItsMemoryFromMallocWithoutAddresses) {
  Heap heap{0};
  void* const piece = heap.allocate(100);
  EXPECT_EQ(heap.reserved_bytes(), 0U);
  heap.release(piece);
}

}  // namespace
}  // namespace kube::detail

// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace kube::bench {
namespace {

constexpr std::size_t kRoomPerPod = 32 << 10;

void* map_shared(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  return memory;
}

}  // namespace

Corpus::Corpus(const PopulationOptions& population, Format format)
    : population_(population),
      format_(format),
      room_(population.pods * kRoomPerPod),
      text_(static_cast<char*>(map_shared(room_))),
      ends_(
          static_cast<std::uint64_t*>(map_shared((population.pods + 1) * sizeof(std::uint64_t)))) {}

Corpus::~Corpus() {
  munmap(text_, room_);
  munmap(ends_, (population_.pods + 1) * sizeof(std::uint64_t));
}

void Corpus::make(unsigned round) const {
  const Population population{population_};
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < population.size(); ++i) {
    const std::string document = encode(population.pod(i, round), format_);
    if (end + document.size() > room_) throw std::runtime_error("documents larger than expected");
    std::memcpy(text_ + end, document.data(), document.size());
    end += document.size();
    ends_[i + 1] = end;
  }
}

void Corpus::fill(unsigned round) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    int status = 1;
    try {
      make(round);
      status = 0;
    } catch (const std::exception&) {
    }
    _exit(status);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("making the documents failed");
  }
}

}  // namespace kube::bench

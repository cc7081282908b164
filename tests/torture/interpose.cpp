// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that can be made to fail. Definitions in the program take precedence
// over those in shared libraries, also for calls from shared libraries.
#include "faults.hpp"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace kube::torture {
namespace {

/// Returns the next definition of that name (RTLD_NEXT).
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Returns false for an eventfd: writing to one, which wakes a thread, cannot fail.
bool is_stream(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && (S_ISSOCK(about.st_mode) || S_ISFIFO(about.st_mode));
}

bool fails(FaultKind kind) noexcept {
  if (!strikes(kind)) return false;
  errno = fault_error();
  return true;
}

}  // namespace
}  // namespace kube::torture

using kube::torture::fails;
using kube::torture::FaultKind;
using kube::torture::is_stream;
using kube::torture::next;
using kube::torture::strikes;

// Calls the next definition of `name`, unless a fault is injected.
#define KUBECXX_INTERPOSE(kind, failure, name, ...)        \
  static auto* const behind = next<decltype(name)>(#name); \
  if (fails(FaultKind::kind)) return failure;              \
  return behind(__VA_ARGS__)

extern "C" {

ssize_t send(int fd, const void* data, size_t size, int flags) {
  KUBECXX_INTERPOSE(kSend, -1, send, fd, data, size, flags);
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  KUBECXX_INTERPOSE(kSend, -1, sendmsg, fd, message, flags);
}
ssize_t write(int fd, const void* data, size_t size) {
  static auto* const behind = next<decltype(write)>("write");
  if (kube::torture::is_subject() && is_stream(fd) && fails(FaultKind::kSend)) return -1;
  return behind(fd, data, size);
}
ssize_t recv(int fd, void* data, size_t size, int flags) {
  KUBECXX_INTERPOSE(kReceive, -1, recv, fd, data, size, flags);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  KUBECXX_INTERPOSE(kReceive, -1, recvmsg, fd, message, flags);
}
ssize_t read(int fd, void* data, size_t size) {
  static auto* const behind = next<decltype(read)>("read");
  if (kube::torture::is_subject() && is_stream(fd) && fails(FaultKind::kReceive)) return -1;
  return behind(fd, data, size);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  KUBECXX_INTERPOSE(kDisk, -1, pwrite64, fd, data, size, offset);
}
int fsync(int fd) { KUBECXX_INTERPOSE(kDisk, -1, fsync, fd); }
int fdatasync(int fd) { KUBECXX_INTERPOSE(kDisk, -1, fdatasync, fd); }
int poll(pollfd* sockets, nfds_t count, int timeout) {
  KUBECXX_INTERPOSE(kPoll, -1, poll, sockets, count, timeout);
}
int epoll_wait(int fd, epoll_event* events, int count, int timeout) {
  KUBECXX_INTERPOSE(kEpollWait, -1, epoll_wait, fd, events, count, timeout);
}
int connect(int fd, const sockaddr* address, socklen_t size) {
  KUBECXX_INTERPOSE(kConnect, -1, connect, fd, address, size);
}
int socket(int domain, int type, int protocol) noexcept {
  KUBECXX_INTERPOSE(kOpen, -1, socket, domain, type, protocol);
}
int accept(int fd, sockaddr* address, socklen_t* size) {
  KUBECXX_INTERPOSE(kOpen, -1, accept, fd, address, size);
}
int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  KUBECXX_INTERPOSE(kOpen, -1, accept4, fd, address, size, flags);
}
int eventfd(unsigned int value, int flags) noexcept {
  KUBECXX_INTERPOSE(kOpen, -1, eventfd, value, flags);
}
int epoll_create1(int flags) noexcept { KUBECXX_INTERPOSE(kOpen, -1, epoll_create1, flags); }
int timerfd_create(clockid_t clock, int flags) noexcept {
  KUBECXX_INTERPOSE(kOpen, -1, timerfd_create, clock, flags);
}
int pipe2(int* ends, int flags) noexcept { KUBECXX_INTERPOSE(kOpen, -1, pipe2, ends, flags); }
pid_t fork() noexcept { KUBECXX_INTERPOSE(kOpen, -1, fork); }
int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  KUBECXX_INTERPOSE(kOpen, kube::torture::fault_error(), posix_spawn, child, path, actions,
                    attributes, arguments, environment);
}

}  // extern "C"

namespace {

/// The start routine of a thread, and whether the thread is subject to faults.
struct ThreadStart {
  void* (*function)(void*);
  void* argument;
  bool subject;
};

void* run_thread(void* data) {
  const ThreadStart start = *static_cast<ThreadStart*>(data);
  delete static_cast<ThreadStart*>(data);
  kube::torture::set_subject(start.subject);
  void* const result = start.function(start.argument);
  if (start.subject) kube::torture::count_subject_thread(-1);
  return result;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*function)(void*), void* argument) noexcept {
  static auto* const behind = next<decltype(pthread_create)>("pthread_create");
  if (strikes(FaultKind::kThread)) return EAGAIN;
  const bool subject = kube::torture::is_subject();
  const kube::torture::Immune immune;
  auto* const start = new ThreadStart{function, argument, subject};
  if (subject) kube::torture::count_subject_thread(1);
  const int result = behind(thread, attributes, run_thread, start);
  if (result != 0) {
    delete start;
    if (subject) kube::torture::count_subject_thread(-1);
  }
  return result;
}

#ifdef KUBECXX_SANITIZED

// A sanitizer defines the allocation functions itself. Therefore operator new is replaced here,
// which covers libstdc++, too, and the linker redirects this program's own calls to __wrap_malloc
// etc.
namespace {
void* allocate(std::size_t size) {
  if (strikes(FaultKind::kAllocation)) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}
void* allocate_or_throw(std::size_t size) {
  void* const memory = allocate(size);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}
}  // namespace

extern "C" {
void* __real_malloc(std::size_t size);
void* __real_calloc(std::size_t count, std::size_t size);
void* __real_realloc(void* memory, std::size_t size);

void* __wrap_malloc(std::size_t size) {
  return strikes(FaultKind::kAllocation) ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(std::size_t count, std::size_t size) {
  return strikes(FaultKind::kAllocation) ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* memory, std::size_t size) {
  return strikes(FaultKind::kAllocation) ? nullptr : __real_realloc(memory, size);
}
}  // extern "C"

void* operator new(std::size_t size) { return allocate_or_throw(size); }
void* operator new[](std::size_t size) { return allocate_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#else

namespace {

/// Address ranges of code whose allocations must not fail: the C library and the loader abort the
/// process if, for instance, they cannot register the destructor of a thread-local object.
struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
constexpr std::size_t kRanges = 8;
std::array<CodeRange, kRanges> exempt;
std::size_t exempt_count = 0;

int note_exempt(dl_phdr_info* info, std::size_t, void*) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const char* const name = slash == nullptr ? info->dlpi_name : slash + 1;
  if (std::strncmp(name, "libc.so", 7) != 0 && std::strncmp(name, "ld-linux", 8) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum && exempt_count < kRanges; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    exempt[exempt_count++] = {begin, begin + part.p_memsz};
  }
  return 0;
}

[[maybe_unused]] const bool noted = [] {
  ::dl_iterate_phdr(note_exempt, nullptr);
  return true;
}();

bool out_of_memory(const void* caller) noexcept {
  if (!kube::torture::is_subject()) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < exempt_count; ++i) {
    if (address >= exempt[i].begin && address < exempt[i].end) return false;
  }
  if (!strikes(FaultKind::kAllocation)) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

void* malloc(std::size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  return out_of_memory(__builtin_return_address(0)) ? nullptr : __libc_realloc(memory, size);
}
}  // extern "C"

#endif

// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <dlfcn.h>
#include <netdb.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace kube::test {

struct FakeName::State {
  std::vector<std::string> addresses;
  mutable std::mutex mutex = {};
  std::condition_variable changed = {};
  // Guarded by mutex:
  int asked = 0;
  bool released = false;
};

namespace {

struct Names {
  std::mutex mutex;
  // Guarded by mutex:
  std::map<std::string, std::shared_ptr<FakeName::State>> states;
};

Names& names() {
  static Names all;
  return all;
}

std::shared_ptr<FakeName::State> find(const char* name) {
  const std::lock_guard lock{names().mutex};
  const auto found = names().states.find(name);
  return found == names().states.end() ? nullptr : found->second;
}

int system_getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                       addrinfo** result) {
  static const auto function =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return function(name, service, hints, result);
}

int answer(FakeName::State& state, const char* service, addrinfo hints, addrinfo** result) {
  {
    std::unique_lock lock{state.mutex};
    ++state.asked;
    state.changed.notify_all();
    if (state.addresses.empty()) {
      state.changed.wait(lock, [&] { return state.released; });
      return EAI_NONAME;
    }
  }
  hints.ai_flags |= AI_NUMERICHOST;
  for (const std::string& address : state.addresses) {
    const int error = system_getaddrinfo(address.c_str(), service, &hints, result);
    if (error != 0) return error;
    result = &(*result)->ai_next;
  }
  return 0;
}

}  // namespace

FakeName::FakeName(std::string name, std::vector<std::string> addresses)
    : name_(std::move(name)), state_(std::make_shared<State>()) {
  state_->addresses = std::move(addresses);
  const std::lock_guard lock{names().mutex};
  names().states[name_] = state_;
}

FakeName::~FakeName() {
  release();
  const std::lock_guard lock{names().mutex};
  names().states.erase(name_);
}

bool FakeName::wait_asked() {
  std::unique_lock lock{state_->mutex};
  return state_->changed.wait_for(lock, std::chrono::seconds{10},
                                  [this] { return state_->asked > 0; });
}

int FakeName::asked() const {
  const std::lock_guard lock{state_->mutex};
  return state_->asked;
}

void FakeName::release() {
  const std::lock_guard lock{state_->mutex};
  state_->released = true;
  state_->changed.notify_all();
}

}  // namespace kube::test

/// Replaces the function of the C library: the linker prefers symbols of the program.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  using namespace kube::test;
  if (name != nullptr && (hints->ai_flags & AI_NUMERICHOST) == 0) {
    if (const auto state = find(name)) return answer(*state, service, *hints, result);
  }
  return system_getaddrinfo(name, service, hints, result);
}

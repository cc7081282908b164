// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/api/meta/v1.hpp>
#include <kube/object/ref.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

/// Small objects for tests of the cache.
namespace kube::testing_support {

using Item = meta::v1::PartialObjectMetadata;

using LabelList = std::vector<std::pair<std::string_view, std::string_view>>;

inline Ref<Item> item(std::string_view space, std::string_view name, std::string_view version = "",
                      const LabelList& labels = {}) {
  Item object;
  object.metadata.namespace_ = space;
  object.metadata.name = name;
  object.metadata.resource_version = version;
  for (const auto& [key, value] : labels) object.metadata.labels[key] = value;
  return freeze(object);
}

inline std::string version_of(const Ref<Item>& object) {
  return object ? object->metadata.resource_version.str() : "none";
}

/// Formats keys and versions, sorted: "a/x@1 b/y@2".
inline std::string show(const std::vector<Ref<Item>>& objects) {
  std::vector<std::string> texts;
  for (const Ref<Item>& object : objects) {
    std::string text = object->metadata.namespace_.str();
    if (!text.empty()) text += '/';
    text += object->metadata.name.view();
    if (!object->metadata.resource_version.empty()) {
      text += '@' + object->metadata.resource_version.str();
    }
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " ") + text;
  return all;
}

/// Returns the number of threads of this process. (A sanitizer starts one of its own with the
/// first.)
inline std::size_t thread_count() {
  static const bool started = [] {
    pid_t first = 0;
    std::jthread{[&] { first = ::gettid(); }}.join();
    // The kernel may list a thread for a moment after it was joined.
    while (std::filesystem::exists("/proc/self/task/" + std::to_string(first))) {
      std::this_thread::yield();
    }
    return true;
  }();
  (void)started;
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}));
}
/// Waits until the number of threads is `count`. Returns false after 10 s.
inline bool threads_return_to(std::size_t count) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  while (thread_count() != count) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace kube::testing_support

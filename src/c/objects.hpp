// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/c/kubecxx.h>
#include <kube/object/ref.hpp>
#include <kube/object/value.hpp>

#include <atomic>
#include <string>
#include <vector>

/// An object and, once requested, its JSON text. Has no lock, so it can be read in a child of
/// fork().
struct kubecxx_object {
  kubecxx_object() = default;
  explicit kubecxx_object(kube::Ref<kube::Value> given) : object(std::move(given)) {}
  kubecxx_object(const kubecxx_object&) = delete;
  kubecxx_object& operator=(const kubecxx_object&) = delete;
  ~kubecxx_object() { delete json.load(); }

  kube::Ref<kube::Value> object;
  mutable std::atomic<const std::string*> json = nullptr;
};

struct kubecxx_list {
  explicit kubecxx_list(std::vector<kube::Ref<kube::Value>> objects) : items(objects.size()) {
    for (std::size_t i = 0; i < objects.size(); ++i) items[i].object = std::move(objects[i]);
  }
  std::vector<kubecxx_object> items;
};

struct kubecxx_text {
  std::string text;
};

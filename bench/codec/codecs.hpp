// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slim_pod.hpp"

#include <kube/codec/decoder.hpp>
#include <kube/codec/json.hpp>
#include <kube/codec/protobuf.hpp>
#include <kube/object/pool.hpp>
#include <kube/object/ref.hpp>

#include "plain_pod.hpp"
#include "plain_reader.hpp"
#include "plain_slim.hpp"
#include "pod.pb.h"
#include "slim_pod.pb.h"

#include <google/protobuf/arena.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Codecs under test. Each turns a document into an object that can be kept: it has a type
/// `Object`, which frees its memory, and `decode`.
namespace kube::bench {

enum class Sharing { kPool, kNone };

template <typename T>
class OurProtobuf {
 public:
  using Object = Ref<T>;
  explicit OurProtobuf(Sharing sharing, Projection projection = {})
      : decoder_({.pool = sharing == Sharing::kPool ? std::make_shared<Pool>() : nullptr,
                  .projection = std::move(projection)}) {}
  Object decode(std::string_view document) { return decoder_.protobuf(document); }

 private:
  Decoder<T> decoder_;
};

template <typename T>
class OurJson {
 public:
  using Object = Ref<T>;
  explicit OurJson(Sharing sharing, Projection projection = {})
      : decoder_({.pool = sharing == Sharing::kPool ? std::make_shared<Pool>() : nullptr,
                  .projection = std::move(projection)}) {}
  Object decode(std::string_view document) { return decoder_.json(document); }

 private:
  Decoder<T> decoder_;
};

struct HeapProtobuf {
  using Object = std::unique_ptr<wire::Pod>;
  static Object decode(std::string_view document) {
    auto pod = std::make_unique<wire::Pod>();
    if (!pod->ParseFromArray(document.data(), static_cast<int>(document.size()))) {
      throw std::runtime_error("libprotobuf cannot parse a pod");
    }
    return pod;
  }
};

/// A message with few fields. libprotobuf keeps unknown fields, unless they are discarded
/// explicitly.
struct SlimProtobuf {
  using Object = std::unique_ptr<wire::SlimPod>;
  static Object decode(std::string_view document) {
    auto pod = std::make_unique<wire::SlimPod>();
    if (!pod->ParseFromArray(document.data(), static_cast<int>(document.size()))) {
      throw std::runtime_error("libprotobuf cannot parse a pod");
    }
    pod->DiscardUnknownFields();
    return pod;
  }
};

/// One arena per object, because objects of a cache are replaced and freed individually.
struct ArenaProtobuf {
  struct Object {
    std::unique_ptr<google::protobuf::Arena> arena;
    wire::Pod* pod = nullptr;
  };
  static Object decode(std::string_view document) {
    auto arena = std::make_unique<google::protobuf::Arena>();
    auto* pod = google::protobuf::Arena::CreateMessage<wire::Pod>(arena.get());
    if (!pod->ParseFromArray(document.data(), static_cast<int>(document.size()))) {
      throw std::runtime_error("libprotobuf cannot parse a pod");
    }
    return {std::move(arena), pod};
  }
};

/// An untyped tree: no field of a pod is typed yet.
struct NlohmannTree {
  using Object = plain::Json;
  static Object decode(std::string_view document) { return plain::Json::parse(document); }
};

struct NlohmannStructs {
  using Object = std::unique_ptr<plain::Pod>;
  static Object decode(std::string_view document) {
    auto pod = std::make_unique<plain::Pod>();
    plain::Json::parse(document).get_to(*pod);
    return pod;
  }
};

class SimdjsonStructs {
 public:
  using Object = std::unique_ptr<plain::Pod>;
  Object decode(std::string_view document) {
    auto pod = std::make_unique<plain::Pod>();
    reader_.read(document, *pod);
    return pod;
  }

 private:
  plain::PlainReader reader_;
};

class SimdjsonSlim {
 public:
  using Object = std::unique_ptr<plain::SlimPod>;
  Object decode(std::string_view document) {
    auto pod = std::make_unique<plain::SlimPod>();
    reader_.read(document, *pod);
    return pod;
  }

 private:
  plain::SlimReader reader_;
};

}  // namespace kube::bench

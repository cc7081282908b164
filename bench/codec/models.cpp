// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"

#include "codecs.hpp"
#include "slim_pod.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace kube::bench {
namespace {

template <typename T>
class OurModel : public Model {
 public:
  OurModel(std::size_t pods, std::shared_ptr<Pool> pool, Projection projection = {})
      : pool_(std::move(pool)),
        decoder_({.pool = pool_, .projection = std::move(projection)}),
        cache_(pods) {}

  void put(std::size_t index, std::string_view document) override {
    cache_[index] = decoder_.protobuf(document);
  }
  [[nodiscard]] std::string note() const override {
    const auto count = static_cast<double>(cache_.size());
    const auto blocks = static_cast<double>(block_totals().bytes) / count;
    const auto shared = pool_ ? static_cast<double>(pool_->totals().bytes) / count : 0;
    return fmt::format("blocks {:.0f} B, pool {:.0f} B", blocks, shared);
  }

 private:
  std::shared_ptr<Pool> pool_;
  Decoder<T> decoder_;
  std::vector<Ref<T>> cache_;
};

template <typename Codec>
class PeerModel : public Model {
 public:
  explicit PeerModel(std::size_t pods) : cache_(pods) {}
  void put(std::size_t index, std::string_view document) override {
    cache_[index] = codec_.decode(document);
  }

 private:
  Codec codec_;
  std::vector<typename Codec::Object> cache_;
};

template <typename M>
std::unique_ptr<Model> make(std::size_t pods) {
  return std::make_unique<M>(pods);
}

}  // namespace

std::span<const ModelInfo> all_models() {
  using core::v1::Pod;
  static const std::vector<ModelInfo> kModels = {
      {"kubecxx", Format::kProtobuf, true, true,
       [](std::size_t pods) {
         return std::make_unique<OurModel<Pod>>(pods, std::make_shared<Pool>());
       }},
      {"kubecxx, no pool", Format::kProtobuf, true, true,
       [](std::size_t pods) { return std::make_unique<OurModel<Pod>>(pods, nullptr); }},
      {"libprotobuf, heap", Format::kProtobuf, true, false, make<PeerModel<HeapProtobuf>>},
      {"libprotobuf, arena each", Format::kProtobuf, true, false, make<PeerModel<ArenaProtobuf>>},
      {"std structs", Format::kJson, true, false, make<PeerModel<NlohmannStructs>>},
      {"kubecxx, projection", Format::kProtobuf, false, true,
       [](std::size_t pods) {
         return std::make_unique<OurModel<Pod>>(pods, std::make_shared<Pool>(), slim_projection());
       }},
      {"kubecxx, slim type", Format::kProtobuf, false, true,
       [](std::size_t pods) {
         return std::make_unique<OurModel<SlimPod>>(pods, std::make_shared<Pool>());
       }},
      {"kubecxx, slim type, no pool", Format::kProtobuf, false, true,
       [](std::size_t pods) { return std::make_unique<OurModel<SlimPod>>(pods, nullptr); }},
      {"libprotobuf, slim message", Format::kProtobuf, false, false, make<PeerModel<SlimProtobuf>>},
      {"std struct, the same fields", Format::kJson, false, false, make<PeerModel<SimdjsonSlim>>},
  };
  return kModels;
}

}  // namespace kube::bench

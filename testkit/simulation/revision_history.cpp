// SPDX-License-Identifier: Apache-2.0
#include "testkit/simulation/revision_history.hpp"

#include <kube/base/error.hpp>
#include <kube/codec/json.hpp>
#include <kube/object/value.hpp>

#include <fmt/format.h>

namespace kube::testkit::detail {

using apps::v1::ControllerRevision;
using core::v1::PodTemplateSpec;

namespace {

/// Compares parsed documents, because the store may have re-encoded one of them.
bool same_data(const RawExtension& a, const RawExtension& b) {
  return a == b || *decode_json<Value>(a.raw()) == *decode_json<Value>(b.raw());
}

}  // namespace

std::string revision_data(const PodTemplateSpec& pod_template) {
  Value patch = *decode_json<Value>(encode_json(pod_template));
  patch["$patch"] = "replace";
  return encode_json(Value::object({{"spec", Value::object({{"template", std::move(patch)}})}}));
}

PodTemplateSpec template_of(const ControllerRevision& revision) {
  const Ref<Value> data = decode_json<Value>(revision.data.raw());
  Value pod_template = (*data)["spec"]["template"];
  if (!pod_template.is_object()) {
    throw Error(fmt::format("ControllerRevision {} holds no pod template in data.spec.template",
                            revision.metadata.name.view()));
  }
  pod_template.erase("$patch");
  return *decode_json<PodTemplateSpec>(encode_json(pod_template));
}

void RevisionHistory::sort() {
  std::ranges::stable_sort(revisions_, {}, [](const ControllerRevision& one) {
    return std::pair{one.revision, one.metadata.creation_timestamp};
  });
}

ControllerRevision RevisionHistory::take_current(std::optional<std::int32_t>& collisions) {
  const std::int64_t next = revisions_.empty() ? 1 : revisions_.back().revision + 1;
  const auto found = std::ranges::find_if(
      revisions_.rbegin(), revisions_.rend(),
      [&](const ControllerRevision& one) { return same_data(one.data, draft_.data); });
  if (found != revisions_.rend()) {
    if (found->metadata.uid != revisions_.back().metadata.uid) {
      found->revision = next;
      *found = *cluster_.update(*found);
      const ControllerRevision current = *found;
      sort();
      return current;
    }
    return *found;
  }
  for (;;) {
    ControllerRevision made = draft_;
    const std::string hash = text_hash(draft_.data.raw(), collisions);
    made.metadata.name = fmt::format("{}-{}", draft_.metadata.name.view(), hash);
    made.metadata.labels[hash_label_] = hash;
    made.revision = next;
    try {
      revisions_.push_back(*cluster_.create(made));
      return revisions_.back();
    } catch (const ApiError& error) {
      if (!is_already_exists(error)) throw;
      collisions = collisions.value_or(0) + 1;
    }
  }
}

const ControllerRevision* RevisionHistory::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      revisions_, [&](const ControllerRevision& one) { return one.metadata.name == name; });
  return found == revisions_.end() ? nullptr : &*found;
}

void RevisionHistory::truncate(std::int32_t limit, const std::set<std::string>& live) {
  std::vector<const ControllerRevision*> old;
  for (const ControllerRevision& one : revisions_) {
    if (!live.contains(one.metadata.name.str())) old.push_back(&one);
  }
  for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < old.size(); ++i) {
    cluster_.remove(*old[i]);
  }
}

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "codec/json_reader.hpp"

namespace kube::detail {

inline bool is_plain_scalar(const Type& type) { return type.kind <= Kind::kDouble; }

/// The type of the representation in memory.
inline const Type& stored(const Type& type) {
  return type.kind == Kind::kLeaf ? *type.element : type;
}

/// Records one value on the tape while it is read.
class JsonReader::Recording {
 public:
  Recording(JsonReader& reader, std::size_t tag) : reader_(reader) {
    if (reader.tape_ == nullptr) return;
    index_ = reader.tape_->entries.size();
    reader.tape_->entries.push_back(
        {reader.scan_.position(), 0, 0, static_cast<std::uint32_t>(tag)});
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (reader_.tape_ == nullptr) return;
    JsonTape::Entry& entry = reader_.tape_->entries[index_];
    entry.end = reader_.scan_.position();
    entry.next = static_cast<std::uint32_t>(reader_.tape_->entries.size());
  }

 private:
  JsonReader& reader_;
  std::size_t index_ = 0;
};

}  // namespace kube::detail

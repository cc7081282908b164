// SPDX-License-Identifier: Apache-2.0
// Signatures that signatures.awk reports, and some that it does not; not compiled.
#pragma once

namespace kube {
namespace detail {
class Core;
Core& core_of(detail::Core& core);
struct Open {
  detail::Core* core;
};
}  // namespace detail

detail::Core* make();                                                      // seen
inline int answer(int x = {detail::kAnswer}) { return detail::twice(x); }  // seen
template <detail::Printable T>
void print(const T& value);
template <typename T>
requires(detail::kPrintable<T>) void show(const T& value);
using Public = detail::Core;  // seen
inline constexpr int kNumber = detail::kNumber;

/// Mentions detail::Core.
template <typename T>
class Face : public Base<T> {
  void hidden(detail::Core& core);

 public:
  Face() : core_(detail::make("{ detail::", '{')), other_{detail::make()} {}
  explicit Face(detail::Core& core) : core_(core) {}  // seen
  [[nodiscard]] int get() const requires detail::Writable<T> {
    if (core_) {
      return detail::get(core_);
    }
    return 0;
  }
  bool operator==(const detail::Core& other) const;  // seen
  struct Nested {
    detail::Core* shown;  // seen
  };
  friend struct detail::Inside;
  class promise_type final : public detail::Promise<T> {};

 protected:
  detail::Core& core();  // seen

 private:
  struct Entry {
    detail::Core* core;
  };
  detail::Core core_;
  int other_;
};

struct Options {
  detail::Function on_add = {};  // seen
  int size = detail::kSize;
};
enum class Kind { kOne = detail::kOne };

}  // namespace kube

detail::Core* after();  // seen

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kube::detail {

/// Throws CodecError with line and column.
[[noreturn]] void fail_yaml(const YAML::Mark& mark, const std::string& path,
                            std::string_view problem);

/// One YAML document as a flat sequence of parser events, with unresolved aliases. It takes 32
/// bytes per value; yaml-cpp's own tree takes several hundred.
class YamlTape final : public YAML::EventHandler {
 public:
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap, kAlias };

  struct Item {
    Kind kind = Kind::kNull;
    bool is_plain = false;  ///< a scalar without quotes and without an explicit tag
    bool is_text = false;   ///< a scalar with quotes, or with a tag that makes it text
    /// Index of the item after this one and its content; 0 while it is open.
    std::uint32_t next = 0;
    /// Start of the text of a scalar; index of the item that an alias refers to.
    std::uint32_t at = 0;
    std::uint32_t length = 0;  ///< length of the text
    YAML::Mark mark;
  };

  /// The direct children of a sequence, or the alternating keys and values of a map.
  class Range {
   public:
    class Iterator {
     public:
      Iterator(const std::vector<Item>& items, std::uint32_t index)
          : items_(&items), index_(index) {}
      const Item& operator*() const { return (*items_)[index_]; }
      Iterator& operator++() {
        index_ = (*items_)[index_].next;
        return *this;
      }
      friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

     private:
      const std::vector<Item>* items_;
      std::uint32_t index_;
    };
    Range(Iterator begin, Iterator end) : begin_(begin), end_(end) {}
    [[nodiscard]] Iterator begin() const { return begin_; }
    [[nodiscard]] Iterator end() const { return end_; }

   private:
    Iterator begin_;
    Iterator end_;
  };

  /// True if the document has no value, or null.
  [[nodiscard]] bool is_empty() const {
    return items_.empty() || items_.front().kind == Kind::kNull;
  }
  [[nodiscard]] const Item& root() const { return items_.front(); }
  [[nodiscard]] const Item& target(const Item& alias) const { return items_[alias.at]; }
  [[nodiscard]] std::string_view text(const Item& item) const {
    return item.kind == Kind::kScalar ? std::string_view{texts_}.substr(item.at, item.length)
                                      : std::string_view{};
  }
  [[nodiscard]] Range inside(const Item& item) const {
    const auto index = static_cast<std::uint32_t>(&item - items_.data());
    return {{items_, index + 1}, {items_, item.next}};
  }

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  Item& add(Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor);
  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  void close();

  std::vector<Item> items_;
  std::string texts_;
  std::vector<std::uint32_t> open_;     // sequences and maps that are still open
  std::vector<std::uint32_t> anchors_;  // the item of each anchor
  int last_start_ = -1;
};

}  // namespace kube::detail

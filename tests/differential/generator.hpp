// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dice.hpp"
#include "kinds.hpp"
#include "request.hpp"

#include <string>
#include <vector>

namespace kube::differential {

/// Makes up requests about a few objects of each kind in one namespace, most of them reasonable.
class Generator {
 public:
  /// Objects without a namespace have names that begin with `space`, and its name as label "space".
  Generator(Dice& dice, std::string space) : dice_(dice), space_(std::move(space)) {}

  [[nodiscard]] Request next();
  /// What must come up in every run.
  [[nodiscard]] std::vector<Request> directed() const;
  /// Watches of what has happened since the namespace was made.
  [[nodiscard]] std::vector<Request> watches();
  /// Removes what is left.
  [[nodiscard]] std::vector<Request> cleanup() const;

 private:
  Request create(const Kind& kind);
  Request get(const Kind& kind);
  Request list(const Kind& kind);
  Request update(const Kind& kind);
  Request json_patch(const Kind& kind);
  Request merge_patch(const Kind& kind);
  Request strategic_patch(const Kind& kind);
  Request apply(const Kind& kind);
  Request remove(const Kind& kind);
  Request remove_collection(const Kind& kind);
  Request subresource(const Kind& kind);
  Request definition();
  Request nonsense(const Kind& kind);

  const Kind& any_kind();
  std::string any_name(const Kind& kind);
  Value object(const Kind& kind, std::string_view name);
  [[nodiscard]] std::string key(const Kind& kind, std::string_view name) const;
  [[nodiscard]] std::string path(const Kind& kind, std::string_view name) const;
  Request about(const Kind& kind, std::string_view what, std::string_view method,
                std::string_view name);
  void add_write_options(Request& request);
  void add_selectors(const Kind& kind, Request& request);
  void vary_accept(Request& request);
  /// Damages it now and then, which the label tells.
  void set_body(Request& request, Value document);
  /// A few members to change, as a merge patch.
  Value change(const Kind& kind);

  Dice& dice_;
  std::string space_;
  int generated_ = 0;  ///< names, which then are in the same order on both servers
};

}  // namespace kube::differential

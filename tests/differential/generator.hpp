// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dice.hpp"
#include "kinds.hpp"
#include "request.hpp"

#include <string>
#include <vector>

namespace kube::differential {

/// Generates requests about a few objects of each kind in one namespace, most of them valid.
class Generator {
 public:
  /// Cluster-scoped objects have names that begin with `space`, and a label "space".
  Generator(Dice& dice, std::string space) : dice_(dice), space_(std::move(space)) {}

  [[nodiscard]] Request next();
  /// Returns the requests that every run includes.
  [[nodiscard]] std::vector<Request> directed() const;
  /// Returns watches from the creation of the namespace on.
  [[nodiscard]] std::vector<Request> watches();
  /// Returns requests that delete the remaining objects.
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
  /// Sets the body, occasionally corrupted; the label records that.
  void set_body(Request& request, Value document);
  /// Returns a merge patch that changes a few members.
  Value change(const Kind& kind);

  Dice& dice_;
  std::string space_;
  int generated_ = 0;  ///< counter for names, which sort alike on both servers
};

}  // namespace kube::differential

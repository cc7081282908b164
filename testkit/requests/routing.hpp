// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// What a path says, before anybody knows whether there is such a thing (RQ-1 to RQ-3).
struct Route {
  bool is_resource = false;
  std::string verb;  ///< of the API, or the method in lower case
  std::string group;
  std::string version;
  std::string namespace_;
  std::string resource;
  std::string name;
  std::string subresource;
  bool watch_prefix = false;  ///< the old /watch/ form
  bool malformed = false;     ///< empty or surplus parts
  /// The name that authorization sees: also that of a list of one (SL-5).
  std::string authorized_name;

  static Route parse(std::string_view method, const RequestUrl& url);
};

}  // namespace kube::testkit::detail

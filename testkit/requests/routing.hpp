// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "testkit/http/url.hpp"

namespace kube::testkit::detail {

/// A parsed path, before resources are looked up in the catalog (RQ-1 to RQ-3).
struct Route {
  bool is_resource = false;
  std::string verb;  ///< an API verb, or the method in lower case
  std::string group;
  std::string version;
  std::string namespace_;
  std::string resource;
  std::string name;
  std::string subresource;
  bool watch_prefix = false;  ///< the deprecated /watch/ form
  bool malformed = false;     ///< empty or surplus segments
  /// The name for authorization: also set for a list restricted to one name (SL-5).
  std::string authorized_name;

  static Route parse(std::string_view method, const RequestUrl& url);
};

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace kube {

/// A failure inside an informer or its cache, which go on: they try again, or leave out what failed.
struct CacheError {
  enum class Place : std::uint8_t {
    kListWatch,  ///< a list failed, or a watch could not be opened; the informer tries again
    kProcessing,  ///< changes could not be applied, for instance for the lack of memory; the informer tries again
    kIndex,  ///< an index function threw: the object is stored, but found under no value of that index
    kHandler,  ///< a handler threw; it is called again for the next change
  };
  Place place = Place::kListWatch;
  std::string name = {};     ///< of the informer, index or handler
  std::string key = {};      ///< of the object, if it is about one: "namespace/name"
  std::string message = {};  ///< the text of the exception
  /// The exception itself, to be rethrown and examined; may be null.
  std::exception_ptr cause = nullptr;
};

}  // namespace kube

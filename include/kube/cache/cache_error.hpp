// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace kube {

/// A failure inside an informer or its cache that does not stop it: the operation is retried, or
/// the object that failed is skipped.
struct CacheError {
  /// The part in which the failure happened.
  enum class Place : std::uint8_t {
    kListWatch,  ///< a list failed, or a watch could not be opened; the informer tries again
    /// changes could not be applied, for instance for lack of memory; the informer tries again
    kProcessing,
    kIndex,  ///< an index function threw; the object is stored, but no value of that index finds it
    kHandler,  ///< a handler threw; it is called again for the next change
  };
  Place place = Place::kListWatch;
  std::string name = {};     ///< name of the informer, index or handler
  std::string key = {};      ///< "namespace/name" of the object, if the failure concerns one
  std::string message = {};  ///< the text of the exception
  /// The exception itself, to be rethrown and examined; may be null.
  std::exception_ptr cause = nullptr;
};

}  // namespace kube

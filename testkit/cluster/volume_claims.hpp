// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Gives a new claim that names a data source in one field the other one, too, and drops a source of a kind that
/// nothing can be made from.
void normalize_data_sources(Value& claim);

/// Refuses to let a claim grow whose storage class does not allow it (403). `live` and `next` are claims whose
/// change is valid otherwise.
void check_expansion(Store& store, const Value& live, const Value& next);

}  // namespace kube::testkit::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kube/object/value.hpp>

#include "testkit/store/store.hpp"

namespace kube::testkit::detail {

/// Copies the data source of a new claim between dataSource and dataSourceRef. Drops sources of
/// unsupported kinds.
void normalize_data_sources(Value& claim);

/// Throws ApiError 403 if a claim grows whose storage class does not allow expansion. `live` and
/// `next` are claims whose change is otherwise valid.
void check_expansion(Store& store, const Value& live, const Value& next);

}  // namespace kube::testkit::detail

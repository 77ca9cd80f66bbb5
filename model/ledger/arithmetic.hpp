// What a scheme adds besides traffic: aggregations over depth, parameters, operations.
#pragma once

#include "model/ledger/ledger.hpp"

namespace depthcost {

/// Attention over depth; zeros for schemes that do not attend.
Aggregation aggregation(const ResidualPath& path);

/// Parameters of the residual path alone.
struct Parameters {
  double per_layer = 0;
  double total = 0;  // with the output aggregation
};

/// The sum of what the scheme's row says of each layer, and of its output. Zeros where the row
/// leaves it open.
Parameters parameters(const ResidualPath& path, double hidden_size);

/// Operations per token: 4 d per (query, source) pair and 3 d per normalised key for AttnRes, phi
/// and the mixes for mHC, d per addition for the standard residual. Without norms that every model
/// has.
Flops total_flops(const ResidualPath& path, Schedule schedule, double hidden_size);

}  // namespace depthcost

// What a scheme adds besides traffic: aggregations over depth, parameters, operations.
#pragma once

#include "model/schemes/ledger.hpp"

namespace depthcost {

/// Attention over depth, counted. `source_rows` includes the output aggregation, `sublayer_calls`
/// does not. All zero for schemes that do not attend.
struct Aggregation {
  Count sublayer_calls = 0;
  Count source_rows = 0;  // (query, source) pairs
  Count max_sources = 0;
  Count output_sources = 0;

  friend bool operator==(const Aggregation&, const Aggregation&) = default;
};

/// Full L(L+1)/2 pairs; Block sum over n of S n + S - 1. [attnres] Eq. 4, 6.
Aggregation aggregation(const ResidualPath& path);

/// Parameters of the residual path alone.
struct Parameters {
  double per_layer = 0;
  double total = 0;  // with the output aggregation
};

/// AttnRes: a query and an RMSNorm gain, 2 d per layer and 2 d for the output. [attnres] Sec. 5.
/// mHC: m d (m^2 + 2m) for phi, m^2 + 2m biases, 3 scales. [mhc] Eq. 7-8.
Parameters parameters(const ResidualPath& path, double hidden_size);

/// Operations per token: 4 d per (query, source) pair and 3 d per normalised key for AttnRes, phi
/// and the mixes for mHC, d per addition for the standard residual. Without norms that every model
/// has.
Flops total_flops(const ResidualPath& path, Schedule schedule, double hidden_size);

}  // namespace depthcost

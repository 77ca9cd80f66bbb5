// What a scheme hands over at every transition of a pipeline.
#pragma once

#include <vector>

#include "model/pipeline.hpp"
#include "model/scheme.hpp"

namespace depthcost {

/// In d-vectors per token: everything that the next chunk cannot do without: b_0 and unfinished
/// partial sums too.
PipelineTraffic scheme_payload(const PipelineLayout& layout, const Scheme& scheme, Cache cache);

/// Layers of each block that the event enumeration moves; empty for schemes without a bank.
std::vector<Count> bank_block_sizes(const Scheme& scheme);

}  // namespace depthcost

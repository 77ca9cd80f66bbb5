// What a scheme hands over at every transition of a pipeline.
#pragma once

#include <vector>

#include "model/ledger/ledger.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// In d-vectors per token: everything that the next chunk cannot do without: b_0 and unfinished
/// partial sums too.
PipelineTraffic scheme_payload(const PipelineLayout& layout, const ResidualPath& path, Cache cache);

/// Bytes per token of so many d-vectors on the wire: training sends in its wire dtype, decode and
/// prefill in the model's.
Bytes payload_bytes(const Study& study, WorkloadKind workload, Count vectors);

/// The same for the study's workload that sends most.
Bytes largest_payload_bytes(const Study& study, Count vectors);

/// Layers of each block that the event enumeration moves; empty for schemes without a bank.
std::vector<Count> bank_block_sizes(const ResidualPath& path);

}  // namespace depthcost

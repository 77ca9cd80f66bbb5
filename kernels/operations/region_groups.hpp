// Rules that several operations share. Internal to the checks.
#pragma once

#include <string>

#include "kernels/operations/bf16.hpp"
#include "kernels/operations/mhc.hpp"
#include "kernels/operations/regions.hpp"

namespace depthcost {

template <class Op>
void check_stream_sizes(const Regions& regions, const Op& op) {
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.at_least_one("num_streams", op.num_streams);
}

template <class P>
void reads_mapping(Regions& regions, const BasicMhcMapping<P>& mapping, std::size_t num_streams,
                   std::size_t hidden_size) {
  const std::size_t num_rows = num_streams * (num_streams + 2);
  regions.at_least_one("iterations", mapping.iterations);
  regions.reads_inner("phi", mapping.phi, {num_rows, num_streams, hidden_size});
  regions.reads_inner("bias", mapping.bias, {num_rows});
}

/// Streams that take in a layer's output. `next_streams` may be `streams`.
template <class Op>
void adds_stream_update(Regions& regions, const Op& op) {
  const std::size_t m = op.num_streams;
  check_stream_sizes(regions, op);
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  if (op.next_streams != op.streams)
    regions.reads("streams", op.streams, {op.num_tokens, m, op.hidden_size});
  regions.writes("next_streams", op.next_streams, {op.num_tokens, m, op.hidden_size});
}

/// The bank has the rows that are attended to and, where one is written, a free row for it.
template <class Op>
void check_num_bank_sources(const Regions& regions, const Op& op) {
  if (op.num_bank_sources > op.num_bank_rows)
    regions.fail("num_bank_sources is " + std::to_string(op.num_bank_sources) +
                 " (must be at most num_bank_rows, " + std::to_string(op.num_bank_rows) + ")");
}
template <class Op>
void check_free_row(const Regions& regions, const Op& op) {
  if (op.bank_row < op.num_bank_sources || op.bank_row >= op.num_bank_rows)
    regions.fail("bank_row is not a free row (must be at least " +
                 std::to_string(op.num_bank_sources) + " and below " +
                 std::to_string(op.num_bank_rows) + ")");
}

/// The outputs, which `adds_outputs(regions)` names, overlap no row of the bank, free ones
/// included: a later call writes those.
template <class Op, class AddsOutputs>
void check_outputs_against_bank(Regions regions, const Op& op, const AddsOutputs& adds_outputs) {
  regions.reads("bank", op.bank, {op.num_bank_rows, op.num_tokens, op.hidden_size});
  adds_outputs(regions);
  regions.finish();
}

}  // namespace depthcost

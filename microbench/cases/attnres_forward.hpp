// The residual operations of a whole forward pass of Block AttnRes, without the layers. There is
// one bank and one partial sum, and f stands for the output of every layer.
#pragma once

#include "microbench/cases/attnres_cases.hpp"
#include "model/ledger/launches.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::bench {

template <class T>
struct AttnResForward {
  Partition blocks;
  std::size_t num_tokens = 0;
  std::size_t hidden_size = 0;
  T* bank = nullptr;                // (N, T, d): b_0 .. b_{N-1}
  T* partial_sum = nullptr;         // (T, d)
  const T* layer_output = nullptr;  // (T, d)
  const float* queries = nullptr;   // (S, d)
  const float* gain = nullptr;      // (d)
  T* output = nullptr;              // (T, d)
  T* phase1_outputs = nullptr;      // (S - 1, T, d)
  float* maxima = nullptr;          // (S - 1, T)
  float* sums = nullptr;            // (S - 1, T)
};

template <class T>
AttnResForward<T> attnres_forward(const Partition& blocks, const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const auto N = static_cast<std::size_t>(blocks.num_blocks);
  const auto S = static_cast<std::size_t>(largest_block(blocks));
  return {.blocks = blocks,
          .num_tokens = o.num_tokens(),
          .hidden_size = d,
          .bank = o.tensor<T>(N, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .queries = o.parameters(S * d, unit_norm(d)),
          .gain = o.parameters(d, kGain),
          .output = o.tensor<T>(1, d),
          .phase1_outputs = o.tensor<T>(S - 1, d),
          .maxima = o.tensor<float>(S - 1, 1),
          .sums = o.tensor<float>(S - 1, 1)};
}

/// The operation before layer `at`. The first layer of a block closes the block before. The second
/// layer's partial sum is f itself. Later layers add f to it.
template <class T>
AttnResSinglePass<T> single_pass_at(const AttnResForward<T>& pass, const LayerPosition& at) {
  const auto n = static_cast<std::size_t>(at.block);
  const bool closes = at.index == 1 && at.block > 1;
  AttnResSinglePass<T> op{
      .num_tokens = pass.num_tokens,
      .hidden_size = pass.hidden_size,
      .num_bank_rows = static_cast<std::size_t>(pass.blocks.num_blocks),
      .num_bank_sources = closes ? n - 1 : n,
      .bank = pass.bank,
      .query = pass.queries + static_cast<std::size_t>(at.index - 1) * pass.hidden_size,
      .norm = {.gain = pass.gain},
      .output = pass.output};
  if (closes || at.index > 1) op.partial_sum = pass.partial_sum;
  if (closes || at.index > 2) op.layer_output = pass.layer_output;
  if (closes) {
    op.store = SumStore::bank_row;
    op.bank_row = n - 1;
  }
  return op;
}

template <class T>
AttnResPhase1<T, T> phase1_at(const AttnResForward<T>& pass, const LayerPosition& at) {
  const auto n = static_cast<std::size_t>(at.block);
  const bool closes = at.block > 1;
  AttnResPhase1<T, T> op{.num_tokens = pass.num_tokens,
                         .hidden_size = pass.hidden_size,
                         .num_bank_rows = static_cast<std::size_t>(pass.blocks.num_blocks),
                         .num_bank_sources = closes ? n - 1 : n,
                         .num_queries = static_cast<std::size_t>(at.size),
                         .bank = pass.bank,
                         .queries = pass.queries,
                         .norm = {.gain = pass.gain},
                         .output = pass.output,
                         .outputs = pass.phase1_outputs,
                         .maxima = pass.maxima,
                         .sums = pass.sums};
  if (closes) {
    op.partial_sum = pass.partial_sum;
    op.layer_output = pass.layer_output;
    op.bank_row = n - 1;
  }
  return op;
}

/// Phase 1 after single_pass_at, which has closed the block before and computed the layer's input.
/// Query 1 is computed once more, into `unused`.
template <class T>
AttnResPhase1<T, T> later_queries_at(const AttnResForward<T>& pass, const LayerPosition& at,
                                     T* unused) {
  AttnResPhase1<T, T> op = phase1_at(pass, at);
  op.num_bank_sources = static_cast<std::size_t>(at.block);
  op.partial_sum = nullptr;
  op.layer_output = nullptr;
  op.bank_row = kNoRow;
  op.output = unused;
  return op;
}

template <class T>
AttnResPhase2<T, T> phase2_at(const AttnResForward<T>& pass, const LayerPosition& at) {
  const auto row = static_cast<std::size_t>(at.index - 2);
  return {.num_tokens = pass.num_tokens,
          .hidden_size = pass.hidden_size,
          .partial_sum = pass.partial_sum,
          .layer_output = at.index > 2 ? pass.layer_output : nullptr,
          .phase1_output = pass.phase1_outputs + row * pass.num_tokens * pass.hidden_size,
          .maximum = pass.maxima + row * pass.num_tokens,
          .sum = pass.sums + row * pass.num_tokens,
          .query = pass.queries + (row + 1) * pass.hidden_size,
          .norm = {.gain = pass.gain},
          .output = pass.output};
}

/// The operation after the last layer: it closes block N on chip.
template <class T>
AttnResSinglePass<T> output_aggregation(const AttnResForward<T>& pass) {
  const auto N = static_cast<std::size_t>(pass.blocks.num_blocks);
  return {.num_tokens = pass.num_tokens,
          .hidden_size = pass.hidden_size,
          .num_bank_rows = N,
          .num_bank_sources = N,
          .bank = pass.bank,
          .partial_sum = pass.partial_sum,
          .layer_output = pass.layer_output,
          .store = SumStore::nowhere,
          .query = pass.queries,
          .norm = {.gain = pass.gain},
          .output = pass.output};
}

/// Calls `run` with every operation in order. `schedule` is single_pass or two_phase. A block has
/// two layers at least.
template <class T, class Run>
void run_forward(const AttnResForward<T>& pass, Schedule schedule, const Run& run) {
  each_layer(pass.blocks, [&](const LayerPosition& at) {
    if (schedule == Schedule::single_pass)
      run(single_pass_at(pass, at));
    else if (at.index == 1)
      run(phase1_at(pass, at));
    else
      run(phase2_at(pass, at));
  });
  run(output_aggregation(pass));
}

/// The traffic of the pass per token, by the ledger.
inline Traffic forward_traffic(const Partition& blocks, Schedule schedule) {
  Traffic sum;
  each_launch({Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, blocks.num_layers}, schedule,
              [&](Count, const Operation& operation) { sum += traffic(operation); });
  return sum;
}

}  // namespace depthcost::bench

// Launches of AttnRes: one scan over all sources, or two phases; and what the ablations of
// [attnres] Table 4 change in them. REFERENCES.md, "operations".
#pragma once

#include <cassert>

#include "model/base/partition.hpp"
#include "model/operations/catalogue_entry.hpp"

namespace depthcost {

// Attention over depth costs 4 d per (query, source) pair, d multiply-adds for the score and d for
// the mix, and 3 d per normalised key (square, sum, scale). [ours] REFERENCES.md, "operations".
inline constexpr double kFlopsPerPair = 4;
inline constexpr double kFlopsPerKey = 3;

namespace operations {

// Elements of a query, in units of d. It holds the gain of the key norm too.
inline constexpr double kQuery_d = 1;

/// What a kernel reads and writes to have b_n^{i-1} at hand before layer i.
struct PartialSumAccess {
  double partial_reads = 0;
  double output_reads = 0;
  double partial_writes = 0;
};

/// Before the second layer b is f's own buffer; later b += f is folded into the reading kernel.
constexpr PartialSumAccess partial_sum_access(const LayerPosition& at) {
  if (at.index == 1) return {};
  if (at.index == 2) return {.output_reads = 1};
  return {.partial_reads = 1, .output_reads = 1, .partial_writes = 1};
}

/// Before the first layer of block n >= 2 the previous block is closed: b + f goes to the bank. A
/// block of one layer is f itself, which the layer has left in the bank already.
struct ClosingAccess {
  double partial_reads = 0;
  double output_reads = 0;
  double bank_writes = 0;
};

constexpr ClosingAccess closing_access(Count closed_block_size) {
  if (closed_block_size == 0) return {};
  if (closed_block_size == 1) return {.output_reads = 1};
  return {.partial_reads = 1, .output_reads = 1, .bank_writes = 1};
}

inline constexpr OperationId kAttnresSinglePass{"attnres_single_pass"};

/// Softmax-mix of the bank and the partial sum behind it; `written` is where the sum is stored. The
/// query, and the gain of the next norm.
constexpr Operation single_pass(Count sources, double bank_rows, double partial_reads,
                                double output_reads, Access written) {
  return {.id = kAttnresSinglePass,
          .sources = sources,
          .queries = 1,
          .accesses = {Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, partial_reads, 0},
                       Access{Operand::layer_output, output_reads, 0}, written,
                       Access{Operand::layer_input, 0, 1}},
          .flops_d = (kFlopsPerPair + kFlopsPerKey) * as_double(sources),
          .parameters_d = kQuery_d + kGain_d};
}

/// attnres_single_pass before layer l of Block AttnRes.
constexpr Operation block_single_pass(const LayerPosition& at) {
  if (at.index == 1) {
    const ClosingAccess closing = closing_access(at.previous_size);
    const double bank_rows = as_double(at.block) - (at.block == 1 ? 0 : 1);
    return single_pass(at.block, bank_rows, closing.partial_reads, closing.output_reads,
                       {Operand::bank, 0, closing.bank_writes});
  }
  const PartialSumAccess b = partial_sum_access(at);
  return single_pass(at.block + 1, as_double(at.block), b.partial_reads, b.output_reads,
                     {Operand::partial_sum, 0, b.partial_writes});
}

/// attnres_single_pass behind the last layer: closes block N on chip, mixes b_0 .. b_N.
constexpr Operation block_output(const Partition& blocks) {
  const ClosingAccess closing = closing_access(blocks.last_size);
  return single_pass(blocks.num_blocks + 1, as_double(blocks.num_blocks), closing.partial_reads,
                     closing.output_reads, {Operand::bank, 0, 0});
}

/// attnres_single_pass with n = l sources; the newest is the output of the layer before.
constexpr Operation full_single_pass(Count sources) {
  const double newest = sources == 1 ? 0 : 1;
  return single_pass(sources, as_double(sources) - newest, 0, newest, {Operand::bank, 0, 0});
}

inline constexpr OperationId kAttnresPhase1{"attnres_phase1"};

/// Phase 1: `queries` queries over `sources` rows. The first query's result is the layer input, the
/// others leave (o, m, l). Only the first query is waited for: n r, 1 w and the closing write. S
/// queries, and the gain of the first layer's norm.
constexpr Operation phase1(Count sources, Count queries, double bank_rows,
                           const ClosingAccess& closing) {
  const double stored = as_double(queries) - 1;
  return {
      .id = kAttnresPhase1,
      .unit = ExecutionUnit::tensor_cores,
      .sources = sources,
      .queries = queries,
      .accesses = {Access{Operand::bank, bank_rows, closing.bank_writes},
                   Access{Operand::partial_sum, closing.partial_reads, 0},
                   Access{Operand::layer_output, closing.output_reads, 0},
                   Access{Operand::layer_input, 0, 1}, Access{Operand::phase1_output, 0, stored}},
      .writes_scalars = 2 * stored,
      .flops_d = as_double(sources) * (kFlopsPerPair * as_double(queries) + kFlopsPerKey),
      .parameters_d = kQuery_d * as_double(queries) + kGain_d};
}

constexpr Operation block_phase1(const LayerPosition& at) {
  const double newest = at.block == 1 ? 0 : 1;
  return phase1(at.block, at.size, as_double(at.block) - newest, closing_access(at.previous_size));
}

constexpr Operation full_phase1(const LayerPosition& at) {
  const double newest = at.layer == 1 ? 0 : 1;
  return phase1(at.layer, at.size, as_double(at.layer) - newest, {.output_reads = newest});
}

inline constexpr OperationId kAttnresPhase2{"attnres_phase2"};

/// Phase 2: own sources are scored, then merged with (o, m, l) by online softmax. Algorithm 1,
/// lines 10-12. The layer's query and the gain of its norm.
constexpr Operation phase2(Count own_sources, double bank_rows, const PartialSumAccess& b) {
  return {.id = kAttnresPhase2,
          .sources = own_sources,
          .queries = 1,
          .accesses = {Access{Operand::phase1_output, 1, 0}, Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, b.partial_reads, b.partial_writes},
                       Access{Operand::layer_output, b.output_reads, 0},
                       Access{Operand::layer_input, 0, 1}},
          .reads_scalars = 2,
          .flops_d = (kFlopsPerPair + kFlopsPerKey) * as_double(own_sources),
          .parameters_d = kQuery_d + kGain_d};
}

constexpr Operation block_phase2(const LayerPosition& at) {
  return phase2(1, 0, partial_sum_access(at));
}

/// The i - 1 layers of the group that came before are sources, each in its own buffer.
constexpr Operation full_phase2(const LayerPosition& at) {
  return phase2(at.index - 1, as_double(at.index) - 2, {.output_reads = 1});
}

/// The partial sum is read and written in two places of the list: in one there is room for another.
constexpr void add_access(Operation& operation, const Access& added) {
  Accesses merged{};
  std::size_t used = 0;
  const auto merge = [&](const Access& access) {
    if (access.reads_d == 0 && access.writes_d == 0) return;
    for (std::size_t i = 0; i < used; ++i)
      if (merged[i].operand == access.operand) {
        merged[i].reads_d += access.reads_d;
        merged[i].writes_d += access.writes_d;
        return;
      }
    assert(used < merged.size());
    merged[used++] = access;
  };
  for (const Access& access : operation.accesses) merge(access);
  merge(added);
  operation.accesses = merged;
}

/// The query is a row of each token, which the launch before has made, and no parameter.
constexpr Operation with_token_query(Operation operation) {
  operation.parameters_d -= kQuery_d;
  add_access(operation, Access{Operand::recent, 1, 0});
  return operation;
}

/// Keys are not normalised. One launch that scores and mixes.
constexpr Operation with_raw_keys(Operation operation) {
  operation.flops_d -= kFlopsPerKey * as_double(operation.sources);
  return operation;
}

/// In the middle of block n: layer 3 adds f to b and attends to n bank rows beside it.
constexpr LayerPosition inside_block(const CallCounts& counts) {
  return {.block = counts.num_sources, .index = 3};
}

/// At the start of block n, where the one before is closed; before block 1 there is none.
constexpr LayerPosition start_of_block(Count block, Count size) {
  return {.block = block, .index = 1, .size = size, .previous_size = block == 1 ? 0 : size};
}

/// The mix is the output: no gain is read.
constexpr Operation without_norm(Operation operation) {
  operation.parameters_d -= kGain_d;
  return operation;
}

/// Blocks of more than one layer: a block of one is f itself and needs no closing.
inline constexpr Count kAnySize = 2;

inline constexpr std::array kAttnresEntries{
    CatalogueEntry{
        .name = kAttnresSinglePass.text,
        .meaning =
            "softmax-mix of n bank rows and b, Eq. 2-4, 6; update, bank write and norm on request",
        .moves = "n r, 1 w; with update n + 2 r, 2 w",
        .sources = "bank rows, beside the partial sum",
        .operation = [](const CallCounts& c) { return block_single_pass(inside_block(c)); }},
    CatalogueEntry{.name = "attnres_single_pass/bare",
                   .sources = "finished sources: no update, no norm",
                   .operation =
                       [](const CallCounts& c) {
                         return without_norm(
                             single_pass(c.num_sources, as_double(c.num_sources), 0, 0, {}));
                       }},
    CatalogueEntry{.name = "attnres_single_pass/closing",
                   .sources = "bank rows, beside the one that is written",
                   .operation =
                       [](const CallCounts& c) {
                         return block_single_pass(start_of_block(c.num_sources + 1, kAnySize));
                       }},
    CatalogueEntry{
        .name = "attnres_single_pass/sigmoid",
        .sources = "bank rows, beside the partial sum",
        .operation = [](const CallCounts& c) { return block_single_pass(inside_block(c)); }},
    CatalogueEntry{
        .name = "attnres_single_pass/multihead",
        .sources = "bank rows, beside the partial sum",
        .operation = [](const CallCounts& c) { return block_single_pass(inside_block(c)); }},
    CatalogueEntry{
        .name = "attnres_single_pass/raw_keys",
        .sources = "bank rows, beside the partial sum",
        .operation =
            [](const CallCounts& c) { return with_raw_keys(block_single_pass(inside_block(c))); }},
    CatalogueEntry{.name = "attnres_single_pass/input_dependent",
                   .sources = "bank rows, beside the partial sum",
                   .operation =
                       [](const CallCounts& c) {
                         return with_token_query(block_single_pass(inside_block(c)));
                       }},
    CatalogueEntry{
        .name = "attnres_single_pass/sliding_window",
        .sources = "bank rows of the window, beside the layer's output",
        .operation = [](const CallCounts& c) { return full_single_pass(c.num_sources + 1); }},
    CatalogueEntry{.name = kAttnresPhase1.text,
                   .meaning = "S queries over n sources, Algorithm 1; closes the previous block",
                   .moves = "n r, S w; closing +1 r, +1 w",
                   .sources = "bank rows, with the one that is written",
                   .has_queries = true,
                   .operation =
                       [](const CallCounts& c) {
                         return block_phase1(start_of_block(c.num_sources, c.num_queries));
                       }},
    CatalogueEntry{.name = kAttnresPhase2.text,
                   .meaning = "scores of b, merged with (o, m, l), Algorithm 1 lines 10-12",
                   .moves = "3 r, 2 w; second layer 2 r, 1 w",
                   .operation = [](const CallCounts& c) { return block_phase2(inside_block(c)); }},
};

// Backward passes. Gradients of parameters are added up over all tokens and count nothing per
// token; a second launch adds up the slices of tokens. REFERENCES.md, "backward".

// A source takes 2 d for dh . v and 8 d for its gradient and its part of dw, beside those of the
// forward pass. [ours]
inline constexpr double kBackwardFlopsPerPair = 10;

inline constexpr OperationId kAttnresSinglePassBackward{"attnres_single_pass_backward"};

/// Sources and dx r once, their gradients r and w: (3n + 1) d. The query, and the gain of the norm.
constexpr Operation single_pass_backward(double bank_rows, double partial_sums) {
  const double n = bank_rows + partial_sums;
  return {.id = kAttnresSinglePassBackward,
          .sources = static_cast<Count>(n),
          .queries = 1,
          .accesses = {Access{Operand::bank, bank_rows, 0},
                       Access{Operand::partial_sum, partial_sums, 0},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::gradients, n, n}},
          .flops_d = (kFlopsPerPair + kFlopsPerKey + kBackwardFlopsPerPair) * n,
          .launches = 2,
          .parameters_d = kQuery_d + kGain_d};
}

inline constexpr OperationId kAttnresPhase1Backward{"attnres_phase1_backward"};

/// The bank and the gradients of S mixes r once, the bank's gradients r and w: (3n + S) d. log l
/// and dh . h of each query.
constexpr Operation phase1_backward(Count bank_rows, Count num_queries) {
  const double n = as_double(bank_rows);
  const double queries = as_double(num_queries);
  return {.id = kAttnresPhase1Backward,
          .unit = ExecutionUnit::tensor_cores,
          .sources = bank_rows,
          .queries = num_queries,
          .accesses = {Access{Operand::bank, n, 0}, Access{Operand::layer_output, queries, 0},
                       Access{Operand::gradients, n, n}},
          .reads_scalars = 2 * queries - 1,
          .flops_d = n * ((kFlopsPerPair + kBackwardFlopsPerPair) * queries + kFlopsPerKey),
          .launches = 2,
          .parameters_d = kQuery_d * queries + kGain_d};
}

inline constexpr OperationId kAttnresPhase2Backward{"attnres_phase2_backward"};

/// The partial sum, the mix and dx r, dh w; the partial sum's gradient r and w: 6 d. log l r, dh .
/// h w.
constexpr Operation phase2_backward() {
  return {.id = kAttnresPhase2Backward,
          .sources = 1,
          .queries = 1,
          .accesses = {Access{Operand::partial_sum, 1, 0}, Access{Operand::hidden_state, 1, 0},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::gradients, 1, 2}},
          .reads_scalars = 1,
          .writes_scalars = 1,
          .flops_d = kFlopsPerPair + kFlopsPerKey + kBackwardFlopsPerPair + 10,
          .launches = 2,
          .parameters_d = kQuery_d + kGain_d};
}

inline constexpr std::array kAttnresBackwardEntries{
    CatalogueEntry{
        .name = kAttnresSinglePassBackward.text,
        .meaning = "scores and mix made again; each source is read once",
        .moves = "2n + 1 r, n w",
        .sources = "bank rows, beside the partial sum",
        .operation =
            [](const CallCounts& c) { return single_pass_backward(as_double(c.num_sources), 1); }},
    CatalogueEntry{
        .name = kAttnresPhase1Backward.text,
        .meaning = "the bank's rows for all S queries of a block at once",
        .moves = "2n + S r, n w",
        .sources = "bank rows",
        .has_queries = true,
        .operation =
            [](const CallCounts& c) { return phase1_backward(c.num_sources, c.num_queries); }},
    CatalogueEntry{.name = kAttnresPhase2Backward.text,
                   .meaning = "of b and of the norm; dh and dh . h are left for Phase 1",
                   .moves = "4 r, 2 w",
                   .operation = [](const CallCounts&) { return phase2_backward(); }},
};

}  // namespace operations
}  // namespace depthcost

// What is measured: every operation with its operands, and the row of the model's ledger that says
// how many bytes it moves.
#pragma once

#include <cmath>
#include <string_view>

#include "kernels/operations/operations.hpp"
#include "microbench/operands.hpp"
#include "model/machine/catalogue.hpp"

namespace depthcost::bench {

/// T, d, and what Kimi K3 or DeepSeek-V4 have of the rest.
struct Shape {
  std::size_t num_tokens = 0;    // T
  std::size_t hidden_size = 0;   // d
  std::size_t num_blocks = 8;    // completed blocks with b_0: n
  std::size_t num_queries = 24;  // S
  std::size_t num_streams = 4;   // m
};

// Logits of a few units; streams that neither grow nor vanish from call to call.
inline Range unit_norm(std::size_t size) {
  const float bound = 1 / std::sqrt(static_cast<float>(size));
  return {-bound, bound};
}
inline Range mean_of(std::size_t count) {
  const float share = 1 / static_cast<float>(count);
  return {share, share};
}
inline constexpr Range kGain{0.5F, 1.5F};
inline constexpr Range kPositive{1, 2};

inline NextNorm next_norm(const Shape& s, Operands& o) {
  return {.gain = o.parameters(s.hidden_size, kGain)};
}

template <class T>
ResidualAdd<T> residual_add(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {o.num_tokens(), d, o.tensor<T>(1, d), o.tensor<T>(1, d)};
}

template <class T>
ResidualAddRmsNorm<T> residual_add_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .hidden_state = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// n + 1 finished sources: nothing to add, no norm.
template <class T>
AttnResSinglePass<T> single_pass_bare(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks + 1,
          .num_bank_sources = s.num_blocks + 1,
          .bank = o.tensor<T>(s.num_blocks + 1, d),
          .query = o.parameters(d, unit_norm(d)),
          .output = o.tensor<T>(1, d)};
}

/// n bank rows and b += f, then the norm.
template <class T>
AttnResSinglePass<T> single_pass(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks,
          .num_bank_sources = s.num_blocks,
          .bank = o.tensor<T>(s.num_blocks, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

/// Closes block n - 1, then S queries over n sources.
template <class T>
AttnResPhase1<T, T> phase1(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t stored = s.num_queries - 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_bank_rows = s.num_blocks,
          .num_bank_sources = s.num_blocks - 1,
          .num_queries = s.num_queries,
          .bank = o.tensor<T>(s.num_blocks, d),
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .bank_row = s.num_blocks - 1,
          .queries = o.parameters(s.num_queries * d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d),
          .outputs = o.tensor<T>(stored, d),
          .maxima = o.tensor<float>(stored, 1),
          .sums = o.tensor<float>(stored, 1)};
}

template <class T>
AttnResPhase2<T, T> phase2(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .partial_sum = o.tensor<T>(1, d),
          .layer_output = o.tensor<T>(1, d),
          .phase1_output = o.tensor<T>(1, d),
          .maximum = o.tensor<float>(1, 1),
          .sum = o.tensor<float>(1, 1, kPositive),
          .query = o.parameters(d, unit_norm(d)),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

inline MhcMapping mhc_mapping(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  const std::size_t inputs = m * s.hidden_size;
  const std::size_t coefficients = m * m + 2 * m;
  return {.phi = o.parameters(coefficients * inputs, unit_norm(inputs)),
          .bias = o.parameters(coefficients, {}),
          .scales = {1, 1, 1}};
}

template <class T>
MhcPre<T> mhc_pre(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .mapping = mhc_mapping(s, o),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m)};
}

/// In place, as a layer runs it.
template <class T>
MhcPost<T> mhc_post(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  T* streams = o.tensor<T>(1, m * s.hidden_size);
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = streams,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m, mean_of(m)),
          .next_streams = streams};
}

template <class T>
MhcBoundary<T> mhc_boundary(const Shape& s, Operands& o) {
  MhcBoundary<T> op{.post = mhc_post<T>(s, o),
                    .mapping = mhc_mapping(s, o),
                    .norm = next_norm(s, o),
                    .output = o.tensor<T>(1, s.hidden_size)};
  op.next_post = const_cast<float*>(op.post.post);
  op.next_residual = const_cast<float*>(op.post.residual);
  return op;
}

template <class T>
UnfusedRmsNorm<T> unfused_rmsnorm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .input = o.tensor<T>(1, d),
          .norm = next_norm(s, o),
          .output = o.tensor<T>(1, d)};
}

template <class T>
UnfusedStack<T> unfused_stack(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  const T* sources = o.tensor<T>(rows, d);
  return {o.num_tokens(), d, rows, o.row_pointers(sources, rows, d), o.tensor<T>(rows, d)};
}

template <class T>
UnfusedKeyNorm<T> unfused_key_norm(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .stack = o.tensor<T>(rows, d),
          .keys = o.tensor<T>(rows, d)};
}

template <class T>
UnfusedScores<T> unfused_scores(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .keys = o.tensor<T>(rows, d),
          .query = o.parameters(d, unit_norm(d)),
          .logits = o.tensor<float>(rows, 1)};
}

template <class T>
UnfusedMix<T> unfused_mix(const Shape& s, Operands& o) {
  const std::size_t d = s.hidden_size;
  const std::size_t rows = s.num_blocks + 1;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = d,
          .num_sources = rows,
          .stack = o.tensor<T>(rows, d),
          .logits = o.tensor<float>(rows, 1),
          .output = o.tensor<T>(1, d)};
}

template <class T>
UnfusedMhcCoefficients<T> unfused_mhc_coefficients(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .mapping = mhc_mapping(s, o),
          .pre = o.tensor<float>(1, m),
          .post = o.tensor<float>(1, m),
          .residual = o.tensor<float>(1, m * m)};
}

template <class T>
UnfusedMhcPre<T> unfused_mhc_pre(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .pre = o.tensor<float>(1, m),
          .output = o.tensor<T>(1, s.hidden_size)};
}

template <class T>
UnfusedMhcPost<T> unfused_mhc_post(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .layer_output = o.tensor<T>(1, s.hidden_size),
          .post = o.tensor<float>(1, m),
          .spread = o.tensor<T>(1, m * s.hidden_size)};
}

template <class T>
UnfusedMhcResidual<T> unfused_mhc_residual(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .streams = o.tensor<T>(1, m * s.hidden_size),
          .residual = o.tensor<float>(1, m * m),
          .mixed = o.tensor<T>(1, m * s.hidden_size)};
}

template <class T>
UnfusedMhcMerge<T> unfused_mhc_merge(const Shape& s, Operands& o) {
  const std::size_t m = s.num_streams;
  return {.num_tokens = o.num_tokens(),
          .hidden_size = s.hidden_size,
          .num_streams = m,
          .mixed = o.tensor<T>(1, m * s.hidden_size),
          .spread = o.tensor<T>(1, m * s.hidden_size),
          .next_streams = o.tensor<T>(1, m * s.hidden_size)};
}

/// n of the shape's bank, m and S, as the catalogue counts them.
inline CallCounts counts_of(const Shape& s) {
  return {.num_sources = static_cast<Count>(s.num_blocks),
          .num_queries = static_cast<Count>(s.num_queries),
          .num_streams = static_cast<Count>(s.num_streams)};
}

/// As above, with the partial sum among the sources.
inline CallCounts all_sources_of(const Shape& s) {
  CallCounts counts = counts_of(s);
  ++counts.num_sources;
  return counts;
}

/// Where the streams of a token are when mHC needs them for the second time.
enum class StreamsAgain { on_chip, from_memory };

/// The entry of the catalogue whose bytes an operation of mHC then moves.
inline std::string mhc_entry(std::string_view operation, StreamsAgain again) {
  return std::string(operation) + (again == StreamsAgain::on_chip ? "/on_chip" : "");
}

/// visit(name, model's row, make(shape, operands)) for every operation that a fused schedule runs
/// on d-vectors of T.
template <class T, class Visit>
void each_fused_case(const Shape& s, StreamsAgain again, const Visit& visit) {
  const auto visit_as = [&](std::string_view name, std::string_view entry, const CallCounts& counts,
                            auto make) { visit(name, catalogue_row(entry, counts), make); };
  const auto visit_it = [&](std::string_view name, auto make) {
    visit_as(name, name, counts_of(s), make);
  };
  visit_it("residual_add", residual_add<T>);
  visit_it("residual_add_rmsnorm", residual_add_rmsnorm<T>);
  visit_as("attnres_single_pass/bare", "attnres_single_pass/bare", all_sources_of(s),
           single_pass_bare<T>);
  visit_it("attnres_single_pass", single_pass<T>);
  visit_it("attnres_phase1", phase1<T>);
  visit_it("attnres_phase2", phase2<T>);
  visit_as("mhc_pre", mhc_entry("mhc_pre", again), counts_of(s), mhc_pre<T>);
  visit_it("mhc_post", mhc_post<T>);
  visit_as("mhc_boundary", mhc_entry("mhc_boundary", again), counts_of(s), mhc_boundary<T>);
}

/// As each_fused_case, for the pieces that a framework's eager mode launches.
template <class T, class Visit>
void each_unfused_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, all_sources_of(s)), make);
  };
  visit_it("unfused_rmsnorm", unfused_rmsnorm<T>);
  visit_it("unfused_stack", unfused_stack<T>);
  visit_it("unfused_key_norm", unfused_key_norm<T>);
  visit_it("unfused_scores", unfused_scores<T>);
  visit_it("unfused_mix", unfused_mix<T>);
  visit_it("unfused_mhc_coefficients", unfused_mhc_coefficients<T>);
  visit_it("unfused_mhc_pre", unfused_mhc_pre<T>);
  visit_it("unfused_mhc_post", unfused_mhc_post<T>);
  visit_it("unfused_mhc_residual", unfused_mhc_residual<T>);
  visit_it("unfused_mhc_merge", unfused_mhc_merge<T>);
}

}  // namespace depthcost::bench

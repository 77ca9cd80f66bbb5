// Each operation's passes, as its kernel in kernels/cpu goes about it.
#include "model/machine/core_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/machine/scan.hpp"
#include "model/operations/altup_operations.hpp"
#include "model/operations/dense_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/gated_residual_operations.hpp"
#include "model/operations/hyper_connection_operations.hpp"

namespace depthcost {
namespace {

constexpr CorePass streamed(Primitive primitive, double rows) {
  return {primitive, RowsOf::stream, rows};
}
constexpr CorePass kept(Primitive primitive, double rows) {
  return {primitive, RowsOf::cache, rows};
}

constexpr CorePass tiled(Primitive primitive, double rows) {
  return {primitive, RowsOf::tile, rows};
}

double reads_of(const Operation& operation, Operand operand) {
  double rows = 0;
  for (const Access& access : operation.accesses)
    if (access.operand == operand) rows += access.reads_d;
  return rows;
}

/// Rows that are read once for `outputs` sums of all of them: the first sum takes them in, the
/// others find them in registers, or in L1 where there are too many (with_held_inputs of
/// kernels/cpu).
struct StreamMapWork {
  CorePass taken_in;
  CorePass others;
};
constexpr StreamMapWork stream_map(double inputs, double outputs, RowsOf from) {
  const bool is_held = inputs == 1 || inputs == 4 || inputs == 5;
  const Primitive again = is_held ? Primitive::multiply : Primitive::mix;
  const RowsOf where = from == RowsOf::tile ? RowsOf::tile : RowsOf::registers;
  return {{Primitive::mix, from, inputs}, {again, where, inputs * (outputs - 1)}};
}

/// Rows of a register-tiled projection of m streams onto m^2 + 2m coefficients.
double projection_rows(double m) { return m * (m * m + 2 * m); }

/// A sum is scored as it is made, in the pass that adds. The norm is counted where a kernel alone
/// leaves it out, too: an operation does not say.
CoreWork single_pass_work(const Operation& operation) {
  const auto n = static_cast<double>(operation.sources);
  const double sums = reads_of(operation, Operand::partial_sum);
  const double token_queries = reads_of(operation, Operand::recent);
  return {.passes = {streamed(Primitive::score, n - sums), streamed(Primitive::add, sums),
                     kept(Primitive::mix, n), kept(Primitive::scale, 1),
                     tiled(Primitive::widen, token_queries)},
          .kept_rows = n};
}

/// Rows and parameters that a register tile works on are widened into scratch first.
CorePass widened(double rows) { return tiled(Primitive::widen, rows); }

/// Every (query, source) pair is one multiply-add for the score and one for the mix; rows are
/// widened for each of the two.
CoreWork phase1_work(const Operation& operation) {
  const auto n = static_cast<double>(operation.sources);
  const auto queries = static_cast<double>(operation.queries);
  return {.passes = {tiled(Primitive::multiply, 2 * n * queries), widened(2 * n),
                     streamed(Primitive::add, reads_of(operation, Operand::partial_sum)),
                     kept(Primitive::scale, 1)},
          .kept_rows = 1};
}

/// So few rows are mixed twice, for the norm and for its output, rather than kept in f32.
CoreWork phase2_work(const Operation& operation) {
  const auto own = static_cast<double>(operation.sources);
  const double sums = reads_of(operation, Operand::partial_sum);
  return {.passes = {streamed(Primitive::score, own - sums), streamed(Primitive::add, sums),
                     kept(Primitive::mix, 2 * (own + 1)), kept(Primitive::scale, 1)},
          .kept_rows = own + 1};
}

/// The mix takes the streams from where they are: from memory again, or kept.
CoreWork mhc_pre_work(double m, RowsOf mixed) {
  return {.passes = {tiled(Primitive::multiply, projection_rows(m)), widened(m),
                     CorePass{Primitive::mix, mixed, m}, kept(Primitive::scale, 1)},
          .kept_rows = mixed == RowsOf::cache ? m : 1,
          .tile_rows = projection_rows(m)};
}

/// The map works on columns that were fetched into L2 while those before them were projected.
CoreWork mhc_boundary_work(double m, RowsOf mixed) {
  CoreWork work = mhc_pre_work(m, mixed);
  const StreamMapWork update = stream_map(m + 1, m, RowsOf::tile);
  work.passes[4] = update.taken_in;
  work.passes[5] = update.others;
  return work;
}

/// Streams and their mix for the layer's input, made together; that input waits for its norm.
CoreWork hc_boundary_work(double m) {
  const StreamMapWork update = stream_map(m + 1, m, RowsOf::stream);
  return {
      .passes = {update.taken_in, update.others,
                 CorePass{Primitive::multiply, RowsOf::registers, m}, kept(Primitive::scale, 1)},
      .kept_rows = 1};
}

/// Like a boundary of mHC, but the map makes the mixes too. The mixes of a tile's tokens wait for
/// their norm.
CoreWork single_pass_mhc_work(double m) {
  const StreamMapWork update = stream_map(m + 1, m, RowsOf::tile);
  return {.passes = {tiled(Primitive::multiply, projection_rows(m)), widened(m), update.taken_in,
                     update.others, tiled(Primitive::multiply, m), tiled(Primitive::scale, 1)},
          .tile_rows = projection_rows(m)};
}

/// The mix waits for its norm.
CoreWork dense_mix_work(const Operation& operation) {
  return {.passes = {streamed(Primitive::mix, static_cast<double>(operation.sources)),
                     streamed(Primitive::add, reads_of(operation, Operand::hidden_state) +
                                                  reads_of(operation, Operand::partial_sum)),
                     kept(Primitive::scale, 1)},
          .kept_rows = 1};
}

CoreWork unfused_work(Primitive primitive, double rows) {
  return {.passes = {streamed(primitive, rows)}};
}

CoreWork map_work(double inputs, double outputs) {
  const StreamMapWork map = stream_map(inputs, outputs, RowsOf::stream);
  return {.passes = {map.taken_in, map.others}};
}

CoreWork norm_work(double rows) {
  return {.passes = {streamed(Primitive::score, rows), kept(Primitive::scale, rows)},
          .kept_rows = 1};
}

/// A row that is combined from h, f and others, and its norm, which waits for it. f is combined
/// wherever it comes from.
CoreWork scan_work(const Operation& operation) {
  double combined = 1;
  for (const Access& access : operation.accesses)
    if (access.operand != Operand::layer_output && access.operand != Operand::hidden_state)
      combined += access.reads_d;
  const double norms = operation.skeleton == Skeleton::row_reduction ? 1 : 0;
  return {.passes = {streamed(Primitive::add, combined), kept(Primitive::scale, norms)},
          .kept_rows = norms};
}

/// A row that takes a multiply-add for every two operations, and its norm.
CoreWork row_update_work(const Operation& operation) {
  return {.passes = {streamed(Primitive::mix, operation.flops_d / 2), kept(Primitive::scale, 1)},
          .kept_rows = 1};
}

/// A product with a matrix, by far most of what the launch does.
CoreWork product_work(const Operation& operation) {
  return {.passes = {tiled(Primitive::product, operation.flops_d / 2)},
          .tile_rows = operation.weights_d};
}

/// Streams are updated, normalised and put in order in front of the product.
CoreWork gate_down_work(const Operation& operation) {
  CoreWork work = product_work(operation);
  const auto n = static_cast<double>(operation.streams);
  work.passes[1] = streamed(Primitive::add, n);
  work.passes[2] = kept(Primitive::scale, n);
  work.kept_rows = 1;
  return work;
}

/// Streams are gated and mixed behind it.
CoreWork gate_mix_work(const Operation& operation) {
  CoreWork work = product_work(operation);
  work.passes[1] = streamed(Primitive::mix, static_cast<double>(operation.streams));
  return work;
}

/// A pass for the norm's two sums over the rows of the forward pass and dx, and one that makes the
/// gradients of all other operations.
CoreWork row_backward_work(const Operation& operation) {
  constexpr double kFlopsOfSums = 4;
  const double gradients = reads_of(operation, Operand::gradients);
  const double rows = traffic(operation).reads_d - gradients;
  return {.passes = {streamed(Primitive::score, 1), streamed(Primitive::mix, rows - 1),
                     kept(Primitive::mix, (operation.flops_d - kFlopsOfSums) / 2),
                     kept(Primitive::add, gradients)},
          .kept_rows = rows};
}

/// Scores, the mix, dh . v, and the gradient of each source with its part of dw.
CoreWork single_pass_backward_work(const Operation& operation) {
  const auto n = static_cast<double>(operation.sources);
  return {.passes = {streamed(Primitive::score, n), kept(Primitive::mix, 2 * n),
                     kept(Primitive::multiply, 3 * n), streamed(Primitive::add, n),
                     kept(Primitive::scale, 2)},
          .kept_rows = n};
}

/// Two dot products, two mixes and a part of dw for every pair of a source and a query.
CoreWork phase1_backward_work(const Operation& operation) {
  const auto n = static_cast<double>(operation.sources);
  const auto queries = static_cast<double>(operation.queries);
  return {.passes = {tiled(Primitive::multiply, 5 * n * queries), widened(2 * n + queries),
                     streamed(Primitive::add, n)},
          .kept_rows = n};
}

CoreWork phase2_backward_work(const Operation&) {
  return {
      .passes = {streamed(Primitive::score, 1), streamed(Primitive::mix, 2),
                 kept(Primitive::multiply, 2), kept(Primitive::mix, 4), kept(Primitive::add, 2)},
      .kept_rows = 3};
}

/// Every pair of a gradient and a row is a dot product, every gradient enters every row once.
CoreWork mhc_post_backward_work(const Operation& operation) {
  const auto m = static_cast<double>(operation.streams);
  return {.passes = {streamed(Primitive::mix, 2 * m + 1),
                     CorePass{Primitive::multiply, RowsOf::registers, 2 * m * (m + 1) - 2 * m - 1},
                     streamed(Primitive::add, m + 1)}};
}

CoreWork mhc_pre_backward_work(const Operation& operation) {
  const auto m = static_cast<double>(operation.streams);
  return {.passes = {tiled(Primitive::multiply, 3 * projection_rows(m)), widened(3 * m),
                     tiled(Primitive::mix, 3 * m), streamed(Primitive::add, m),
                     kept(Primitive::scale, 2)},
          .kept_rows = 1,
          .tile_rows = projection_rows(m)};
}

/// Both, dX' in scratch between them.
CoreWork mhc_boundary_backward_work(const Operation& operation) {
  const auto m = static_cast<double>(operation.streams);
  CoreWork work = mhc_pre_backward_work(operation);
  work.passes[5] = streamed(Primitive::mix, m + 1);
  work.passes[6] = {Primitive::multiply, RowsOf::registers, (m + 1) * (2 * m - 1)};
  work.passes[7] = streamed(Primitive::add, m + 1);
  return work;
}

/// Every row is read and used once.
CoreWork read_rows_work(const Operation& operation) {
  return unfused_work(Primitive::add, traffic(operation).reads_d);
}

double recent(const Operation& operation) { return reads_of(operation, Operand::recent); }
double streams(const Operation& operation) { return static_cast<double>(operation.streams); }

struct WorkOf {
  OperationId id;
  CoreWork (*work)(const Operation& operation) = nullptr;
};
using Op = const Operation&;

/// What is more than a scan.
constexpr std::array kWorks{
    WorkOf{operations::kAttnresSinglePass, single_pass_work},
    WorkOf{operations::kAttnresPhase1, phase1_work},
    WorkOf{operations::kAttnresPhase2, phase2_work},
    WorkOf{operations::kMhcPre,
           [](Op op) {
             const bool is_far = recent(op) > streams(op);
             return mhc_pre_work(streams(op), is_far ? RowsOf::stream : RowsOf::cache);
           }},
    WorkOf{operations::kMhcPost, [](Op op) { return map_work(streams(op) + 1, streams(op)); }},
    WorkOf{operations::kMhcBoundary,
           [](Op op) {
             const bool is_far = recent(op) > 0;
             return mhc_boundary_work(streams(op), is_far ? RowsOf::stream : RowsOf::cache);
           }},
    WorkOf{operations::kHcBoundary, [](Op op) { return hc_boundary_work(streams(op)); }},
    WorkOf{operations::kSinglePassMhc, [](Op op) { return single_pass_mhc_work(streams(op)); }},
    WorkOf{operations::kDenseMix, dense_mix_work},
    WorkOf{operations::kUnfusedMhcCoefficients,
           [](Op op) {
             const double phi = projection_rows(streams(op));
             return CoreWork{.passes = {tiled(Primitive::multiply, phi), widened(streams(op))},
                             .tile_rows = phi};
           }},
    WorkOf{operations::kUnfusedMhcPre,
           [](Op op) { return unfused_work(Primitive::mix, streams(op)); }},
    WorkOf{operations::kUnfusedMhcPost, [](Op op) { return map_work(1, streams(op)); }},
    WorkOf{operations::kUnfusedMhcResidual,
           [](Op op) { return map_work(streams(op), streams(op)); }},
    WorkOf{operations::kUnfusedMhcMerge,
           [](Op op) { return unfused_work(Primitive::add, streams(op)); }},
    WorkOf{operations::kUnfusedRmsnorm, [](Op op) { return norm_work(recent(op)); }},
    WorkOf{operations::kUnfusedKeyNorm, [](Op op) { return norm_work(recent(op)); }},
    WorkOf{operations::kUnfusedScores,
           [](Op op) { return unfused_work(Primitive::score, recent(op)); }},
    WorkOf{operations::kUnfusedMix, [](Op op) { return unfused_work(Primitive::mix, recent(op)); }},
    WorkOf{operations::kUnfusedStack,
           [](Op op) { return unfused_work(Primitive::add, reads_of(op, Operand::bank)); }},
    WorkOf{operations::kUnfusedElementwise, read_rows_work},
    WorkOf{operations::kRowUpdate, row_update_work},
    WorkOf{operations::kResidualScalingRmsnorm, row_update_work},
    WorkOf{operations::kAltupPredict, row_update_work},
    WorkOf{operations::kAltupLaurel, row_update_work},
    WorkOf{operations::kAltupMiddle, row_update_work},
    WorkOf{operations::kAltupCorrect, row_update_work},
    WorkOf{operations::kUnfusedProjection, product_work},
    WorkOf{operations::kGateApply, read_rows_work},
    WorkOf{operations::kGateMix, [](Op op) { return unfused_work(Primitive::mix, recent(op)); }},
    WorkOf{operations::kGateDown, product_work},
    WorkOf{operations::kGateDownSilu, product_work},
    WorkOf{operations::kGateUp, product_work},
    WorkOf{operations::kGateUpMix, gate_mix_work},
    WorkOf{operations::kGateApplyDown, gate_down_work},
    WorkOf{operations::kUnfusedGatedNorm, read_rows_work},
    WorkOf{operations::kUnfusedGateDown, product_work},
    WorkOf{operations::kUnfusedGateUp, product_work},
    WorkOf{operations::kUnfusedActivation, read_rows_work},
    WorkOf{operations::kUnfusedGateProduct, read_rows_work},
    WorkOf{operations::kUnfusedStreamMean, read_rows_work},
    WorkOf{operations::kAttnresSinglePassBackward, single_pass_backward_work},
    WorkOf{operations::kAttnresPhase1Backward, phase1_backward_work},
    WorkOf{operations::kAttnresPhase2Backward, phase2_backward_work},
    WorkOf{operations::kMhcPostBackward, mhc_post_backward_work},
    WorkOf{operations::kMhcPreBackward, mhc_pre_backward_work},
    WorkOf{operations::kMhcBoundaryBackward, mhc_boundary_backward_work},
    WorkOf{operations::kGateBoundary, gate_down_work},
};

Seconds rate_of(const Core& core, Primitive primitive, Dtype dtype, CoreLevel level) {
  const bool is_wide = bytes_per_element(dtype) >= bytes_per_element(Dtype::f32);
  for (const CoreRate& rate : core.rates)
    if (rate.primitive == primitive && rate.level == level && (rate.dtype == Dtype::f32) == is_wide)
      return rate.per_element.value;
  if (is_optional(primitive)) return rate_of(core, Primitive::multiply, dtype, level);
  return {};
}

}  // namespace

CoreWork core_work(const Operation& operation) {
  const auto found = std::find_if(kWorks.begin(), kWorks.end(),
                                  [&](const WorkOf& it) { return it.id == operation.id; });
  if (found != kWorks.end()) return found->work(operation);
  expect_scan(operation, "model/machine/core_work.cpp");
  return makes_gradients(operation) ? row_backward_work(operation) : scan_work(operation);
}

double tiles_of_thread(double tokens, double threads) {
  return std::ceil(tokens / threads / kTokensPerTile);
}

CoreTime core_time(const Core& core, const Operation& operation, double tokens, double hidden_size,
                   Dtype dtype) {
  const CoreWork work = core_work(operation);
  const bool stays_in_l1 = storage(work.kept_rows * hidden_size, dtype) <= core.first_level;
  CoreTime time{
      .beside = {}, .on_top = {}, .exposed = core.form == CoreForm::passes ? core.exposed : 0};
  for (const CorePass& pass : work.passes) {
    const bool is_far =
        pass.rows_of == RowsOf::tile || (pass.rows_of == RowsOf::cache && !stays_in_l1);
    const CoreLevel level = is_far ? CoreLevel::L2 : CoreLevel::L1;
    const Seconds seconds = (tokens * hidden_size * pass.rows / core.threads) *
                            rate_of(core, pass.primitive, dtype, level);
    const bool is_on_top = core.form == CoreForm::sum || (core.form == CoreForm::passes && is_far);
    Seconds& part = is_on_top ? time.on_top : time.beside;
    part += seconds;
  }
  const Seconds parameters =
      (tiles_of_thread(tokens, core.threads) * hidden_size * work.tile_rows) *
      rate_of(core, Primitive::widen, kParameterDtype, CoreLevel::L2);
  Seconds& part = core.form == CoreForm::max ? time.beside : time.on_top;
  part += parameters;
  return time;
}

}  // namespace depthcost

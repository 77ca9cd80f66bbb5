// Which operations are measured: for each its name, its operands, and the row of the model's
// catalogue that says how many bytes it moves.
#pragma once

#include <string_view>

#include "microbench/cases/altup_cases.hpp"
#include "microbench/cases/attnres_ablation_cases.hpp"
#include "microbench/cases/attnres_cases.hpp"
#include "microbench/cases/backward_cases.hpp"
#include "microbench/cases/dense_mix_cases.hpp"
#include "microbench/cases/eager_cases.hpp"
#include "microbench/cases/eager_gated_cases.hpp"
#include "microbench/cases/hyper_connection_cases.hpp"
#include "microbench/cases/row_cases.hpp"

namespace depthcost::bench {

/// visit(name, model's row, make(shape, operands)) for every operation that a fused schedule runs
/// on d-vectors of T.
template <class T, class Visit>
void each_fused_case(const Shape& s, StreamsAgain again, const Visit& visit) {
  const auto visit_as = [&](std::string_view name, std::string_view entry, const CallCounts& counts,
                            auto make) { visit(name, catalogue_row(entry, counts), make); };
  const auto visit_it = [&](std::string_view name, auto make) {
    visit_as(name, name, counts_of(s), make);
  };
// The name of a template cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
#define DEPTHCOST_VISIT(Op, name) \
  visit_as(#name, row_entry<T>(#name), counts_of(s), row_operation<Op<T>>);
  // NOLINTEND(bugprone-macro-parentheses)
  DEPTHCOST_RESIDUAL_OPERATIONS(DEPTHCOST_VISIT)
#undef DEPTHCOST_VISIT
  visit_as("attnres_single_pass/bare", "attnres_single_pass/bare", all_sources_of(s),
           single_pass_bare<T>);
  visit_it("attnres_single_pass", single_pass<T>);
  visit_it("attnres_phase1", phase1<T>);
  visit_it("attnres_phase2", phase2<T>);
  visit_as("mhc_pre", mhc_entry("mhc_pre", again), counts_of(s), mhc_pre<T>);
  visit_it("mhc_post", mhc_post<T>);
  visit_as("mhc_boundary", mhc_entry("mhc_boundary", again), counts_of(s), mhc_boundary<T>);
  visit_it("hc_boundary", hc_boundary<T>);
  visit_it("single_pass_mhc", single_pass_mhc<T>);
  visit_it("dense_mix", dense_mix<T>);
  visit_it("dense_mix/stream", dense_stream_mix<T>);
  visit_it("altup_predict", altup_predict<T>);
  visit_it("altup_laurel", altup_laurel<T>);
  visit_it("altup_middle", altup_middle<T>);
  visit_it("altup_correct", altup_correct<T>);
}

/// As each_fused_case, for the ablations of attnres_single_pass, each under its mechanism's name.
/// Input-independent mixing is dense_mix.
template <class T, class Visit>
void each_variant_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, counts_of(s)), make);
  };
  visit_it("attnres_single_pass/sigmoid", sigmoid_pass<T>);
  visit_it("attnres_single_pass/multihead", multihead_pass<T>);
  visit_it("attnres_single_pass/raw_keys", raw_keys_pass<T>);
  visit_it("attnres_single_pass/input_dependent", input_dependent_pass<T>);
  visit_it("attnres_single_pass/sliding_window", sliding_window_pass<T>);
}

/// As each_fused_case, for Gated Residual, whose shapes are those of the model that has it.
template <class T, class Visit>
void each_gated_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, counts_of(s)), make);
  };
  visit_it("gated_residual_apply_down", gated_apply_down<T>);
  visit_it("gated_residual_up_mix", gated_up_mix<T>);
}

/// The pieces of Gated Residual that a framework's eager mode launches.
template <class T, class Visit>
void each_eager_gated_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, counts_of(s)), make);
  };
  visit_it("unfused_gated_norm", unfused_gated_norm<T>);
  visit_it("unfused_gate_down", unfused_gate_down<T>);
  visit_it("unfused_gate_up", unfused_gate_up<T>);
  visit_it("unfused_activation", unfused_activation<T>);
  visit_it("unfused_gate_product", unfused_gate_product<T>);
  visit_it("unfused_stream_mean", unfused_stream_mean<T>);
}

/// As each_fused_case, for backward passes.
template <class T, class Visit>
void each_backward_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, counts_of(s)), make);
  };
// The name of a template cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses)
#define DEPTHCOST_VISIT(Op, name) visit_it(#name, row_operation<Op<T>>);
  // NOLINTEND(bugprone-macro-parentheses)
  DEPTHCOST_RESIDUAL_BACKWARD_OPERATIONS(DEPTHCOST_VISIT)
#undef DEPTHCOST_VISIT
  visit_it("attnres_single_pass_backward", single_pass_backward<T>);
  visit_it("attnres_phase1_backward", phase1_backward<T>);
  visit_it("attnres_phase2_backward", phase2_backward<T>);
  visit_it("mhc_post_backward", mhc_post_backward<T>);
  visit_it("mhc_pre_backward", mhc_pre_backward<T>);
  visit_it("mhc_boundary_backward", mhc_boundary_backward<T>);
}

/// As each_fused_case, for the pieces that a framework's eager mode launches.
template <class T, class Visit>
void each_unfused_case(const Shape& s, const Visit& visit) {
  const auto visit_it = [&](std::string_view name, auto make) {
    visit(name, catalogue_row(name, all_sources_of(s)), make);
  };
  visit_it("unfused_rmsnorm", row_operation<UnfusedRmsNorm<T>>);
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

// Names as they stand in reports, JSON and benchmarks.
#include "model/operations/operation.hpp"

namespace depthcost {

std::string_view name(OperationId id) {
  constexpr std::array names{
      "residual_add",
      "residual_add_rmsnorm",
      "attnres_single_pass",
      "attnres_phase1",
      "attnres_phase2",
      "mhc_pre",
      "mhc_post",
      "mhc_boundary",
      "unfused_rmsnorm",
      "unfused_stack",
      "unfused_key_norm",
      "unfused_scores",
      "unfused_mix",
      "unfused_mhc_coefficients",
      "unfused_mhc_pre",
      "unfused_mhc_post",
      "unfused_mhc_residual",
      "unfused_mhc_merge",
      "scaled_add_rmsnorm",
      "highway_rmsnorm",
      "hc_boundary",
      "single_pass_mhc",
      "dense_mix",
      "row_update",
      "unfused_elementwise",
      "unfused_projection",
  };
  static_assert(names.size() == kOperationIds);
  return names[static_cast<std::size_t>(id)];
}

std::string_view name(Attachment attachment) {
  constexpr std::array<std::string_view, 4> names{"standalone", "all_reduce", "reduce_scatter",
                                                  "gemm_epilogue"};
  return names[static_cast<std::size_t>(attachment)];
}

std::string_view name(Operand operand) {
  constexpr std::array names{"layer_output", "layer_input",   "hidden_state", "partial_sum",
                             "bank",         "phase1_output", "streams",      "recent"};
  static_assert(names.size() == static_cast<std::size_t>(Operand::recent) + 1);
  return names[static_cast<std::size_t>(operand)];
}

}  // namespace depthcost

// Hyper-connections whose coefficients come from the streams: mHC's launches with something else in
// place of phi.
#pragma once

#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "model/schemes/states.hpp"

namespace depthcost::scheme_parts {

inline constexpr std::array kStreamsOnly{kStreams};

inline double num_streams(const SchemeLayer& at) {
  return static_cast<double>(at.parameters.num_streams);
}

/// What [mhc] Table 2 counts for a boundary behind its coefficients, and the norm.
inline Launches merge_pieces(double m) {
  return {operations::unfused_mhc_pre(m), operations::rmsnorm(), operations::unfused_mhc_post(m),
          operations::unfused_mhc_residual(m), operations::unfused_mhc_merge(m)};
}

/// What stands in place of phi: coefficients a token, weights in units of d, and how often a token
/// uses each.
struct StreamProjection {
  double outputs = 0;
  double weights_d = 0;
  double uses = 1;
};

inline Operation projected(Operation operation, double m, const StreamProjection& by) {
  operation.flops_d += 2 * by.weights_d * by.uses - operations::mhc_projection_flops_d(m);
  operation.parameters_d += by.weights_d - operations::mhc_phi_d(m);
  operation.parameters += by.outputs - operations::mhc_coefficients(m);
  return operation;
}

inline Operation other_pre(double m, const StreamProjection& by) {
  Operation pre = projected(operations::mhc_pre(m), m, by);
  pre.id = operations::kRowUpdate;
  return pre;
}

inline Operation other_coefficients(double m, const StreamProjection& by) {
  Operation coefficients = projected(operations::unfused_mhc_coefficients(m), m, by);
  coefficients.id = operations::kUnfusedProjection;
  return coefficients;
}

inline Launches dynamic_streams(double m, const StreamProjection& by, Schedule schedule) {
  if (schedule == fused) return {operations::mhc_post(m), other_pre(m, by)};
  Launches all{other_coefficients(m, by)};
  for (const Operation& piece : merge_pieces(m)) all.push_back(piece);
  return all;
}

}  // namespace depthcost::scheme_parts

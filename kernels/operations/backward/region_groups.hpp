// Rules that several backward operations share. Internal to the checks.
#pragma once

#include "kernels/operations/region_groups.hpp"

namespace depthcost {

/// The norm's gain and its gradient, which are both there or neither.
template <class Op>
void updates_norm_gain(Regions& regions, const Op& op) {
  regions.both_or_none("gain", op.norm.gain, "gain_gradient", op.gain_gradient);
  if (op.norm.gain == nullptr) return;
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes_inner("gain_gradient", op.gain_gradient, {op.hidden_size});
}

template <class Op>
void writes_slices(Regions& regions, const Op& op) {
  regions.at_least_one("slices", op.slices.count);
  regions.writes("sums", op.slices.sums, {op.slices.count, num_parameters(op)});
}

}  // namespace depthcost

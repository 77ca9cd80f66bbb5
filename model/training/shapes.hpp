// Depth against width: what a training step costs if the model has fewer, wider layers or more,
// narrower ones at the same parameters, beside the losses that [attnres] Sec. 5.4.1 publishes of
// such shapes. REFERENCES.md, "shapes".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step/study.hpp"

namespace depthcost {

/// Validation losses of [attnres] Fig. 7 at one d / L_b, at the H / L_b of theirs that is nearest.
/// All their models have 0.23e9 active parameters and 6.5e19 FLOPs of training.
struct ShapeLosses {
  double heads_per_block = 0;
  double standard = 0;
  double attnres = 0;
};

/// Only where `width_per_block` is one of the five of Fig. 7.
std::optional<ShapeLosses> shape_losses(double width_per_block, double heads_per_block);

/// A model of `decoder_layers` with the study's parameters: every width is scaled alike, the hidden
/// size to a multiple of 16, others to one of 8; heads, experts and stages stay as many, and so do
/// blocks of AttnRes. The model must have an architecture. Throws Infeasible where stages or the
/// scheme need more layers.
Study shaped(const Study& study, Count decoder_layers);

/// Elements of all layers' weights, without embedding and head.
double layer_parameters(const Study& study);

/// One shape and its training step in the middle of all intervals.
struct TrainingShape {
  bool is_own = false;  // the study's
  Count decoder_layers = 0;
  Count hidden_size = 0;
  double width_per_block = 0;  // d / L_b as it was asked for, of the study's own as it is
  double heads_per_block = 0;
  double parameters = 0;
  std::string problem;  // why it cannot be; then nothing below counts
  Seconds step;
  double tokens_per_second = 0;
  Estimate<Seconds> added;  // by the residual path
  Estimate<double> overhead;
  Bytes memory;
  std::optional<ShapeLosses> losses;
};

/// The five d / L_b of Fig. 7 and the study's own, deepest first. Empty without a training step, a
/// machine or an architecture, and where a step was measured or written down: that is of one shape.
std::vector<TrainingShape> training_shapes(const Study& study);

}  // namespace depthcost

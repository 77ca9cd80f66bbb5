// What the layers of a training step keep for their backward passes, beside the residual path.
// REFERENCES.md, "memory of training".
#pragma once

#include <vector>

#include "model/pipeline/pipeline_order.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Elements that one decoder layer keeps for each token of its tensor ranks, on one of them: inputs
/// and outputs of its products, but for its normalised input, which the residual path keeps.
/// Attention keeps no scores: kernels make them again. [flash_attention]
double kept_elements(const Attention& attention, Count tensor);
double kept_elements(const Mlp& mlp, double hidden_size, Count tensor);

/// The most that each stage holds at a time, micro-batches in flight together. Layers that are
/// recomputed hold one decoder layer at a time, or where the backward pass is split, their chunk
/// from the gradients of its inputs to those of its weights. The last stage has the logits of a
/// micro-batch, in f32. The study must have a training step and an architecture.
std::vector<Bytes> layer_activations(const Study& study, const PipelineOrder& order);

}  // namespace depthcost

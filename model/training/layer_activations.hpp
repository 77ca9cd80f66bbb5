// What the layers of a training step keep for their backward passes, beside the residual path.
// REFERENCES.md, "memory of training".
#pragma once

#include <vector>

#include "model/pipeline/pipeline_order.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Elements of one token on one tensor rank.
struct KeptElements {
  double in_precision = 0;  // in the type of the products, which alone read them
  double in_dtype = 0;      // in the model's type
};

/// What one decoder layer keeps: inputs and outputs of its products, but for its normalised input,
/// which the residual path keeps. Attention keeps no scores: kernels make them again.
/// [flash_attention] `selective` keeps neither what MLA projects up nor products of gates, and with
/// fp8 products it keeps gates in fp8. arXiv:2412.19437 Sec. 3.2.3, 3.3.3
KeptElements kept_elements(const Attention& attention, Count tensor, LayerActivations layers);
KeptElements kept_elements(const Mlp& mlp, double hidden_size, Count tensor,
                           LayerActivations layers);

/// Weights with which MLA projects up, in one decoder layer on all ranks: `selective` multiplies
/// with them again.
double weights_projecting_up(const Attention& attention);

/// What layer_activations() adds up, of one micro-batch.
struct KeptOfLayers {
  Bytes of_layer;             // half a decoder layer, as the mean over all
  Bytes recomputed_of_layer;  // what such a layer has more, once it is made again
  Bytes recomputed;           // of one decoder layer, in its backward pass
  Bytes logits;               // on the last stage, in f32
};

KeptOfLayers kept_of_layers(const Study& study);

/// Layers of all micro-batches in flight together, where a stage holds most: those whose backward
/// pass is to come, and of a split backward pass those that were made again and wait for the
/// gradients of their weights.
struct LayersInFlight {
  Count kept = 0;
  Count recomputed = 0;
};

std::vector<LayersInFlight> layers_in_flight(const Study& study, const PipelineOrder& order);

/// The most that each stage holds at a time, micro-batches in flight together. What is made again
/// is there for one decoder layer at a time, or where the backward pass is split, for a chunk from
/// the gradients of its inputs to those of its weights. The last stage has the logits of a
/// micro-batch, in f32. The study must have a training step and an architecture.
std::vector<Bytes> layer_activations(const Study& study, const PipelineOrder& order);

}  // namespace depthcost

// A training step as work for the simulation: what every chunk computes, what crosses every
// boundary, and over which link. REFERENCES.md, "training".
#pragma once

#include <optional>
#include <vector>

#include "model/machine/time.hpp"
#include "model/pipeline/pipeline_simulation.hpp"
#include "model/schemes/activations.hpp"
#include "model/step/rest_of_step.hpp"
#include "model/step/study.hpp"

namespace depthcost {

/// Chunks and stages of a study; one of each without a pipeline.
PipelineLayout layout_of(const Study& study);

/// The layers of every chunk; the output aggregation is the last one's.
std::vector<ChunkOfLayers> chunks_of(const PipelineLayout& layout);

/// The order tables of the study's schedule with so many micro-batches. The study must have a
/// training step.
PipelineOrder training_order(const Study& study, Count num_micro_batches);

/// One forward pass of a micro-batch through all layers, as residual operations and as the layers
/// between them see it. The study must have a training step.
Workload training_workload(const Study& study);

/// Tokens of a micro-batch on one device, of the residual path.
double training_tokens(const Study& study);

/// The residual path of one chunk on one micro-batch.
struct ResidualWork {
  Seconds forward;
  Seconds backward;
  TimeTerms terms;  // of both
};

/// The residual work of every chunk, at one corner.
std::vector<ResidualWork> residual_work(const Study& study, const ResidualPath& path,
                                        Schedule schedule, const Corner& corner);

/// What a chunk's offloaded activations of one micro-batch take on the host link, once each way;
/// zero where nothing is offloaded. They cross it beside the chunk's work, which takes at least so
/// long.
std::vector<Seconds> offload_seconds(const Study& study, const ResidualPath& path,
                                     Schedule schedule, IntervalEnd end);

/// The layers of one chunk on one micro-batch, without the residual path.
struct LayerWork {
  Seconds forward;
  Seconds recompute;
  Seconds backward_input;
  Seconds backward_weight;
};

/// What the backward pass of attention's scores and mixes takes of their forward pass.
inline constexpr double kCoreBackward = 2.5;

/// `rest` is spread over the layers, its head over the last chunk. Gradients of inputs and those of
/// weights each take the arithmetic of a forward pass, but for attention's scores and mixes: 2.5
/// times theirs, all for inputs. The collectives of a backward pass join gradients of inputs, so
/// that a split backward pass runs them there. What is made again selectively takes the share of
/// attention's weights that it multiplies with; products of gates are elementwise, and take
/// nothing.
std::vector<LayerWork> layer_work(const Study& study, const RestOfStep& rest, IntervalEnd end);

/// d-vectors per token over every transition under the training step's cache.
std::vector<Count> payload_vectors(const Study& study, const ResidualPath& path);

/// Bytes of one micro-batch over every transition, forward and backward.
std::vector<Bytes> forward_messages(const Study& study, const ResidualPath& path);
std::vector<Bytes> backward_messages(const Study& study, const ResidualPath& path);

/// The link behind every chunk for messages of these sizes: inside a node or between nodes, as
/// stages of tensor x context x data ranks fill the nodes: all replicas of a stage are neighbours,
/// while each replica that serves has nodes of its own. Nothing where the hardware knows no sends.
std::optional<std::vector<StageLink>> stage_links(const Study& study,
                                                  const std::vector<Bytes>& messages);

}  // namespace depthcost

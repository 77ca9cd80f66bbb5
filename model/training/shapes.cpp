// A study for each shape, then its step.
#include "model/training/shapes.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/infeasible.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/figure7.hpp"
#include "model/training/throughput.hpp"
#include "model/training/training_memory.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

Count multiple_of(Count step, double width) {
  return std::max<Count>(step, step * static_cast<Count>(std::llround(width / as_double(step))));
}

/// All widths of one layer, times a factor.
class Widths {
 public:
  explicit Widths(double factor) : factor_(factor) {}

  void scale(Count& width) const { width = multiple_of(8, factor_ * as_double(width)); }
  void scale(std::optional<Count>& width) const {
    if (width) scale(*width);
  }
  void operator()(GroupedAttention& of) const { scale(of.head_dim); }
  void operator()(LatentAttention& of) const {
    scale(of.q_rank);
    for (Count* width : {&of.kv_rank, &of.nope_dim, &of.rope_dim, &of.value_dim}) scale(*width);
  }
  void operator()(LinearAttention& of) const {
    scale(of.head_dim);
    scale(of.key_dim);
    scale(of.gate_rank);
  }
  void operator()(CompressedAttention& of) const {
    for (Count* width : {&of.head_dim, &of.q_rank, &of.output_rank}) scale(*width);
  }
  void operator()(DenseMlp& of) const { scale(of.width); }
  void operator()(ExpertMlp& of) const {
    scale(of.width);
    scale(of.latent_width);
    scale(of.router_width);
  }

 private:
  double factor_;
};

/// Shares out `all` layers as the groups had them: whole parts, then the largest remainders, the
/// first of equal ones.
template <class Group>
void share_out(std::vector<Group>& groups, Count all) {
  Count before = 0;
  for (const Group& group : groups) before += group.num_decoder_layers;
  std::vector<std::pair<double, std::size_t>> remainders;
  Count left = all;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double exact =
        as_double(all) * as_double(groups[i].num_decoder_layers) / as_double(before);
    groups[i].num_decoder_layers = static_cast<Count>(exact);
    left -= groups[i].num_decoder_layers;
    remainders.emplace_back(as_double(groups[i].num_decoder_layers) - exact, i);
  }
  std::sort(remainders.begin(), remainders.end());
  for (Count i = 0; i < left; ++i)
    ++groups[remainders[static_cast<std::size_t>(i)].second].num_decoder_layers;
  std::erase_if(groups, [](const Group& group) { return group.num_decoder_layers == 0; });
}

/// As many blocks, of whole decoder layers.
void set_layers(ResidualPath& path, Count num_layers, Count hidden_size) {
  const Partition blocks = path.scheme.parameters.blocks;
  path.num_layers = num_layers;
  path.scheme.parameters.hidden_size = hidden_size;
  if (blocks.num_blocks == 0) return;
  const double size = as_double(num_layers) / as_double(blocks.num_blocks);
  const Count whole = blocks.block_size == 1 ? 1 : multiple_of(2, size);
  set_blocks(path.scheme.parameters, partition_by_size(num_layers, std::min(whole, num_layers)));
  if (const auto problem = parameter_problem(path.scheme, num_layers))
    throw Infeasible(std::string(problem->key) + " " + problem->reason);
}

Count num_decoder_layers(const Study& study) { return study.model.num_layers / 2; }

double heads_per_block(const Study& study) {
  return as_double(num_heads(study.model.architecture->attention.front().attention)) /
         as_double(num_decoder_layers(study));
}

void time_shape(const Study& study, TrainingShape& shape) {
  const StepRow row = TrainingSteps(study).row(study.path, study.schedule);
  shape.added = row.delta;
  if (row.overhead) shape.overhead = *row.overhead;
  if (!row.baseline_step) {
    shape.problem = row.missing;
    return;
  }
  shape.step = whole_step(row).value;
  shape.tokens_per_second = throughput(study, shape.step).tokens_per_second;
  for (const MemoryRow& part : training_memory_rows(study, study.path, study.schedule))
    shape.memory += part.bytes;
}

TrainingShape shape_of(const Study& study, double width_per_block) {
  TrainingShape shape{.decoder_layers = num_decoder_layers(study),
                      .hidden_size = study.model.hidden_size,
                      .width_per_block = width_per_block,
                      .heads_per_block = heads_per_block(study),
                      .parameters = layer_parameters(study),
                      .problem = {},
                      .losses = {}};
  shape.losses = shape_losses(width_per_block, shape.heads_per_block);
  time_shape(study, shape);
  return shape;
}

/// At the same parameters d^2 L_b stays.
TrainingShape shape_at(const Study& study, double width_per_block) {
  const double d = as_double(study.model.hidden_size);
  const double size = d * d * as_double(num_decoder_layers(study));
  const double depth = std::cbrt(size / (width_per_block * width_per_block));
  const Count decoder_layers = std::max<Count>(1, std::llround(depth));
  try {
    return shape_of(shaped(study, decoder_layers), width_per_block);
  } catch (const Infeasible& why) {
    return {.decoder_layers = decoder_layers,
            .hidden_size = multiple_of(16, std::sqrt(size / as_double(decoder_layers))),
            .width_per_block = width_per_block,
            .problem = why.what(),
            .losses = {}};
  }
}

}  // namespace

std::optional<ShapeLosses> shape_losses(double width_per_block, double heads_per_block) {
  const auto* width = std::find(kFigure7Widths.begin(), kFigure7Widths.end(), width_per_block);
  if (width == kFigure7Widths.end()) return std::nullopt;
  const auto* heads =
      std::min_element(kFigure7Heads.begin(), kFigure7Heads.end(), [&](double a, double b) {
        return std::abs(a - heads_per_block) < std::abs(b - heads_per_block);
      });
  const auto column = static_cast<std::size_t>(width - kFigure7Widths.begin());
  const auto row = static_cast<std::size_t>(heads - kFigure7Heads.begin());
  return ShapeLosses{*heads, kFigure7Baseline[row][column], kFigure7AttnRes[row][column]};
}

Study shaped(const Study& study, Count decoder_layers) {
  Study other = study;
  const double factor = std::sqrt(as_double(num_decoder_layers(study)) / as_double(decoder_layers));
  other.model.num_layers = 2 * decoder_layers;
  other.model.hidden_size = multiple_of(16, factor * as_double(study.model.hidden_size));
  const Widths widths(factor);
  for (AttentionLayers& layers : other.model.architecture->attention)
    std::visit(widths, layers.attention);
  for (MlpLayers& layers : other.model.architecture->mlp) std::visit(widths, layers.mlp);
  share_out(other.model.architecture->attention, decoder_layers);
  share_out(other.model.architecture->mlp, decoder_layers);
  other.scheme_parameters.hidden_size = other.model.hidden_size;
  set_layers(other.path, other.model.num_layers, other.model.hidden_size);
  other.compare.clear();
  if (!study.pipeline) return other;
  const PipelineLayout& layout = *study.pipeline;
  if (layout.num_stages * layout.num_virtual_stages > decoder_layers)
    throw Infeasible("it has fewer decoder layers than the pipeline has chunks");
  other.pipeline = even_layout(layout.num_stages, layout.num_virtual_stages, decoder_layers, 2);
  return other;
}

double layer_parameters(const Study& study) {
  Study whole = as_trained(study);
  whole.pipeline.reset();
  whole.tensor_parallel_size = whole.expert_parallel_size = 1;
  const DeviceParameters parameters = device_parameters(whole);
  return parameters.dense_layers() + parameters.experts;
}

std::vector<TrainingShape> training_shapes(const Study& study) {
  if (!study.training || !study.machine || !study.machine->tensor_rate ||
      !study.model.architecture || study.training->baseline_step || !study.written_terms.empty())
    return {};
  const double own_width =
      as_double(study.model.hidden_size) / as_double(num_decoder_layers(study));
  std::vector<TrainingShape> shapes{shape_of(study, own_width)};
  if (!shapes.front().problem.empty()) return {};
  shapes.front().is_own = true;
  for (const double width : kFigure7Widths)
    if (width != own_width) shapes.push_back(shape_at(study, width));
  std::sort(shapes.begin(), shapes.end(), [](const TrainingShape& a, const TrainingShape& b) {
    return a.width_per_block < b.width_per_block;
  });
  return shapes;
}

}  // namespace depthcost

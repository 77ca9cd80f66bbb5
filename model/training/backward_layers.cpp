// Each scheme's own backward pass; attention over depth from model/schemes/gradient_traffic.hpp.
#include "model/training/backward_layers.hpp"

#include "model/schemes/walk.hpp"

namespace depthcost {
namespace {

/// Backward of h += f; x = norm(h). The gradient of f is that of h.
///   fused     h, dx, dh r, dh w in one kernel
///   unfused   h, dx r, dn w; then dh, dn r, dh w
/// [ours]
constexpr BackwardLayer standard_layer(Schedule schedule) {
  if (schedule == Schedule::fused)
    return {{.activation_reads_d = 2, .gradient_reads_d = 1, .gradient_writes_d = 1}, 1};
  return {{.activation_reads_d = 2, .gradient_reads_d = 2, .gradient_writes_d = 2}, 2};
}

/// Backward of a boundary, m streams.
///   fused               (6m + 2) r, (3m + 1) w: post, pre and the projection of
///                       deepseek-ai/TileKernels tile_kernels/mhc, read off their signatures
///   two_pass, one_pass  (3m + 2) r, (m + 1) w: dX is carried along, gradients of coefficients wait
///                       for the second visit. [ours], the least that is possible
///   unfused             (9m + 4) r, (5m + 2) w: each kernel's own backward, and autograd's two
///                       additions to the gradient of X, which three kernels read. [ours]
constexpr BackwardLayer mhc_layer(double m, Schedule schedule) {
  if (schedule == Schedule::fused) return {{3 * m + 2, 3 * m, 3 * m + 1}, 3};
  if (schedule == Schedule::unfused) return {{4 * m + 4, 5 * m, 5 * m + 2}, 7};
  return {{2 * m + 2, m, m + 1}, 1};
}

/// Backward of eager attention over s sources, each kernel's own, and autograd's addition for every
/// source.
///   norm 2 r, 1 w; mix s + 1 r, s w; scores s r, s w; key norm 2s r, s w; their sum 2s r, s w;
///   unstack s r, s w; additions 2s r, s w
/// [ours]
constexpr BackwardLayer unfused_attnres_layer(double s) {
  return {
      {.activation_reads_d = 3 * s + 3, .gradient_reads_d = 6 * s, .gradient_writes_d = 6 * s + 1},
      6 + s};
}

/// The kernel itself and, under autograd, an addition for every source.
BackwardLayer fused_attnres_layer(Count sources, GradientAccumulation mode) {
  const double additions =
      mode == GradientAccumulation::autograd ? static_cast<double>(sources) : 0;
  return {one_read_backward(sources) + accumulation(mode, sources), 1 + additions};
}

/// What block_backward() says of a whole block, where it is moved: the bank's gradients when the
/// backward pass leaves the block, which is at its first layer.
BackwardLayer per_block_layer(const LayerPosition& at) {
  constexpr GradientAccumulation mode = GradientAccumulation::per_block;
  if (at.index == 1) {
    GradientTraffic bank = block_backward(mode, at.block, 1);
    bank.activation_reads_d += static_cast<double>(at.size - 1);
    return {bank, 1};
  }
  return {block_backward(mode, at.block, 2) + -1 * block_backward(mode, at.block, 1) +
              GradientTraffic{.activation_reads_d = -1},
          1};
}

class BackwardLayersOf {
 public:
  BackwardLayersOf(Count num_layers, Schedule schedule, GradientAccumulation accumulation)
      : num_layers_(static_cast<std::size_t>(num_layers)),
        schedule_(schedule),
        accumulation_(accumulation) {}

  std::vector<BackwardLayer> operator()(const Standard&) const {
    return alike(standard_layer(schedule_));
  }
  std::vector<BackwardLayer> operator()(const Mhc& scheme) const {
    return alike(mhc_layer(static_cast<double>(scheme.num_streams), schedule_));
  }
  std::vector<BackwardLayer> operator()(const MechanismScheme& scheme) const {
    refuse_training(scheme);
  }
  std::vector<BackwardLayer> operator()(const FullAttnRes& scheme) const {
    return (*this)(blocks_of_one_layer(scheme));
  }
  std::vector<BackwardLayer> operator()(const BlockAttnRes& scheme) const {
    std::vector<BackwardLayer> layers;
    layers.reserve(num_layers_ + 1);
    each_layer(scheme.blocks, [&](const LayerPosition& at) { layers.push_back(layer(at)); });
    // It runs first and finds no gradient to add to.
    const Count sources = scheme.blocks.num_blocks + 1;
    layers.push_back(schedule_ == Schedule::unfused
                         ? unfused_attnres_layer(static_cast<double>(sources))
                         : BackwardLayer{one_read_backward(sources), 1});
    return layers;
  }

 private:
  BackwardLayer layer(const LayerPosition& at) const {
    const Count sources = at.index == 1 ? at.block : at.block + 1;
    if (schedule_ == Schedule::unfused) return unfused_attnres_layer(static_cast<double>(sources));
    if (accumulation_ == GradientAccumulation::per_block) return per_block_layer(at);
    return fused_attnres_layer(sources, accumulation_);
  }

  std::vector<BackwardLayer> alike(const BackwardLayer& layer) const {
    std::vector<BackwardLayer> layers(num_layers_, layer);
    layers.push_back({});
    return layers;
  }

  std::size_t num_layers_;
  Schedule schedule_;
  GradientAccumulation accumulation_;
};

}  // namespace

std::vector<BackwardLayer> backward_layers(const ResidualPath& path, Schedule schedule,
                                           GradientAccumulation accumulation) {
  return std::visit(BackwardLayersOf{path.num_layers, schedule, accumulation}, path.scheme);
}

}  // namespace depthcost

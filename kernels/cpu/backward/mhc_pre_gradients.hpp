// Backward of mHC in front of a layer, for a tile of tokens: the mix, the mapping and its
// parameters. The tile's tokens share each chunk of phi's columns twice: for the projection, which
// is made again, and for the gradients. Included once per Highway target, hence the toggle in place
// of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_PRE_GRADIENTS) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_PRE_GRADIENTS
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_PRE_GRADIENTS
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_PRE_GRADIENTS
#endif

#include "kernels/cpu/backward/mhc_gradients.hpp"
#include "kernels/cpu/backward/norm_backward.hpp"
#include "kernels/cpu/primitives/mhc_coefficients.hpp"
#include "kernels/cpu/primitives/stored_streams.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

struct MhcBackwardWorkspace {
  MhcWorkspace forward;
  Buffer<float> mixes;
  Buffer<float> streams;
  Buffer<float> dots;
  Buffer<float> pre;
  Buffer<NormBackward> norms;
  Buffer<float> of_stream;
};

/// One call's arguments, and scratch for a tile of tokens.
template <class T>
struct PreTile {
  const MhcPreBackward<T>& op;
  MhcTile forward;                // z, by partial sums
  float* mixes = nullptr;         // du (tokens, kMhcColumns)
  float* streams = nullptr;       // X (tokens, m, kMhcColumns)
  float* dots = nullptr;          // u . X_j and (g o dx) . X_j of one token: (2, m) blocks
  float* pre = nullptr;           // H_pre (tokens, m)
  NormBackward* norms = nullptr;  // (tokens)
  float* of_stream = nullptr;     // (tokens): -(dz . z) / (m d R^2)

  std::size_t num_rows() const { return num_mapping_rows(op.num_streams); }
  const T* stream(std::size_t i, std::size_t j) const {
    return op.streams + ((forward.first_token + i) * op.num_streams + j) * op.hidden_size;
  }
  T* gradient(std::size_t i, std::size_t j) const {
    return op.gradients + ((forward.first_token + i) * op.num_streams + j) * op.hidden_size;
  }
  const T* dx(std::size_t i) const {
    return op.output_gradient + (forward.first_token + i) * op.hidden_size;
  }
  /// dz / R
  float* projection(std::size_t i) const {
    return op.projection_gradients + (forward.first_token + i) * num_rows();
  }
};

/// The slice's row: gradients of all parameters.
template <class T>
struct PreParameterSums {
  float* phi;
  float* bias;
  float* scales;
  float* gain;

  PreParameterSums(const MhcPreBackward<T>& op, float* sums)
      : phi(sums),
        bias(phi + num_mapping_rows(op.num_streams) * op.num_streams * op.hidden_size),
        scales(bias + num_mapping_rows(op.num_streams)),
        gain(scales + 3) {}
};

/// z of a token in double, and 1 / R.
template <class T>
double projected(const PreTile<T>& tile, std::size_t i, std::vector<double>& z) {
  const std::size_t rows = tile.num_rows();
  const float squares = sum(load_raw(tile.forward.squares + i * kBlock));
  const double inverse =
      inverse_rms(squares, tile.op.num_streams * tile.op.hidden_size, tile.op.mapping.eps);
  for (std::size_t r = 0; r < rows; ++r)
    z[r] =
        inverse * static_cast<double>(sum(load_vec(tile.forward.dots + (i * rows + r) * kLanes)));
  return inverse;
}

/// u of a block, and (g o dx), from what is stored.
template <class T, class Where>
HWY_INLINE Pair mixed(const PreTile<T>& tile, std::size_t i, std::size_t at, Where where) {
  Pair u = zeros();
  for (std::size_t j = 0; j < tile.op.num_streams; ++j)
    u = multiply_add(broadcast(tile.pre[i * tile.op.num_streams + j]),
                     load(tile.stream(i, j) + at, where), u);
  return u;
}
template <class T, class Where>
HWY_INLINE Pair gained(const PreTile<T>& tile, std::size_t i, std::size_t at, Where where) {
  const Pair dx = load(tile.dx(i) + at, where);
  return tile.op.norm.gain == nullptr ? dx : load_for<T>(tile.op.norm.gain + at, where) * dx;
}

/// dH_pre of a token, and its norm: du . X_j = gain_scale (g o dx) . X_j + row_scale u . X_j.
template <class T>
HWY_INLINE void mix_pre_gradients(const PreTile<T>& tile, std::size_t i, double* of_pre) {
  const std::size_t m = tile.op.num_streams;
  float* with_mix = tile.dots;
  float* with_gradient = tile.dots + m * kBlock;
  clear(tile.dots, 2 * m * kBlock);
  for_each_block(tile.op.hidden_size, [&](std::size_t at, auto where) HWY_ATTR {
    const Pair u = mixed(tile, i, at, where);
    const Pair gradient = gained(tile, i, at, where);
    for (std::size_t j = 0; j < m; ++j) {
      const Pair x = load(tile.stream(i, j) + at, where);
      add_raw(with_mix + j * kBlock, u * x);
      add_raw(with_gradient + j * kBlock, gradient * x);
    }
  });
  const auto dot = [](const float* sums, std::size_t j)
                       HWY_ATTR { return static_cast<double>(sum(load_raw(sums + j * kBlock))); };
  NormBackward norm;
  if (tile.op.norm.gain != nullptr) {
    double squares = 0;
    double along = 0;
    for (std::size_t j = 0; j < m; ++j) {
      squares += static_cast<double>(tile.pre[i * m + j]) * dot(with_mix, j);
      along += static_cast<double>(tile.pre[i * m + j]) * dot(with_gradient, j);
    }
    norm = norm_backward(static_cast<float>(squares), static_cast<float>(along),
                         tile.op.hidden_size, tile.op.norm.eps);
  }
  tile.norms[i] = norm;
  for (std::size_t j = 0; j < m; ++j)
    of_pre[j] = static_cast<double>(norm.gain_scale) * dot(with_gradient, j) +
                static_cast<double>(norm.row_scale) * dot(with_mix, j);
}

inline double sigmoid_in_double(double z) { return 1 / (1 + std::exp(-z)); }

/// Scratch of one token's scalars.
struct PreScalars {
  std::vector<double> z;
  std::vector<double> logits;
  std::vector<double> gradients;  // of the coefficients, then of the logits
  SinkhornGradient sinkhorn;

  PreScalars(std::size_t m, const MhcMapping& mapping)
      : z(num_mapping_rows(m)),
        logits(z.size()),
        gradients(z.size()),
        sinkhorn(m, mapping.iterations, mapping.order) {}
};

/// Makes one token's H_pre, the gradients of its logits, of bias and scales, and dz / R.
template <class T>
HWY_INLINE void map_pre_gradients(const PreTile<T>& tile, std::size_t i, PreScalars& scalars,
                                  const PreParameterSums<T>& sums) {
  const MhcPreBackward<T>& op = tile.op;
  const std::size_t m = op.num_streams;
  const std::size_t t = tile.forward.first_token + i;
  const auto scale = [&](std::size_t r) {
    return static_cast<double>(op.mapping.scales[std::min<std::size_t>(r / m, 2)]);
  };
  const double inverse = projected(tile, i, scalars.z);
  for (std::size_t r = 0; r < scalars.z.size(); ++r)
    scalars.logits[r] = scale(r) * scalars.z[r] + static_cast<double>(op.mapping.bias[r]);
  for (std::size_t j = 0; j < m; ++j)
    tile.pre[i * m + j] = static_cast<float>(sigmoid_in_double(scalars.logits[j]));
  double* gradients = scalars.gradients.data();
  mix_pre_gradients(tile, i, gradients);
  std::copy_n(op.post_gradients + t * m, m, gradients + m);
  std::copy_n(op.residual_gradients + t * m * m, m * m, gradients + 2 * m);
  for (std::size_t r = 0; r < 2 * m; ++r) {
    const double gate = sigmoid_in_double(scalars.logits[r]);
    gradients[r] *= (r < m ? 1 : 2) * gate * (1 - gate);
  }
  scalars.sinkhorn.run(scalars.logits.data() + 2 * m, gradients + 2 * m);
  double along = 0;  // dz . z
  for (std::size_t r = 0; r < scalars.z.size(); ++r) {
    const double dz = gradients[r] * scale(r);
    along += dz * scalars.z[r];
    tile.projection(i)[r] = static_cast<float>(dz * inverse);
    sums.bias[r] += static_cast<float>(gradients[r]);
    sums.scales[std::min<std::size_t>(r / m, 2)] += static_cast<float>(gradients[r] * scalars.z[r]);
  }
  tile.of_stream[i] =
      static_cast<float>(-along * inverse * inverse / static_cast<double>(m * op.hidden_size));
}

struct ColumnChunk {
  std::size_t first = 0;
  std::size_t size = 0;
};

/// Leaves du and X over some columns, in order, and adds to the gain's gradient.
template <class T>
HWY_INLINE void widen(const PreTile<T>& tile, std::size_t i, ColumnChunk columns,
                      float* gain_sums) {
  const std::size_t m = tile.op.num_streams;
  const NormBackward norm = tile.norms[i];
  const Pair scale{broadcast(norm.gain_scale), broadcast(norm.gain_scale)};
  for_each_block(columns.size, [&](std::size_t at, auto where) HWY_ATTR {
    const std::size_t column = columns.first + at;
    Pair u = zeros();
    for (std::size_t j = 0; j < m; ++j) {
      const Pair x = load_in_order(tile.stream(i, j) + column, where);
      store_raw(tile.streams + (i * m + j) * kMhcColumns + at, x);
      u = multiply_add(broadcast(tile.pre[i * m + j]), x, u);
    }
    Pair du = load_in_order(tile.dx(i) + column, where);
    if (tile.op.norm.gain != nullptr) {
      float* sums = gain_sums + column;
      store(sums, multiply_add(scale * du, u, load(sums, where)), where, Cached{});
      du = norm_gradient(norm, load(tile.op.norm.gain + column, where) * du, u);
    }
    store_raw(tile.mixes + i * kMhcColumns + at, du);
  });
}

/// Tokens, or rows of phi, whose sums are made together.
inline constexpr std::size_t kPreSumGroup = 4;

/// dX_j of G tokens from `first` on, over some columns: leave(i, j, at, dX_j, where), in order.
template <class T, std::size_t G, class Leave>
HWY_INLINE void leave_streams(const PreTile<T>& tile, std::size_t first, std::size_t j,
                              ColumnChunk columns, const Leave& leave) {
  const std::size_t m = tile.op.num_streams;
  const std::size_t rows = tile.num_rows();
  const float* phi = tile.forward.phi + j * kMhcColumns;
  const float* dz = tile.projection(first);
  for_each_block(columns.size, [&](std::size_t at, auto where) DEPTHCOST_INLINED {
    Pair sums[G];
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) {
      const std::size_t i = first + g;
      sums[g] = load_in_order(tile.gradient(i, j) + columns.first + at, where);
      sums[g] = multiply_add(broadcast(tile.pre[i * m + j]),
                             load_raw(tile.mixes + i * kMhcColumns + at), sums[g]);
      sums[g] = multiply_add(broadcast(tile.of_stream[i]),
                             load_raw(tile.streams + (i * m + j) * kMhcColumns + at), sums[g]);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const Pair parameters = load_raw(phi + r * m * kMhcColumns + at);
      HWY_UNROLL(4)
      for (std::size_t g = 0; g < G; ++g)
        sums[g] = multiply_add(broadcast(dz[g * rows + r]), parameters, sums[g]);
    }
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) leave(first + g, j, at, sums[g], where);
  });
}

/// Adds dphi of G rows from `first` on, of stream j, over some columns.
template <class T, std::size_t G>
HWY_INLINE void leave_phi(const PreTile<T>& tile, std::size_t first, std::size_t j,
                          ColumnChunk columns, float* phi_sums) {
  const std::size_t m = tile.op.num_streams;
  const std::size_t stride = m * tile.op.hidden_size;
  const std::size_t rows = tile.num_rows();
  for_each_block(columns.size, [&](std::size_t at, auto where) DEPTHCOST_INLINED {
    float* to = phi_sums + first * stride + j * tile.op.hidden_size + columns.first + at;
    Pair sums[G];
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) sums[g] = load(to + g * stride, where);
    for (std::size_t i = 0; i < tile.forward.num_tokens; ++i) {
      const Pair x = load_raw(tile.streams + (i * m + j) * kMhcColumns + at);
      const float* dz = tile.projection(0) + i * rows + first;
      HWY_UNROLL(4)
      for (std::size_t g = 0; g < G; ++g) sums[g] = multiply_add(broadcast(dz[g]), x, sums[g]);
    }
    HWY_UNROLL(4)
    for (std::size_t g = 0; g < G; ++g) store(to + g * stride, sums[g], where, Cached{});
  });
}

/// Gradients of the streams and of phi over some columns, for leave_streams' `leave`; each stream's
/// when X_j of all tokens has been used.
template <class T, class Leave>
HWY_INLINE void leave_chunk(const PreTile<T>& tile, ColumnChunk columns,
                            const PreParameterSums<T>& sums, const Leave& leave) {
  copy_phi(tile.forward, columns.first, columns.size);
  for (std::size_t i = 0; i < tile.forward.num_tokens; ++i) widen(tile, i, columns, sums.gain);
  for (std::size_t j = 0; j < tile.op.num_streams; ++j) {
    for_each_group<kPreSumGroup>(tile.num_rows(), [&](std::size_t r, auto size) HWY_ATTR {
      leave_phi<T, size.value>(tile, r, j, columns, sums.phi);
    });
    for_each_group<kPreSumGroup>(tile.forward.num_tokens, [&](std::size_t i, auto size) HWY_ATTR {
      leave_streams<T, size.value>(tile, i, j, columns, leave);
    });
  }
}

/// run(columns) for chunk after chunk of a row.
template <class Run>
HWY_INLINE void for_each_chunk(std::size_t hidden_size, const Run& run) {
  for (std::size_t first = 0; first < hidden_size; first += kMhcColumns)
    run(ColumnChunk{first, std::min(kMhcColumns, hidden_size - first)});
}

template <class T>
HWY_INLINE PreTile<T> pre_tile(MhcBackwardWorkspace& workspace, const MhcPreBackward<T>& op) {
  const std::size_t m = op.num_streams;
  return {.op = op,
          .forward = mhc_tile(workspace.forward, op.hidden_size, m, op.mapping, {}),
          .mixes = workspace.mixes.at_least(kMhcTokens * kMhcColumns),
          .streams = workspace.streams.at_least(kMhcTokens * m * kMhcColumns),
          .dots = workspace.dots.at_least(2 * m * kBlock),
          .pre = workspace.pre.at_least(kMhcTokens * m),
          .norms = workspace.norms.at_least(kMhcTokens),
          .of_stream = workspace.of_stream.at_least(kMhcTokens)};
}

/// Makes the scalars of the tile that begins at token `first`.
template <class T>
HWY_INLINE void settle_tile(PreTile<T>& tile, std::size_t first, std::size_t count,
                            PreScalars& scalars, const PreParameterSums<T>& sums) {
  tile.forward.first_token = first;
  tile.forward.num_tokens = count;
  project_tile_of_tokens(
      tile.forward, StoredStreams<T>{tile.op.num_streams, tile.op.hidden_size, tile.op.streams});
  for (std::size_t i = 0; i < count; ++i) map_pre_gradients(tile, i, scalars, sums);
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_MHC_PRE_GRADIENTS

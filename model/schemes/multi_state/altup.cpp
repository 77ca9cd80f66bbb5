// AltUp with LAuReL of Gemma 3n: A copies of the stream, of which a decoder layer runs one. The
// others are predicted in front of it and corrected behind it. [altup]
//
//   entry    h_i = E_i h_0, rescaled to the size of h_0
//   predict  p_i = h_i + sum_j P_ij h_j, P = P_c m(h_0), m(x) = tanh(M RMSNorm(x) / d)
//   LAuReL   x = norm(p_0), l = x + norm(R L x)
//   middle   q = (p_0 + norm(attention(x)) + l) / sqrt 2, the MLP reads norm(q)
//   correct  a = q + norm(MLP), c = C m(a) + 1, h_i = p_i + c_i (a - p_0)
//   exit     mean of h_0 and U_i h_i, rescaled to the size of h_0
//
// Layers with an odd number are attention, with an even number the MLP. The per-layer embeddings
// that Gemma 3n adds to h_1 .. h_3 are no part of the rule, and not counted.
#include <fmt/format.h>

#include "model/operations/altup_operations.hpp"
#include "model/schemes/list.hpp"
#include "model/schemes/multi_state/streams.hpp"

namespace depthcost {
namespace {

using namespace scheme_parts;

constexpr std::array kAltupKeys{
    SchemeKey{"num_streams", &SchemeParameters::num_streams, "[altup] altup_num_inputs"},
    SchemeKey{"rank", &SchemeParameters::rank, "arXiv:2411.07501; Gemma 3n has 64"}};
constexpr std::array kFusedOnly{fused};

struct Altup {
  double A;  // copies
  double r;  // of LAuReL
  double d;

  explicit Altup(const SchemeLayer& at)
      : A(num_streams(at)), r(static_cast<double>(at.parameters.rank)), d(hidden_size(at)) {}
};

/// E_i or U_i, i = 1 .. A - 1: matrices of d x d.
double copies_d(const Altup& a) { return (a.A - 1) * a.d; }

/// h_1 .. h_{A-1} of the embedding, and their sizes.
Launches entry(const Altup& a) {
  Operation rescale = operations::unfused_elementwise(
      {reads(Operand::recent, a.A), writes(Operand::streams, a.A)}, 3 * a.A);
  rescale.skeleton = Skeleton::row_reduction;
  return {operations::unfused_projection(
              {reads(Operand::layer_output, 1), writes(Operand::recent, a.A - 1)}, copies_d(a)),
          rescale};
}

Launches decoder_layer(const SchemeLayer& at, Schedule) {
  const Altup a(at);
  if (at.layer % 2 == 0) return {operations::altup_middle()};
  Launches all = at.layer == 1 ? entry(a) : Launches{operations::altup_correct(a.A)};
  all.insert(all.end(), {operations::altup_predict(a.A), operations::altup_laurel(a.r)});
  return all;
}

Launches exit_of(const SchemeLayer& last, Schedule) {
  const Altup a(last);
  return {
      operations::altup_correct(a.A),
      operations::unfused_projection(
          {reads(Operand::streams, a.A - 1), writes(Operand::recent, a.A - 1)}, copies_d(a)),
      operations::row_update(
          {reads(Operand::streams, 1), reads(Operand::recent, a.A - 1), kWritesInput}, 5 * a.A)};
}

// The backward pass, kernel by kernel as forward, each with its floor. [ours]

/// p = (I + P(h_0)) h; x = norm(p_0): h, dx, the share of l in it and dp r, p made again; dh w.
BackwardLayer predict_backward(const Altup& a) { return backward_kernel(a.A + 1, a.A + 1, a.A); }

/// l = x + norm(R L x): x, dl r; its share of dx w.
BackwardLayer laurel_backward() { return backward_kernel(1, 1, 1); }

/// q = (p_0 + norm(f) + l) / sqrt 2; x = norm(q): q, f, dx, dq, dp_0 r; df, dl, dp_0 w.
BackwardLayer middle_backward() { return backward_kernel(3, 2, 3); }

/// a = q + norm(f), h_i = p_i + c_i(a) (a - p_0): q, f, p_0, dh r; dq, df, dp_0 w. That of p_i, i >
/// 0, is dh_i as it stands.
BackwardLayer correct_backward(const Altup& a) { return backward_kernel(3, a.A, 3); }

/// The rescaling of E_i h_0: h_0, the products, dh r; their gradients and dh_0 w. Then E^T adds to
/// dh_0.
BackwardLayer entry_backward(const Altup& a) {
  return backward_kernel(a.A, a.A, a.A) + projection_backward_into(1, a.A - 1);
}

/// The mean: h_0, the products, dx r; their gradients and dh_0 w. Then each U_i^T.
BackwardLayer exit_backward(const Altup& a) {
  return backward_kernel(a.A + 1, 0, a.A) + projection_backward(a.A - 1, a.A - 1);
}

BackwardLayer altup_backward(const SchemeLayer& at, Schedule, GradientAccumulation) {
  const Altup a(at);
  if (is_behind_last(at)) return correct_backward(a) + exit_backward(a);
  if (at.layer % 2 == 0) return middle_backward();
  const BackwardLayer before = at.layer == 1 ? entry_backward(a) : correct_backward(a);
  return before + predict_backward(a) + laurel_backward();
}

/// h and, behind a decoder layer, the MLP's output; in the middle attention's. From them the rest:
/// p_0, x and q; statistics of norms, modalities of the router, L x. A chunk that does not begin
/// with the embedding reads two rows made before it: p_0 with l, or with q.
SavedLayer altup_saved(const SchemeLayer& at, Schedule) {
  const Altup a(at);
  SavedLayer saved{.state = d_vectors(a.A + 1), .remade = loose_scalars(a.A + 2), .before = 2};
  if (is_behind_last(at)) {
    saved.remade = saved.remade + d_vectors(a.A - 1) + loose_scalars(a.A) + kNormOutput;
  } else if (at.layer % 2 == 0) {
    saved.state = d_vectors(1);
    saved.remade = kNormInput + kNormOutput + loose_scalars(1);
  } else {
    saved.remade = saved.remade + kNormInput + kNormOutput + loose_scalars(a.A + 2 + a.r);
  }
  if (at.layer > 1) return saved;
  // E_i h_0 and their sizes, in place of what corrects.
  return {.state = d_vectors(a.A), .remade = saved.remade + d_vectors(a.A - 1) + loose_scalars(-2)};
}

constexpr BackwardRule kAltupBackward{
    .moves =
        "a decoder layer: correct A + 3 r, 3 w; predict 2A + 2 r, A w; LAuReL 2 r, 1 w; middle 5 r, 3 w",
    .layer = altup_backward,
    .activations = layers_and_output_keep<altup_saved>};

/// A decoder layer's: M, its gain, the output scale, P_c and C; L, R and the gain behind them.
///   A d + 2 d + A^3 + A^2, and 2 r d + d
double altup_parameters(const SchemeLayer& at) {
  const Altup a(at);
  if (at.layer > at.num_layers) return copies_d(a) * a.d;
  const double of_entry = at.layer == 1 ? copies_d(a) * a.d : 0;
  if (at.layer % 2 == 0) return 0;
  return of_entry + (a.A + 2) * a.d + a.A * a.A * a.A + a.A * a.A + (2 * a.r + 1) * a.d;
}

/// Behind attention p_1 .. p_{A-1} wait, with p_0 and l for q.
double copies_kept(const SchemeLayer& at) {
  return at.layer % 2 == 0 ? num_streams(at) : num_streams(at) + 1;
}

std::optional<ParameterProblem> altup_problem(const SchemeLayer& last) {
  if (last.parameters.rank > last.parameters.hidden_size)
    return ParameterProblem{"rank", fmt::format("more than d = {}", last.parameters.hidden_size)};
  return streams_problem(last);
}

}  // namespace

const SchemeRule schemes::kAltup{
    .id = "altup",
    .label = "AltUp with LAuReL",
    .update = "p = h + P(h_0) h, a = block(p_0) with LAuReL, h_i = p_i + c_i(a) (a - p_0)",
    .file = "multi_state/altup.cpp",
    .source = "[altup]",
    .moves =
        "a decoder layer: predict A r, A + 1 w; LAuReL 1 r, 1 w; middle 3 r, 2 w; correct A + 2 r, "
        "A w",
    .reference = "altup.hpp",
    .unmixed = "norms stand between the copies and the sum",
    .kind = {StateKind::multi_state, WeightKind::dynamic},
    .keys = kAltupKeys,
    .schedules = kFusedOnly,
    .operations = decoder_layer,
    .state_d = copies_kept,
    .parameters = altup_parameters,
    .output = exit_of,
    .problem = altup_problem,
    .backward = &kAltupBackward};

}  // namespace depthcost

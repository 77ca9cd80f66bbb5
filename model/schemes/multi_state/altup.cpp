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
    .problem = altup_problem};

}  // namespace depthcost

// Attention Residuals, Full and Block. [attnres] arXiv:2603.15031v1, Eq. 2-6 and Algorithm 1.
#include "model/schemes/cross_layer/attnres.hpp"

#include <algorithm>

#include "model/schemes/backward_parts.hpp"
#include "model/schemes/cross_layer/attnres_counting.hpp"
#include "model/schemes/list.hpp"

namespace depthcost {

Launches scheme_parts::eager_attnres(Count sources) {
  const auto s = static_cast<double>(sources);
  return {operations::unfused_stack(s), operations::unfused_key_norm(s),
          operations::unfused_scores(s), operations::unfused_mix(s), operations::rmsnorm()};
}

Launches scheme_parts::block_attnres(const LayerPosition& at, Schedule schedule) {
  if (schedule == single_pass) return {operations::block_single_pass(at)};
  if (schedule == two_phase)
    return {at.index == 1 ? operations::block_phase1(at) : operations::block_phase2(at)};
  Launches all = eager_attnres(block_sources(at));
  if (at.index > 1) all.push_back(operations::unfused_partial_sum());
  return all;
}

Launches scheme_parts::block_attnres_output(const Partition& blocks, Schedule schedule) {
  if (schedule == unfused) return eager_attnres(blocks.num_blocks + 1);
  return {operations::block_output(blocks)};
}

namespace {

using namespace scheme_parts;

constexpr std::string_view kFullTable1 = "model/schemes/cross_layer/attnres.cpp: full_table1";
constexpr std::string_view kBlockTable1 = "model/schemes/cross_layer/attnres.cpp: block_table1";

constexpr std::array kAttnResSchedules{unfused, single_pass, two_phase};
constexpr std::array kAttnResCountings{
    Counting{two_phase, Convention::paper},
    Counting{two_phase, Convention::appendixB},
    Counting{two_phase, Convention::appendixB_emb},
    Counting{two_phase, Convention::tied},
    Counting{two_phase, Convention::physical},
    Counting{two_phase, Convention::physical_unfused},
    Counting{two_phase, Convention::kernel},
    Counting{single_pass, Convention::appendixB},
    Counting{single_pass, Convention::appendixB_emb},
    Counting{single_pass, Convention::tied},
    Counting{single_pass, Convention::physical},
    Counting{single_pass, Convention::physical_unfused},
    Counting{single_pass, Convention::kernel},
    Counting{unfused, Convention::kernel},
};

double query_and_gain_of(const SchemeLayer& at) { return 2 * hidden_size(at); }

// Launches and their counts.

Launches full_launches(const SchemeLayer& at, Schedule schedule) {
  if (schedule == single_pass) return {operations::full_single_pass(at.layer)};
  if (schedule == unfused) return eager_attnres(at.layer);
  const LayerPosition& place = at.position;
  return {place.index == 1 ? operations::full_phase1(place) : operations::full_phase2(place)};
}

Launches full_output(const SchemeLayer& last, Schedule schedule) {
  const Count sources = last.num_layers + 1;
  if (schedule == unfused) return eager_attnres(sources);
  return {operations::full_single_pass(sources)};
}

Launches block_launches(const SchemeLayer& at, Schedule schedule) {
  return block_attnres(at.position, schedule);
}

Launches block_output(const SchemeLayer& last, Schedule schedule) {
  return block_attnres_output(last.parameters.blocks, schedule);
}

/// Reads (N-1) d + (S-1) d, writes 2 d, with S = L/N. [attnres] Table 1, row "Full".
Traffic full_table1(const Partition& groups) {
  const double N = static_cast<double>(groups.num_blocks);
  const double S = static_cast<double>(groups.num_layers) / N;
  return {.reads_d = (N - 1) + (S - 1), .writes_d = 2};
}

/// Reads (N/S + 3) d, writes 2 d, with S = L/N. [attnres] Table 1, row "Block".
Traffic block_table1(const Partition& blocks) {
  const double N = static_cast<double>(blocks.num_blocks);
  const double S = static_cast<double>(blocks.num_layers) / N;
  return {.reads_d = N / S + 3, .writes_d = 2};
}

Traffic full_counted(const SchemeLayer& at, Counting counting) {
  if (counting.convention == Convention::paper) return full_table1(at.parameters.blocks);
  const CountingRules& rules = rules_of(counting.convention);
  return counting.schedule == two_phase ? full_two_phase(rules, at.position)
                                        : full_single_pass(rules, at.position);
}

Traffic block_counted(const SchemeLayer& at, Counting counting) {
  if (counting.convention == Convention::paper) return block_table1(at.parameters.blocks);
  const CountingRules& rules = rules_of(counting.convention);
  return counting.schedule == two_phase ? block_two_phase(rules, at.position)
                                        : block_single_pass(rules, at.position);
}

Traffic full_counted_output(const SchemeLayer& last, Counting counting) {
  return counted_output(rules_of(counting.convention), last.num_layers);
}

Traffic block_counted_output(const SchemeLayer& last, Counting counting) {
  return counted_output(rules_of(counting.convention), last.parameters.blocks.num_blocks);
}

/// L(L+1)/2 pairs in layers. [attnres] Eq. 4.
Aggregation full_aggregation(const SchemeLayer& last) {
  const Count L = last.num_layers;
  return {.sublayer_calls = L,
          .source_rows = L * (L + 1) / 2 + (L + 1),
          .max_sources = L + 1,
          .output_sources = L + 1};
}

/// Sum over blocks of S n + S - 1: S layers see n bank rows, all but the first also the partial
/// sum. [attnres] Eq. 6.
Aggregation block_aggregation(const SchemeLayer& last) {
  const Partition& p = last.parameters.blocks;
  const Count N = p.num_blocks;
  const Count whole_blocks = p.block_size * (N * (N - 1) / 2) + (N - 1) * (p.block_size - 1);
  const Count last_block = p.last_size * N + p.last_size - 1;
  return {.sublayer_calls = p.num_layers,
          .source_rows = whole_blocks + last_block + N + 1,
          .max_sources = N + 1,
          .output_sources = N + 1};
}

/// The bank behind layer l: b_0 and every block that it has begun.
double blocks_behind(const SchemeLayer& at) {
  if (at.layer == 0) return 1;
  return static_cast<double>(position_of_layer(at.parameters.blocks, at.layer).block) + 1;
}

// The formulas in words.

/// The counts of Appendix B and its corrections differ in what they charge, not in their form.
std::string rules_text(Convention convention) {
  switch (convention) {
    case Convention::appendixB:
      return "keys and values apart (c = 2), without b_0 (e = 0)";
    case Convention::appendixB_emb:
      return "keys and values apart (c = 2), with b_0 (e = 1)";
    case Convention::tied:
      return "k = v read once (c = 1), with b_0 (e = 1)";
    case Convention::physical:
      return "c = 1, e = 1, and b += f folded into the kernel that reads b (+1 r, 1 w for 3 <= i "
             "<= S; +2 r, 1 w to close a block)";
    default:
      return "c = 1, e = 1, and b += f as its own kernel (+2 r, 1 w for i >= 2)";
  }
}

bool is_flat(Convention convention) { return rules_of(convention).phase2 == Phase2::flat; }

LedgerFormula counted_formula(Convention convention, const std::string& form,
                              const std::string& function, const std::string& where) {
  return {form + "; " + rules_text(convention),
          "[attnres] " + where + "; [ours] REFERENCES.md, conventions",
          "model/schemes/cross_layer/attnres_counting.hpp: " + function};
}

LedgerFormula eager_formula(const std::string& sources) {
  return {"stack s r, s w; key norm s r, s w; scores s r; mix s r, 1 w; norm 1 r, 1 w; " + sources,
          "[ours] REFERENCES.md, operations",
          "model/operations/eager_operations.hpp: operations::unfused_*"};
}

LedgerFormula full_formula(Counting counting) {
  const Convention convention = counting.convention;
  if (convention == Convention::paper)
    return table1_formula(kFullTable1, "(N - 1) + (S - 1) r, 2 w, S = L/N", "Full");
  if (convention == Convention::kernel) {
    if (counting.schedule == single_pass)
      return operation_formula("layer l: l r, 1 w", "attnres", "full_single_pass");
    if (counting.schedule == two_phase)
      return operation_formula("Phase 1 of a group: l r, S w; i-th layer: (i - 1) + o r, 1 w",
                               "attnres", "full_phase1, full_phase2");
    return eager_formula("s = l sources");
  }
  if (counting.schedule == single_pass)
    return counted_formula(convention, "layer l: c (l - 1 + e) r, 1 w", "full_single_pass",
                           "Eq. 4, 11");
  if (is_flat(convention))
    return counted_formula(
        convention, "first layer of a group: c (l - 1 + e) r; i-th layer: c (i - 1) r; 2 w each",
        "full_two_phase", "Eq. 11-17");
  return counted_formula(
      convention,
      "first layer of a group: l r, 1 w; i-th layer: (i - 1) + o r, h + o w, 2 + 2 scalars",
      "full_two_phase", "Algorithm 1");
}

LedgerFormula block_formula(Counting counting) {
  const Convention convention = counting.convention;
  if (convention == Convention::paper)
    return table1_formula(kBlockTable1, "N/S + 3 r, 2 w, S = L/N", "Block");
  if (convention == Convention::kernel) {
    if (counting.schedule == single_pass)
      return operation_formula(
          "layer 1: 1 r, 1 w; first layer of block n >= 2: n + 1 r, 2 w; second layer: n + 1 r, 1 "
          "w; later: n + 2 r, 2 w; output: N + 2 r, 1 w",
          "attnres", "block_single_pass, block_output");
    if (counting.schedule == two_phase)
      return operation_formula(
          "Phase 1 of block 1: 1 r, S w; of block n >= 2: n + 1 r, S + 1 w; second layer: 2 r, 1 "
          "w; later: 3 r, 2 w",
          "attnres", "block_phase1, block_phase2");
    return eager_formula("s = n sources, n + 1 from the second layer of a block; b += f: 2 r, 1 w");
  }
  if (counting.schedule == single_pass)
    return counted_formula(convention, "i-th layer of block n: c (n - 1 + e + [i >= 2]) r, 1 w",
                           "block_single_pass", "Eq. 6");
  if (is_flat(convention))
    return counted_formula(convention,
                           "first layer of block n: c (n - 1 + e) r more; every layer: 3 r, 2 w",
                           "block_two_phase", "Table 1, Eq. 11");
  return counted_formula(
      convention, "first layer of block n: n r, 1 w; i >= 2: o + b r, h + o w, 2 + 2 scalars",
      "block_two_phase", "Algorithm 1");
}

// The backward pass.

/// The kernel itself and, under autograd, an addition for every source.
BackwardLayer fused_backward(Count sources, GradientAccumulation mode) {
  const double additions =
      mode == GradientAccumulation::autograd ? static_cast<double>(sources) : 0;
  return {one_read_backward(sources) + accumulation(mode, sources), 1 + additions};
}

/// What block_backward() says of a whole block, where it is moved: the bank's gradients when the
/// backward pass leaves the block, which is at its first layer.
BackwardLayer per_block_backward(const LayerPosition& at) {
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

}  // namespace

BackwardLayer scheme_parts::eager_attnres_backward(Count sources, double sums) {
  const auto s = static_cast<double>(sources);
  return norm_backward() + backward_kernel(s + 1, 0, s) + backward_kernel(s, 0, s) +
         backward_kernel(s, s, s) + backward_kernel(0, 2 * s, s) + backward_kernel(0, s, s) +
         accumulated(GradientAccumulation::autograd, sums);
}

BackwardLayer scheme_parts::block_attnres_backward(const LayerPosition& at, Schedule schedule,
                                                   GradientAccumulation accumulation) {
  const Count sources = block_sources(at);
  if (schedule == unfused) return eager_attnres_backward(sources, static_cast<double>(sources));
  if (accumulation == GradientAccumulation::per_block) return per_block_backward(at);
  return fused_backward(sources, accumulation);
}

/// The additions of eager code are counted here as everywhere.
BackwardLayer scheme_parts::attnres_output_backward(Count sources, Schedule schedule) {
  return schedule == unfused ? eager_attnres_backward(sources, static_cast<double>(sources))
                             : BackwardLayer{one_read_backward(sources), 1};
}

namespace {

/// Full AttnRes as Block AttnRes: every layer output is a block of its own.
Partition blocks_of_one_layer(Count L) {
  return {.num_layers = L, .block_size = 1, .num_blocks = L, .last_size = 1};
}

BackwardLayer full_backward_layer(const SchemeLayer& at, Schedule schedule,
                                  GradientAccumulation accumulation) {
  if (at.layer > at.num_layers) return attnres_output_backward(at.layer, schedule);
  return block_attnres_backward(position(blocks_of_one_layer(at.num_layers), at.layer, 1), schedule,
                                accumulation);
}

BackwardLayer block_backward_layer(const SchemeLayer& at, Schedule schedule,
                                   GradientAccumulation accumulation) {
  if (at.layer > at.num_layers)
    return attnres_output_backward(at.parameters.blocks.num_blocks + 1, schedule);
  return block_attnres_backward(at.position, schedule, accumulation);
}

/// The sources that a chunk's mixes read.
struct ChunkSources {
  Count num_mixes = 0;         // layers, and the output aggregation
  Count blocks_received = 0;   // ids 0 .. blocks_received - 1
  Count blocks_completed = 0;  // here, and read here
  Count partials = 0;
  Count total = 0;  // over all mixes
  Count most = 0;   // of one mix
};

/// The output aggregation stands where the first layer of one more block would.
ChunkSources sources_of(const ChunkOfLayers& chunk, const Partition& blocks,
                        const ActivationPlan& plan) {
  ChunkSources sources;
  const auto add = [&](Count block, Count partials) {
    if (sources.num_mixes++ == 0) sources.blocks_received = block;
    sources.blocks_completed = block - sources.blocks_received;
    sources.total += block + partials;
    sources.most = std::max(sources.most, block + partials);
  };
  for (Count i = 0; i < chunk.num_layers; ++i) {
    const LayerPosition at = position_of_layer(blocks, chunk.first_layer + i);
    const Count partials = at.index > 1 ? 1 : 0;
    add(at.block, partials);
    if (plan.keeps_input_of(chunk.first_layer + i, chunk.first_layer)) sources.partials += partials;
  }
  if (chunk.output == OutputAggregation::here) add(blocks.num_blocks + 1, 0);
  return sources;
}

}  // namespace

ChunkActivations scheme_parts::attnres_activations(const Partition& bank,
                                                   const ChunkOfLayers& chunk,
                                                   const ActivationPlan& plan,
                                                   const MixCopies& kept_of_mix) {
  const ChunkSources sources = sources_of(chunk, bank, plan);
  if (sources.num_mixes == 0) return {};
  const Count eager_copies = plan.schedule == unfused ? kept_of_mix.eager_per_source : 0;
  const SavedVectors received = saved_vectors(sources.blocks_received);
  const SavedVectors blocks = saved_vectors(sources.blocks_completed);
  const SavedVectors partials = saved_vectors(sources.partials);
  const SavedVectors mix = kNormInput + kNormOutput + saved_vectors(kept_of_mix.per_mix);
  const double scalars_per_source = kept_of_mix.scalars_per_source;
  const SavedVectors scalars{.vectors = 0,
                             .scalars = scalars_per_source * static_cast<double>(sources.total)};
  const SavedVectors most_scalars{
      .vectors = 0, .scalars = scalars_per_source * static_cast<double>(sources.most)};
  const SavedVectors copies = saved_vectors(eager_copies * sources.most);
  if (plan.policy == ActivationPolicy::recompute)
    return {.received = received,
            .kept = blocks + partials,
            .own_blocks = blocks,
            .for_weights = saved_vectors(sources.num_mixes),
            .working = plan.layers_at_once() * (mix + most_scalars + copies)};
  const SavedVectors mixes = static_cast<double>(sources.num_mixes) * mix + scalars;
  ChunkActivations all;
  if (eager_copies > 0) {
    all = placed_activations(plan.policy, sources.num_mixes,
                             mixes + saved_vectors(eager_copies * sources.total),
                             mix + most_scalars + copies, {});
  } else {
    const SavedVectors largest = mix + most_scalars + saved_vectors(sources.partials > 0 ? 1 : 0);
    all = placed_activations(plan.policy, sources.num_mixes, blocks + partials + mixes, largest,
                             blocks);
    if (plan.policy == ActivationPolicy::keep) all.own_blocks = blocks;
  }
  all.received = received;
  return all;
}

namespace {

/// The blocks that are sources: what a pipeline sends, and a backward pass adds gradients up for.
Partition full_bank(const SchemeLayer& last) { return blocks_of_one_layer(last.num_layers); }
Partition block_bank(const SchemeLayer& last) { return last.parameters.blocks; }

using BankOf = Partition(const SchemeLayer&);

template <BankOf* kBank>
ChunkActivations activations_of(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                const ActivationPlan& plan) {
  return attnres_activations(kBank(last), chunk, plan);
}

template <BankOf* kBank>
double accumulation_of(const SchemeLayer& last, GradientAccumulation mode) {
  return accumulation_d(kBank(last), mode);
}

constexpr std::string_view kSinglePassBackward[]{"attnres_single_pass_backward"};
constexpr std::string_view kTwoPhaseBackward[]{"attnres_phase1_backward",
                                               "attnres_phase2_backward"};

/// As in block_attnres_backward(): the accumulation chooses the kernels, and the forward schedule
/// does not.
GradientRule attnres_gradients(Schedule schedule, GradientAccumulation accumulation) {
  GradientRule rule{.equations =
                        "ds_i = p_i (dh . v_i - dh . h), dv_i = p_i dh + ds_i (w - s_i v_i / (d "
                        "r_i)) / r_i, dw = sum_t sum_i ds_i v_i / r_i",
                    .kernels = {}};
  if (schedule == unfused) return rule;
  rule.kernels = kSinglePassBackward;
  if (accumulation == GradientAccumulation::per_block) rule.kernels = kTwoPhaseBackward;
  return rule;
}

constexpr BackwardRule kFullBackward{
    .moves =
        "s sources, kernels: s + 1 r, s w, and s r more under accumulation fused, 2s r and s w more under autograd; per_block: each source once a block. unfused: 9s + 3 r, 6s + 1 w",
    .layer = full_backward_layer,
    .activations = activations_of<full_bank>,
    .accumulation_d = accumulation_of<full_bank>,
    .gradients = attnres_gradients};
constexpr BackwardRule kBlockBackward{
    .moves =
        "s sources, kernels: s + 1 r, s w, and s r more under accumulation fused, 2s r and s w more under autograd; per_block: each source once a block. unfused: 9s + 3 r, 6s + 1 w",
    .layer = block_backward_layer,
    .activations = activations_of<block_bank>,
    .accumulation_d = accumulation_of<block_bank>,
    .gradients = attnres_gradients};

}  // namespace

const SchemeRule schemes::kFullAttnRes{
    .id = "full_attnres",
    .label = "Full AttnRes",
    .update = "h_l = sum_{i<l} softmax_i(w_l . RMSNorm(v_i)) v_i",
    .file = "cross_layer/attnres.cpp",
    .source = "[attnres] Table 5, Eq. 2-4",
    .reference = "attnres.hpp",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .pattern = DepthPattern::blocks,
    .schedules = kAttnResSchedules,
    .countings = kAttnResCountings,
    .shipped = single_pass,
    .operations = full_launches,
    .state_d = all_outputs,
    .parameters = query_and_gain_of,
    .output = full_output,
    .counted = full_counted,
    .counted_output = full_counted_output,
    .bank = full_bank,
    .aggregation = full_aggregation,
    .formula = full_formula,
    .backward = &kFullBackward};

const SchemeRule schemes::kBlockAttnRes{
    .id = "block_attnres",
    .label = "Block AttnRes",
    .update = "as Full over b_0 .. b_{n-1} and the partial sum b_n^i",
    .file = "cross_layer/attnres.cpp",
    .source = "[attnres] Table 5, Eq. 5-6",
    .reference = "attnres.hpp",
    .kind = {StateKind::cross_layer, WeightKind::dynamic},
    .pattern = DepthPattern::blocks,
    .schedules = kAttnResSchedules,
    .countings = kAttnResCountings,
    .shipped = single_pass,
    .operations = block_launches,
    .state_d = blocks_behind,
    .parameters = query_and_gain_of,
    .output = block_output,
    .counted = block_counted,
    .counted_output = block_counted_output,
    .bank = block_bank,
    .aggregation = block_aggregation,
    .formula = block_formula,
    .backward = &kBlockBackward};

}  // namespace depthcost

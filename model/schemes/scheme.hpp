// What a residual scheme is: one row of data, SchemeRule, in a file of its own below this folder.
// model/schemes/list.hpp names all rows. A "layer" is one sublayer (attention or MLP), l = 1..L, as
// in the paper; a decoder layer has two.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/base/partition.hpp"
#include "model/base/traffic.hpp"
#include "model/operations/operation.hpp"
#include "model/schemes/activations.hpp"
#include "model/schemes/gradients.hpp"
#include "model/schemes/schedule.hpp"

namespace depthcost {

/// The numbers that a scheme may depend on beside L. Each scheme's `keys` say which are its own.
struct SchemeParameters {
  Count hidden_size = 0;                    // d: a d x d projection costs d in units of d
  Count block_size = 1;                     // S of an ablation of AttnRes; 1: Full
  Count num_streams = 4;                    // m of hyper-connections
  Count value_width = 4;                    // d_v of Deep Delta Learning
  Count dilation = 4;                       // k of DenseFormer, in decoder layers
  Count period = 5;                         // p of DenseFormer, in decoder layers
  Count ways = 4;                           // C of MUDDFormer: query, key, value, residual
  Count rank = 4;                           // r of LAuReL
  Count gate_rank = 320;                    // r of Gated Residual
  Count history = 4;                        // k of LAuReL-PA
  Count window = 8;                         // W of sliding-window AttnRes, beside the embedding
  Count heads = 16;                         // H of multihead AttnRes
  Count kv_size = 0;                        // elements of a value row of Value Residual; 0: d
  double f32_row_d = 2;                     // d-vectors of the model's type in d elements of f32
  std::optional<double> stream_row_d = {};  // of those in a row of the stream; absent: as it ships
  Count weight_shards = 1;  // tensor ranks over which the scheme's matrices are divided
  Partition blocks = {};    // of Block AttnRes; of Full, the groups of queries of its two phases

  friend constexpr bool operator==(const SchemeParameters&, const SchemeParameters&) = default;
};

/// Streams of mHC and its kin.
inline constexpr Count kMaxStreams = 1024;

/// What a layer receives: the three groups of [attnres] Table 5.
enum class StateKind : std::uint8_t { single_state, multi_state, cross_layer };

template <>
inline constexpr auto kNames<StateKind> = other_names<StateKind>("single-state", "multi-state",
                                                                 "cross-layer");

/// How mixing coefficients arise: the column "Weight" of [attnres] Table 5.
enum class WeightKind : std::uint8_t { fixed, learned_static, dynamic };

template <>
inline constexpr auto kNames<WeightKind> = other_names<WeightKind>("fixed", "static", "dynamic");

struct SchemeClass {
  StateKind state = StateKind::single_state;
  WeightKind weights = WeightKind::fixed;
};

/// A parameter that a scheme uses, as the key residual.NAME writes it.
struct SchemeKey {
  std::string_view name;
  Count SchemeParameters::*member = nullptr;
  std::string_view source;  // of the default
};

/// One layer of a model with L = num_layers. Layer 0 is the embedding in front of the layers, layer
/// L + 1 the output aggregation behind them.
struct SchemeLayer {
  const SchemeParameters& parameters;
  Count layer = 0;
  Count num_layers = 0;
  LayerPosition position = {};  // in parameters.blocks, for schemes that have these
};

/// What is wrong with a parameter, and with which.
struct ParameterProblem {
  std::string_view key;
  std::string reason;
};

/// Attention over depth, counted. `source_rows` includes the output aggregation, `sublayer_calls`
/// does not. All zero for schemes that do not attend.
struct Aggregation {
  Count sublayer_calls = 0;
  Count source_rows = 0;  // (query, source) pairs
  Count max_sources = 0;
  Count output_sources = 0;

  friend bool operator==(const Aggregation&, const Aggregation&) = default;
};

/// What one layer moves under a counting, in words: for `explain`.
struct LedgerFormula {
  std::string formula;
  std::string source;
  std::string function;
};

using Launches = std::vector<Operation>;

/// How what a layer moves depends on its place. It decides how a sum over all layers is formed.
enum class DepthPattern : std::uint8_t {
  any,     ///< layer by layer
  alike,   ///< all layers move the same
  blocks,  ///< affine in the index within a block, and in the block: `parameters.blocks`
};

/// What makes the gradients of a schedule.
struct GradientRule {
  std::string_view equations;                 // in the letters of kernels/operations/backward
  std::span<const std::string_view> kernels;  // of kernels/operations/backward; empty: none of ours
};

/// What a backward pass moves that is none of the scheme's schedules: of others, or the least.
struct OtherBackwardCount {
  std::string_view name;
  std::string_view source;
  BackwardLayer (*layer)(const SchemeLayer& at) = nullptr;
};

/// The backward pass of a scheme. Throws nothing.
struct BackwardRule {
  std::string_view moves;  // reads and writes of each schedule, in a line; never empty

  /// What layer `at` moves and launches; layer L + 1 is the output aggregation.
  BackwardLayer (*layer)(const SchemeLayer& at, Schedule schedule,
                         GradientAccumulation accumulation) = nullptr;

  /// What a chunk of layers keeps for it; `last` is layer L.
  ChunkActivations (*activations)(const SchemeLayer& last, const ChunkOfLayers& chunk,
                                  const ActivationPlan& plan) = nullptr;

  /// d-vectors per token that adding up gradients of shared sources adds; null: nothing is shared.
  double (*accumulation_d)(const SchemeLayer& last, GradientAccumulation accumulation) = nullptr;

  /// Layers that are best made again from one kept state; null: one.
  Count (*recompute_layers)(const SchemeParameters& parameters, Count num_layers) = nullptr;

  /// Null: the gradients have no kernel of ours, and follow from the update.
  GradientRule (*gradients)(Schedule schedule, GradientAccumulation accumulation) = nullptr;

  std::span<const OtherBackwardCount> others = {};

  /// Schedules whose gradients are limits that no kernel is known to reach.
  std::span<const Schedule> bounds = {};
};

struct SchemeRule {
  std::string_view id;
  std::string_view label;
  std::string_view update;     // the rule, in the paper's letters
  std::string_view file;       // of model/schemes, where all this is said
  std::string_view source;     // where it stands; keys of REFERENCES.md
  std::string_view moves;      // reads and writes of each schedule, in a line
  std::string_view reference;  // the file in kernels/reference that defines it; empty: none
  std::string_view ablation;   // the kernel is KERNEL/ABLATION in the catalogue; empty: KERNEL
  std::string_view unmixed;    // why it has no depth mixing matrix; empty: it has one
  SchemeClass kind;
  DepthPattern pattern = DepthPattern::any;
  std::span<const SchemeKey> keys;
  std::span<const Schedule> schedules;    // cheapest to build first
  std::span<const Counting> countings;    // of papers and kernels; empty: kernels, each schedule
  std::optional<Schedule> shipped = {};   // what engines run; none: the last of `schedules`
  std::span<const Schedule> bounds = {};  // of `schedules`: limits that no kernel is known to reach
  std::string_view measured_training = {};  // what somebody measured of a training step; a sentence

  /// The launches at layer `at`, in front of it or behind it as the rule says, up to a layer's
  /// normalised input: a forward pass has those of all layers, and `output`.
  Launches (*operations)(const SchemeLayer& at, Schedule schedule) = nullptr;

  /// d-vectors per token that must be kept behind the layer for those to come, and that a pipeline
  /// boundary there hands over.
  double (*state_d)(const SchemeLayer& at) = nullptr;

  /// Elements of the layer's own parameters, and of layer L + 1 for an output; norms that every
  /// model has are not counted. Null where the paper leaves the number open.
  double (*parameters)(const SchemeLayer& at) = nullptr;

  /// Behind the last layer; null where nothing happens there.
  Launches (*output)(const SchemeLayer& last, Schedule schedule) = nullptr;

  /// Null where every positive value is legal.
  std::optional<ParameterProblem> (*problem)(const SchemeLayer& last) = nullptr;

  /// What a layer moves, and what the output does, under a convention that is no kernel's. Null
  /// where `countings` has none, or no output.
  Traffic (*counted)(const SchemeLayer& at, Counting counting) = nullptr;
  Traffic (*counted_output)(const SchemeLayer& last, Counting counting) = nullptr;

  /// Blocks of the bank that a pipeline sends and caches; null without a bank.
  Partition (*bank)(const SchemeLayer& last) = nullptr;

  /// Null for schemes that do not attend over depth, or are not counted so.
  Aggregation (*aggregation)(const SchemeLayer& last) = nullptr;

  /// Null: `moves` and `source` say it for every counting.
  LedgerFormula (*formula)(Counting counting) = nullptr;

  /// Whether its counts know `parameters.stream_row_d`.
  bool has_stream_type = false;

  /// Whether its launches know `parameters.weight_shards`.
  bool divides_weights = false;

  const BackwardRule* backward = nullptr;  // never null
};

/// A rule with its parameters.
struct Scheme {
  const SchemeRule* rule;  // one of the list, never null
  SchemeParameters parameters;

  Scheme();  // the standard residual
  // NOLINTNEXTLINE(google-explicit-constructor): a rule is the scheme with its usual parameters.
  Scheme(const SchemeRule& scheme_rule, SchemeParameters scheme_parameters = {})
      : rule(&scheme_rule), parameters(std::move(scheme_parameters)) {}

  /// Equal where the rule and all parameters that it depends on are.
  friend bool operator==(const Scheme& a, const Scheme& b);
};

std::string_view name(const Scheme& scheme);

/// The same rule, whatever its parameters.
bool same_scheme(const Scheme& a, const Scheme& b);

/// The blocks of the scheme's sources or, for Full, the groups of its queries; null without either.
const Partition* blocks_of(const Scheme& scheme);

/// Cuts the layers into other blocks.
inline void set_blocks(SchemeParameters& parameters, const Partition& blocks) {
  parameters.blocks = blocks;
  parameters.block_size = blocks.block_size;
}

/// Whether the rule depends on a parameter.
bool takes(const Scheme& scheme, Count SchemeParameters::*parameter);

/// Whether it has blocks of a size that is chosen.
bool has_block_size(const Scheme& scheme);

/// What is wrong with its parameters on a model of L layers, if something is.
std::optional<ParameterProblem> parameter_problem(const Scheme& scheme, Count num_layers);

/// Why a scheme does not run so: "mhc runs as unfused | two_pass". Empty where it does.
std::string schedule_problem(const Scheme& scheme, Schedule schedule);

/// What engines ship: fused, or single_pass for attention over depth.
Schedule shipped_schedule(const Scheme& scheme);

/// Whether the schedule is a limit, which nobody can run and nothing may recommend.
bool is_bound(const Scheme& scheme, Schedule schedule);

/// The same of a training step: the schedule, or its backward pass alone, is a limit.
bool is_training_bound(const Scheme& scheme, Schedule schedule);

/// Its name as answers show it: "one_pass (bound)".
std::string schedule_label(const Scheme& scheme, Schedule schedule);
std::string training_schedule_label(const Scheme& scheme, Schedule schedule);

/// Every defined pair of schedule and convention of `scheme`, in report order.
std::vector<Counting> countings_of(const Scheme& scheme);

/// What one layer moves under a counting, in words.
LedgerFormula ledger_formula(const Scheme& scheme, Counting counting);

/// d-vectors that must be kept behind layer `layer` of L, rounded up, and the most of any layer.
Count state_behind(const Scheme& scheme, Count layer, Count num_layers);
Count largest_state(const Scheme& scheme, Count num_layers);

}  // namespace depthcost

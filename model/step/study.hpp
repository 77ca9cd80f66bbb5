// A question: which schemes, on which model and device, under which workloads and budgets. What the
// reader of scenarios/ fills in and `evaluate` answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/architecture/architecture.hpp"
#include "model/architecture/expert_load.hpp"
#include "model/base/traffic.hpp"
#include "model/ledger/ledger.hpp"
#include "model/machine/machine.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/step/training.hpp"
#include "model/step/workload_id.hpp"

namespace depthcost {

struct Transformer {
  std::string name;
  Count num_layers = 0;  // sublayers
  Count hidden_size = 0;
  Dtype dtype = Dtype::bf16;
  std::optional<Architecture> architecture;  // of the rest; without it a step must be given
};

/// Does every tensor-parallel rank hold all tokens of the residual path?
enum class Layout { replicated, sequence_sharded };

/// Does every tensor-parallel rank hold a scheme's own matrices, or its share of them?
enum class WeightPlacement { replicated, sharded };

/// Every layer reads its own queries, gains and phi; in a benchmark of a step all layers share one
/// set.
enum class ParameterSets { one_per_layer, one_for_all };

/// Speculative decoding, in each step and sequence. The model's layers that draft are counted:
/// model/step/draft.hpp. Another drafter is not.
struct Speculation {
  Count tokens = 1;     // that the step checks: the next one and the drafted ones
  double accepted = 1;  // that the sequence keeps, in the mean
};

/// Tokens of one prompt that a decode step takes along in the same forward pass (chunked prefill).
struct PromptChunk {
  Count tokens = 1;
  std::optional<Count> context;  // of the same prompt, in the cache already
};

/// Tokens and sequences count per model replica.
struct Decode {
  std::vector<Count> sequences;
  Count context = 0;  // tokens already seen; only the step model of the rest needs it
  Speculation speculation;
  std::optional<PromptChunk> prompt;
  Launch launch = Launch::graph;
  std::optional<Bytes> layer_bytes;  // streamed by one layer on one device between residual kernels
  std::vector<Seconds> baseline_steps;  // measured by the user: none, one for all, or one each
  ParameterSets parameters = ParameterSets::one_per_layer;
  Phase1Order phase1 = Phase1Order::in_order;
};

/// That a step runs through the layers.
inline Count tokens_of_step(const Decode& decode, Count sequences) {
  return sequences * decode.speculation.tokens + (decode.prompt ? decode.prompt->tokens : 0);
}

/// Tokens before the chunk. If nobody says it: chunks lie anywhere in a prompt as long as a
/// sequence's context, in the mean behind a half of it.
inline Count context_of(const PromptChunk& prompt, const Decode& decode) {
  return prompt.context.value_or(decode.context / 2);
}

/// Tokens of one sequence in the cache behind a step.
inline double tokens_in_cache(const Decode& decode) {
  return as_double(decode.context + decode.speculation.tokens);
}

struct Prefill {
  Count tokens = 0;
  std::optional<Count> chunk;
  Count sequence_shards = 1;
  Launch launch = Launch::stream;
  std::optional<Seconds> baseline_step;
};

/// What a step consists of beside the residual path. `launches`: what its kernels cost before and
/// after their bytes, and what an engine may take for each sequence.
enum class RestTerm { attention, mlp, head, collectives, launches };

/// A term that the user has measured: one for all batches of a decode workload, or one each.
struct WrittenTerm {
  WorkloadKind workload = WorkloadKind::decode;
  RestTerm term = RestTerm::attention;
  std::vector<Seconds> seconds;
};

enum class BudgetKind {
  decode_overhead,        // (t - t_base) / t_base, largest over the batches
  prefill_overhead,       // as above
  training_overhead,      // as above
  exposed_communication,  // (t - t_free) / t_free, of a training step, links being free in t_free
  added_activations,  // what a stage keeps over what the standard residual keeps there, less one
  pipeline_cache,     // blocks received by a stage over what the standard residual keeps there
  prefill_bank,       // bytes per device, with b_0
  prefill_peak,       // bytes per device: bank, b_0, Phase 1 outputs
  pipeline_peak,      // bytes per token at the largest boundary
  device_memory,      // everything fits into what the driver shows
};

/// Whether the limit is a ratio, as that of a claim; else it is bytes.
constexpr bool is_ratio(BudgetKind kind) { return kind < BudgetKind::prefill_bank; }

/// Who asks for a budget: the scenario, or where it is silent, the device or the paper.
enum class BudgetOrigin { written, assumed };

/// `limit` is a ratio or bytes, as the kind says; for device_memory the device's own.
struct Budget {
  BudgetKind kind = BudgetKind::decode_overhead;
  double limit = 0;
  int line = 1;  // of the file that asks for it
  BudgetOrigin origin = BudgetOrigin::written;
};

/// What [attnres] Sec. 4 claims for Block AttnRes: less than 2 % at decode, less than 4 % in
/// training. paper_limit() says where they are the limit.
inline constexpr double kPaperDecodeOverhead = 0.02;
inline constexpr double kPaperTrainingOverhead = 0.04;

/// Where the rows of lookup tables lie. Which rows a token needs is known before a step starts.
enum class TablePlacement { device, host };

struct Study {
  std::string name;
  Transformer model;
  ResidualPath path;  // whose numbers the verdict quotes
  Schedule schedule = Schedule::fused;
  std::vector<ResidualPath> compare;  // beside it; never the same scheme twice
  Implementation implementation = Implementation::fastest_published;
  SchemeParameters scheme_parameters;  // as written, or each scheme's default
  Dtype phase1_dtype = Dtype::bf16;
  std::optional<WeightDtype>
      residual_weight_dtype;                      // of the schemes' matrices; absent: the model's
  std::optional<Attachment> attachment;           // as written; absent: as attached_path() says
  std::optional<Attachment> baseline_attachment;  // of the standard residual that per cent are of;
                                                  // absent: as baseline_path() says
  std::optional<Layout> layout;                   // absent: as token_layout() says
  Count tensor_parallel_size = 1;
  Count expert_parallel_size = 1;
  Count context_parallel_size = 1;
  Count data_parallel_size = 1;
  TablePlacement tables = TablePlacement::device;
  std::optional<Dtype> dispatch_dtype;  // of rows on their way to experts of other ranks
  std::optional<Routing> routing;       // of tokens to experts; unknown if absent
  std::optional<PipelineLayout> pipeline;
  std::optional<Decode> decode;
  std::optional<Prefill> prefill;
  std::optional<Training> training;
  std::vector<WrittenTerm> written_terms;  // no (workload, term) twice
  std::optional<Machine> machine;
  std::vector<Budget> budgets;
  std::string claim;  // what somebody says of a cost, and where; its limit is the budget
};

/// Devices of all replicas and pipeline stages.
Count num_devices(const Study& study);

/// Those of one pipeline stage: tensor x context x data.
Count ranks_per_stage(const Study& study);

/// Whether the user has measured the workload's step. It did run, whatever memory it needs.
bool is_measured(const Study& study, WorkloadKind workload);

/// `path`, then those it is compared with.
std::vector<ResidualPath> paths_of(const Study& study);

/// Whether an all-reduce over tensor ranks comes before every layer of a decode step on GPUs, so
/// that engines can fold the residual path into it.
bool has_all_reduce(const Study& study);

/// The standard residual by all engines, AttnRes by TensorRT-LLM and TokenSpeed. mHC's kernels are
/// folded by none on NVIDIA's parts. [all_reduce_fusion]
bool is_folded_by_engines(const Scheme& scheme);

/// `path` as it runs in a workload: attached as written. Else folded into the all-reduce at decode,
/// where there is one and engines fold the scheme, and standalone elsewhere. [all_reduce_fusion]
ResidualPath attached_path(const Study& study, ResidualPath path, Schedule schedule,
                           WorkloadKind workload);

/// The standard residual that `path` is held against: as written, else attached as the path is
/// written to be, else as engines attach it.
ResidualPath baseline_path(const Study& study, const ResidualPath& path, WorkloadKind workload);

/// About that standard residual alone.
Study baseline_study(Study study);

/// What a rank holds at least of a prompt's chunk where ranks share it out: 8 MiB, as vLLM does on
/// Hopper, [vllm_sp].
inline constexpr Bytes kLeastShare{8.0 * 1024 * 1024};

/// As written. Else sharded in training, where sequence parallelism comes with tensor ranks,
/// [sequence_parallel] Sec. 4.2.2, and in a decode step whose chunk of a prompt gives each rank
/// kLeastShare. Every other decode step is replicated, as serving engines ship it.
Layout token_layout(const Study& study, WorkloadKind workload);

/// Ranks that share the tokens of the residual path; a prefill says it by itself.
Count residual_shards(const Study& study, WorkloadKind workload);

VectorStorage storage_of(const Study& study);

/// The schedule that a scheme is quoted with: the study's for its own scheme, else what ships.
Schedule quoted_schedule(const Study& study, const ResidualPath& path);

}  // namespace depthcost

// A question: which schemes, on which model and device, under which workloads and budgets. What the
// reader of scenarios/ fills in and `evaluate` answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ledger.hpp"
#include "model/machine.hpp"
#include "model/pipeline.hpp"
#include "model/traffic.hpp"

namespace depthcost {

struct Transformer {
  std::string name;
  Count num_layers = 0;  // sublayers
  Count hidden_size = 0;
  Dtype dtype = Dtype::bf16;
};

/// Does every tensor-parallel rank hold all tokens of the residual path? At decode it does.
enum class Layout { replicated, sequence_sharded };

std::string_view name(Layout layout);

/// Whose queries, gains and phi a layer's operations read: its own, or, in a benchmark of a step,
/// those of all layers.
enum class ParameterSets { one_per_layer, one_for_all };

/// Tokens and sequences count per model replica.
struct Decode {
  std::vector<Count> sequences;
  Count context = 0;  // tokens already seen; only the step model of the rest needs it
  Launch launch = Launch::graph;
  std::optional<Bytes> layer_bytes;  // streamed by one layer on one device between residual kernels
  std::vector<Seconds> baseline_steps;  // measured by the user: none, one for all, or one each
  ParameterSets parameters = ParameterSets::one_per_layer;
  Phase1Order phase1 = Phase1Order::in_order;
};

struct Prefill {
  Count tokens = 0;
  std::optional<Count> chunk;
  Count sequence_shards = 1;
  Launch launch = Launch::stream;
  std::optional<Seconds> baseline_step;
};

enum class BudgetKind {
  decode_overhead,    // (t - t_base) / t_base, largest over the batches
  prefill_overhead,   // as above
  training_overhead,  // as above
  prefill_bank,       // bytes per device, with b_0
  prefill_peak,       // bytes per device: bank, b_0, Phase 1 outputs
  pipeline_peak,      // bytes per token at the largest boundary
  device_memory,      // everything fits into what the driver shows
};

std::string_view name(BudgetKind kind);

/// `limit` is a ratio or bytes, as the kind says; for device_memory the device's own.
struct Budget {
  BudgetKind kind = BudgetKind::decode_overhead;
  double limit = 0;
  int line = 1;  // of the file that asks for it
};

struct Study {
  std::string name;
  Transformer model;
  ResidualPath path;  // whose numbers the verdict quotes
  Schedule schedule = Schedule::fused;
  std::vector<ResidualPath> compare;  // beside it; never the same scheme twice
  Dtype phase1_dtype = Dtype::bf16;
  Layout layout = Layout::replicated;
  Count tensor_parallel_size = 1;
  std::optional<PipelineLayout> pipeline;
  std::optional<Decode> decode;
  std::optional<Prefill> prefill;
  std::optional<Machine> machine;
  std::vector<Budget> budgets;
};

/// `path`, then those it is compared with.
std::vector<ResidualPath> paths_of(const Study& study);

VectorStorage storage_of(const Study& study);

/// The schedule that a scheme is quoted with: the study's for its own scheme, else what ships.
Schedule quoted_schedule(const Study& study, const ResidualPath& path);

}  // namespace depthcost

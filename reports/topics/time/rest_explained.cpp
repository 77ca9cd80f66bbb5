// Each term of a step with the numbers of its layers.
#include <fmt/format.h>

#include <algorithm>

#include "model/machine/chip.hpp"
#include "model/step/workload.hpp"
#include "model/training/rest_of_training.hpp"
#include "model/training/training_work.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/time/rest_section.hpp"

namespace depthcost::rest_section {
namespace {

std::string interval_text(const Estimate<Seconds>& time) {
  return fmt::format("{:.6g} ms [{:.6g}, {:.6g}]", 1e3 * time.value.value, 1e3 * time.low.value,
                     1e3 * time.high.value);
}

/// "48 [40, 60] bytes, "; nothing for nothing.
template <class Amount>
std::string ends_text(const std::array<Amount, kEnumerators<IntervalEnd>.size()>& ends,
                      std::string_view what) {
  const double low = ends.front().value;
  const double value = ends[1].value;
  const double high = ends.back().value;
  if (high == 0) return "";
  if (low == high) return fmt::format("{:.6g} {}, ", value, what);
  return fmt::format("{:.6g} [{:.6g}, {:.6g}] {}, ", value, low, high, what);
}

/// "69 x linear attention: 1.2e+08 bytes, 3e+09 operations, 0.02 ms [0.01, 0.03] each".
std::string part_text(const RestPart& part) {
  return fmt::format("{:g} x {}: {}{}{} each", part.calls, part.name,
                     ends_text(part.work.bytes, "bytes"), ends_text(part.work.flops, "operations"),
                     interval_text(part.time));
}

std::string share_text(const Estimate<double>& share) {
  return fmt::format("{} [{}, {}]", share.value, share.low, share.high);
}

bool has_nvfp4(const Architecture& architecture) {
  return architecture.weight_dtype == WeightDtype::nvfp4 ||
         architecture.expert_dtype == WeightDtype::nvfp4;
}

std::string nvfp4_text(const Machine& machine) {
  if (!machine.nvfp4_rate)
    return "; weights in nvfp4 are widened to bf16, since this device has no units for them";
  return fmt::format(", or {} for weights in nvfp4, {} times fp8 as measured on a B200",
                     format_flop_rate(*machine.nvfp4_rate), kNvfp4OverFp8);
}

/// What bytes and operations are divided by.
std::string rates_text(const Study& study) {
  const Machine& machine = *study.machine;
  const auto& bandwidth = machine.memory_bandwidth.back().bandwidth;
  std::string text = fmt::format(
      "reading {} [{}, {}]", format_bandwidth(bandwidth.value), format_bandwidth(bandwidth.low),
      format_bandwidth(std::min(bandwidth.high, machine.memory_ceiling)));
  const auto reached = [&](const EngineKernels& kernels) {
    return share_text(machine.engine.efficiency_of(kernels, step_kind(*study.model.architecture)));
  };
  text += fmt::format(", of which attention reaches {}, MLP and head {}",
                      reached(machine.engine.attention), reached(machine.engine.mlp));
  text += fmt::format("; {} of the dense rate", share_text(machine.engine.sustained_rate));
  if (const auto& rate = machine.tensor_rate ? machine.tensor_rate : machine.vector_rate)
    text += ", " + format_flop_rate(*rate);
  if (machine.fp8_rate)
    text += fmt::format(", or {} for weights in fp8{}", format_flop_rate(*machine.fp8_rate),
                        machine.mxfp4_rate ? " or mxfp4" : "");
  if (has_nvfp4(*study.model.architecture)) text += nvfp4_text(machine);
  return text;
}

/// The same of a training step on a GPU.
std::string training_rates_text(const Study& study) {
  const Machine& machine = *study.machine;
  const TrainingConstants& training = machine.engine.training;
  const Estimate<double>& error =
      training.errors[static_cast<std::size_t>(step_kind(*study.model.architecture))];
  std::string text = fmt::format("products reach {} of the dense bf16 rate, {}",
                                 training.bf16_products, format_flop_rate(*machine.tensor_rate));
  if (study.training->precision == Precision::fp8 && machine.fp8_rate)
    text += fmt::format("; in fp8 {} of {}", training.fp8_products,
                        format_flop_rate(*machine.fp8_rate));
  return text + fmt::format("; routed experts {} of the bf16 rate; measured steps took {} of that",
                            training.experts, share_text(error));
}

std::string pass_text(const ForwardPass& pass) {
  const std::string prompt = pass.prompt
                                 ? fmt::format(", and {:g} tokens of a prompt with {:g} behind it",
                                               pass.prompt->tokens, pass.prompt->first)
                                 : "";
  return fmt::format(
      "a pass: {:g} sequences with {:g} tokens behind them, {:g} new tokens each{}; {:g} passes",
      pass.num_sequences, pass.sequence.first, pass.sequence.tokens, prompt, pass.repeats);
}

std::string attention_text(const Study& study, const Attention& attention,
                           const ForwardPass& pass) {
  const Architecture& a = *study.model.architecture;
  const AttentionCost cost = attention_cost(attention, as_double(study.model.hidden_size),
                                            pass.sequence, study.tensor_parallel_size);
  std::string text = fmt::format(
      "{}: {:.12g} weights in {} on one of {} ranks; a sequence's cache in {}: {:.12g} elements "
      "read / {} context ranks, {:.12g} written; {:.12g} operations with what is read / {}, "
      "{:.12g} others",
      name(attention), cost.weights, name(a.weight_dtype), study.tensor_parallel_size,
      name(a.kv_dtype), cost.read_elements, pass.key_ranks, cost.written_elements, cost.core.value,
      pass.key_ranks, cost.flops.value);
  if (cost.state_elements > 0)
    text +=
        fmt::format("; its state in f32: {:.12g} elements read and written", cost.state_elements);
  return text;
}

std::vector<std::string> mlp_texts(const Study& study, const Mlp& mlp, const ForwardPass& pass) {
  const Architecture& a = *study.model.architecture;
  const MlpWeights weights = num_weights(mlp, as_double(study.model.hidden_size));
  std::vector<std::string> lines{fmt::format("{}: {:.12g} weights in {} for all tokens / {} ranks",
                                             name(mlp), weights.common, name(a.weight_dtype),
                                             study.tensor_parallel_size)};
  const auto* experts = std::get_if<ExpertMlp>(&mlp);
  if (experts == nullptr) return lines;
  lines.push_back(fmt::format(
      "router{}: {:.12g} weights in {} for all tokens, whole on every rank; at the low end shared "
      "out",
      experts->latent_width ? " and latent projections" : "", weights.on_every_rank,
      name(study.model.dtype)));
  const Sharding sharding = sharding_of(study, pass);
  const double tokens = tokens_at_experts(pass.tokens(), sharding);
  const ExpertLoad load = expert_load(*experts, tokens, sharding.expert, study.routing);
  lines.push_back(fmt::format("an expert: {:.12g} weights in {} / {:g} ranks", weights.per_expert,
                              name(a.expert_dtype), ranks_per_expert(sharding)));
  lines.push_back(fmt::format(
      "{:g} tokens choose {} of {} experts over {} ranks, routing {}: a rank wakes {:.6g} [{:.6g}, "
      "{:.6g}] of its experts, and {:.6g} [{:.6g}, {:.6g}] tokens visit it",
      tokens, experts->num_active, experts->num_experts, sharding.expert,
      study.routing ? name(*study.routing) : "not stated", load.value.distinct_experts,
      load.low.distinct_experts, load.high.distinct_experts, load.value.token_visits,
      load.low.token_visits, load.high.token_visits));
  return lines;
}

/// The numbers that go into the parts of a term, pass by pass.
std::vector<std::string> inputs_of(const Study& study, RestTerm term, const ForwardPass& pass) {
  const Architecture& a = *study.model.architecture;
  std::vector<std::string> lines{pass_text(pass)};
  if (term == RestTerm::attention)
    for (const AttentionLayers& layers : a.attention)
      lines.push_back(attention_text(study, layers.attention, pass));
  if (term == RestTerm::mlp)
    for (const MlpLayers& layers : a.mlp)
      for (std::string& line : mlp_texts(study, layers.mlp, pass)) lines.push_back(std::move(line));
  if (term == RestTerm::mlp && !a.tables.empty())
    lines.push_back(fmt::format("other projections: {:.12g} weights in {} / {} ranks",
                                num_projections(a.tables), name(a.weight_dtype),
                                study.tensor_parallel_size));
  if (term == RestTerm::head)
    lines.push_back(fmt::format("vocabulary {} x d {} / {} ranks in {}", a.vocabulary_size,
                                study.model.hidden_size, study.tensor_parallel_size,
                                name(study.model.dtype)));
  if (term == RestTerm::collectives)
    lines.push_back(fmt::format("{:g} tokens x d {} in {}", pass.tokens(), study.model.hidden_size,
                                name(study.model.dtype)));
  if (term == RestTerm::launches)
    lines.push_back(
        "a kernel takes what its kind took in measured decode steps, and no less than "
        "its launch (model/machine/constants.hpp)");
  return lines;
}

struct Derivation {
  std::string formula;
  std::string function;
};

Derivation derivation_of(RestTerm term) {
  switch (term) {
    case RestTerm::attention:
      return {
          "sum over layers of max(bytes / bandwidth, operations / (share x rate)); bytes: "
          "weights once, cache and state of every sequence",
          "model/step/layer_work.cpp: attention_work; model/step/layer_cost.cpp: attention_cost"};
    case RestTerm::mlp:
      return {
          "sum over layers of max(bytes / bandwidth, operations / (share x rate)); bytes: "
          "weights that all tokens read, and of the experts that are woken",
          "model/step/layer_work.cpp: common_mlp_work, routed_work, table_work; "
          "model/architecture/expert_load.cpp: expert_load"};
    case RestTerm::head:
      return {
          "max(bytes / bandwidth, operations / (share x rate)) of V d / tensor weights; logits "
          "of every new token at decode and in training, of a prompt's last token alone",
          "model/step/layer_work.cpp: head_work"};
    case RestTerm::collectives:
      return {
          "sum over attentions and MLPs of the time of their collective, measured or derived from what was",
          "model/step/collectives.cpp: collectives_of; model/machine/transfer.cpp: transfer_time"};
    case RestTerm::launches:
      return {
          "kernels of all layers and of the head x what a kernel of their kind takes; in a decode "
          "step + sequences x what an engine may take for one",
          "model/step/rest_of_step.cpp: num_kernels, kernel_floor, sequences_part"};
  }
  return {};
}

bool is_trained_on_gpu(const Evaluation& e, const Workload& workload) {
  return workload.id.kind == WorkloadKind::training && has_training_shares(*e.study.machine);
}

/// Where a term of a training step on a GPU comes from.
Derivation training_derivation_of(RestTerm term) {
  const std::string function = "model/training/rest_of_training.cpp: training_row";
  if (term == RestTerm::launches) return {"inside the shares of the products", function};
  if (term == RestTerm::collectives)
    return {
        "tokens for experts in other nodes: rows x width, there and back, / (share x network "
        "bandwidth); the measured time of what tensor ranks exchange, inside a node as far as it "
        "lasts longer than the products",
        "model/training/rest_of_training.cpp: dispatch_part, add_joins"};
  return {
      "sum over layers of error x max(products / (share x rate) + scores and mixes / (share x "
      "bf16 rate), bytes / datasheet's bandwidth); shares are those of whole measured steps",
      function};
}

bool has_prompt(const Workload& workload) {
  return workload.id.kind == WorkloadKind::prefill ||
         std::any_of(workload.passes.begin(), workload.passes.end(),
                     [](const Pass& pass) { return pass.forward.prompt.has_value(); });
}

std::vector<std::string> modelled_numbers(const Evaluation& e, const RestRow& row,
                                          const Workload& workload) {
  std::vector<std::string> lines;
  const bool is_trained = is_trained_on_gpu(e, workload);
  const Study study = is_trained ? as_trained(e.study) : e.study;
  const bool is_product = row.term != RestTerm::collectives && row.term != RestTerm::launches;
  for (const Pass& pass : workload.passes)
    for (std::string& line : is_product || !is_trained
                                 ? inputs_of(study, row.term, pass.forward)
                                 : std::vector<std::string>{pass_text(pass.forward)})
      lines.push_back(std::move(line));
  if (is_product) lines.push_back(is_trained ? training_rates_text(study) : rates_text(study));
  for (const RestPart& part : row.parts) lines.push_back(part_text(part));
  const bool has_experts =
      std::any_of(row.parts.begin(), row.parts.end(),
                  [](const RestPart& part) { return part.name == "routed experts"; });
  if (has_experts && !is_trained && has_prompt(workload))
    lines.push_back(
        fmt::format("operations of a prompt's routed experts take {} times what their rate says",
                    share_text(e.study.machine->engine.prefill_of_experts)));
  if (row.term == RestTerm::collectives && row.parts.empty())
    lines.emplace_back(is_trained ? "nothing crosses nodes, and one tensor rank sends nothing"
                                  : "one rank by itself sends nothing");
  return lines;
}

}  // namespace

std::string metric_of(const RestRow& row) {
  return explained::metric({"rest", name(row.workload), name(row.term)});
}

void explain(const Evaluation& e, Explanations& out) {
  if (e.rest.empty()) return;
  std::vector<Workload> workloads = workloads_of(e.study, e.study.path, e.study.schedule);
  if (e.study.training) workloads.push_back(training_workload(e.study));
  for (const Workload& workload : workloads)
    for (const RestRow& row : e.rest) {
      if (row.workload != workload.id) continue;
      const bool is_trained = is_trained_on_gpu(e, workload);
      const Derivation derivation =
          is_trained ? training_derivation_of(row.term) : derivation_of(row.term);
      const bool is_written = row.origin == RestOrigin::written;
      Explanation x{.metric = metric_of(row),
                    .formula = is_written ? "measured by the user" : derivation.formula,
                    .source = is_trained ? "[ours] REFERENCES.md, training"
                                         : "[ours] REFERENCES.md, rest of the step",
                    .numbers = {},
                    .function = is_written ? "model/step/rest_of_step.cpp: written_row"
                                           : derivation.function};
      if (!is_written) x.numbers = modelled_numbers(e, row, workload);
      x.numbers.push_back(fmt::format("= {}", interval_text(row.time)));
      out.push_back(std::move(x));
    }
}

}  // namespace depthcost::rest_section

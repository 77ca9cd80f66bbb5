// Each number of the training step, taken apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "reports/formats/numbers.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost::training_section {
namespace {

using explained::letters;
using explained::metric;
using explained::percent_text;

std::string milliseconds(Seconds seconds) { return fmt::format("{:.6g} ms", 1e3 * seconds.value); }

std::string milliseconds(const Estimate<Seconds>& time) {
  return fmt::format("{} [{}, {}]", milliseconds(time.value), milliseconds(time.low),
                     milliseconds(time.high));
}

std::string path_text(const Study& study, const TrainingRun& run) {
  const Training& training = *study.training;
  return fmt::format(
      "residual path of one micro-batch, all chunks: forward {}, backward {}, "
      "recompute {} ({})",
      milliseconds(run.forward), milliseconds(run.backward), milliseconds(run.recompute),
      name(training.activations));
}

std::string simulated_text(const TrainingRun& run) {
  const std::string pipeline =
      fmt::format("simulated: {}, bubble {:.4g} %, exposed messages between stages {}",
                  milliseconds(run.makespan), 100 * run.bubble, milliseconds(run.communication));
  if (run.reduction == Seconds{}) return pipeline;
  return pipeline +
         fmt::format(
             "; then {} of exposed exchange between replicas (model/training/replicas.cpp: "
             "reduction_time)",
             milliseconds(run.reduction));
}

/// Tokens a second and MFU, with what they are made of.
std::string throughput_text(const Evaluation& e, const Throughput& of) {
  return fmt::format(
      "throughput (model/training/throughput.cpp): {:.6g} tokens/s on {} devices; {:.6g} operations "
      "of a token, so that a device does {:.6g} of {:.6g} FLOP/s: MFU {:.4g} % [palm]",
      of.tokens_per_second, num_devices(e.study), model_flops_per_token(e.study).value,
      of.model_rate.value, e.study.machine->tensor_rate->value, 100 * of.utilization);
}

/// The gradients, the kernels that make them, and their benchmarks.
std::vector<std::string> gradient_texts(const TrainingRun& run, GradientAccumulation accumulation) {
  const BackwardRule& backward = *run.path->scheme.rule->backward;
  if (backward.gradients == nullptr)
    return {"gradients: no kernel of ours; counts follow from the update"};
  const GradientRule rule = backward.gradients(run.schedule, accumulation);
  std::vector<std::string> texts{fmt::format("gradients: {}", rule.equations)};
  if (rule.kernels.empty()) {
    texts.emplace_back("kernels: none of ours for this schedule");
    return texts;
  }
  texts.push_back(
      fmt::format("kernels: {}; kernels/README.md; bench_kernels --benchmark_filter='/({})/'",
                  fmt::join(rule.kernels, ", "), fmt::join(rule.kernels, "|")));
  return texts;
}

Explanation run_explanation(const Evaluation& e, const TrainingRun& run) {
  Explanation x{
      .metric = metric({"training.by_scheme", name(run.path->scheme), name(run.schedule)}),
      .formula =
          "order tables as a dependency graph; a chunk takes its share of the layers and "
          "its own residual operations",
      .source = "[ours] REFERENCES.md, training",
      .numbers = {pipeline_text(e.study), letters(*run.path), path_text(e.study, run)},
      .function = fmt::format(
          "model/training/training_step.cpp: training_run; model/training/training_work.cpp: "
          "residual_work; model/schemes/{}: BackwardRule; "
          "model/pipeline/pipeline_simulation.cpp: simulate",
          run.path->scheme.rule->file)};
  for (std::string& text : gradient_texts(run, e.study.training->gradient_accumulation))
    x.numbers.push_back(std::move(text));
  x.numbers.push_back(fmt::format("adding up gradients as {}: {:.6g} d a token beyond one read",
                                  name(e.study.training->gradient_accumulation),
                                  run.accumulation_d));
  x.numbers.push_back(simulated_text(run));
  if (const auto all = throughput_of(e, run)) x.numbers.push_back(throughput_text(e, *all));
  return x;
}

Explanation chunk_explanation(const Evaluation& e, std::size_t chunk) {
  const PipelineLayout layout = layout_of(e.study);
  const ChunkTimes& times = e.training.work->chunks[chunk];
  return {.metric = fmt::format("training.chunks.{}", chunk),
          .formula = fmt::format(
              "forward: layers + residual path; recompute: what is not kept, again; backward for "
              "inputs: layers' products + {} x their scores and mixes + collectives + residual "
              "path; backward for weights: layers' products; a pass lasts as long as what is "
              "offloaded or exchanged between replicas beside it",
              kCoreBackward),
          .source = "[ours] REFERENCES.md, training",
          .numbers = {fmt::format("{} layers on stage {}", layout.chunk_layers[chunk],
                                  stage_of_chunk(static_cast<Count>(chunk), layout.num_stages)),
                      fmt::format("forward {}, recompute {}, backward {} + {}",
                                  milliseconds(times.forward), milliseconds(times.recompute),
                                  milliseconds(times.backward_input),
                                  milliseconds(times.backward_weight))},
          .function =
              "model/training/training_work.cpp: residual_work, layer_work; "
              "model/training/training_step.cpp: chunk_times"};
}

Explanation transition_explanation(const Evaluation& e, std::size_t transition) {
  const PipelineWork& work = *e.training.work;
  const StageLink& link = work.links[transition];
  const Training& training = *e.study.training;
  const Count vectors = payload_vectors(e.study, e.study.path)[transition];
  return {.metric = fmt::format("training.transitions.{}", transition),
          .formula = "d-vectors x tokens x d elements; time: latency + bytes / bandwidth",
          .source = "[attnres] Sec. 4.1, enumerated",
          .numbers = {fmt::format("chunk {} to {}, cache {}: {} d a token", transition,
                                  transition + 1, name(training.cache), vectors),
                      fmt::format(
                          "{:.12g} bytes on in {}, {:.12g} back in {}",
                          work.forward_messages[transition].value, name(training.wire_dtype),
                          work.backward_messages[transition].value, name(training.gradient_dtype)),
                      std::isfinite(link.bandwidth.value)
                          ? fmt::format("{} + bytes / {}", milliseconds(link.latency),
                                        format_bandwidth(link.bandwidth))
                          : "taken as free"},
          .function =
              "model/training/training_work.cpp: payload_vectors, forward_messages, stage_links"};
}

Explanation stage_explanation(const Evaluation& e, std::size_t stage) {
  const SimulatedStep& step = *e.training.simulated;
  return {.metric = fmt::format("training.stages.{}", stage),
          .formula =
              "a task starts when the one before it in its table is done and its messages "
              "are there",
          .source = "[ours] REFERENCES.md, pipeline schedules",
          .numbers = {pipeline_text(e.study),
                      fmt::format("computes {} of {}, waits {} for messages that were sent",
                                  milliseconds(step.busy[stage]), milliseconds(step.makespan),
                                  milliseconds(step.communication[stage])),
                      fmt::format("at most {} forward passes wait for their backward pass, {} "
                                  "gradients of inputs for those of the weights",
                                  step.peak_in_flight[stage], step.peak_weights_pending[stage])},
          .function = "model/pipeline/pipeline_simulation.cpp: simulate"};
}

std::string baseline_text(const Evaluation& e, const StepRow& row) {
  if (!row.baseline_step) return "no baseline step: " + row.missing;
  const std::string text =
      fmt::format("baseline: the same pipeline with the fused standard residual ({}), {}",
                  name(baseline_path(e.study, *row.path, WorkloadKind::training).attachment),
                  milliseconds(*row.baseline_step));
  return text + (e.study.training->baseline_step ? ", measured by the user" : ", modelled");
}

}  // namespace

std::string pipeline_text(const Study& study) {
  const Training& training = *study.training;
  const PipelineLayout layout = layout_of(study);
  return fmt::format("{}: P = {}, V = {}, M = {}; {:g} tokens of a micro-batch on one device",
                     name(training.schedule), layout.num_stages, layout.num_virtual_stages,
                     training.num_micro_batches, training_tokens(study));
}

void explain(const Evaluation& e, Explanations& out) {
  if (!e.training.work) return;
  for (const TrainingRun& run : e.training.runs) out.push_back(run_explanation(e, run));
  for (std::size_t chunk = 0; chunk < e.training.work->chunks.size(); ++chunk)
    out.push_back(chunk_explanation(e, chunk));
  for (std::size_t i = 0; i < e.training.work->links.size(); ++i)
    out.push_back(transition_explanation(e, i));
  for (std::size_t stage = 0; stage < e.training.simulated->stages.size(); ++stage)
    out.push_back(stage_explanation(e, stage));
  Explanation shapes = explain_shapes(e.study);
  if (!shapes.numbers.empty()) out.push_back(std::move(shapes));
}

Explanation explain_step(const Evaluation& e, const StepRow& row) {
  Explanation x{
      .metric = metric({"step.training", name(row.path->scheme), name(row.schedule)}),
      .formula = "length of the simulated step, less that with the fused standard residual",
      .source = "[ours] REFERENCES.md, training",
      .numbers = {pipeline_text(e.study)},
      .function =
          fmt::format("model/training/training_step.cpp: step_row; model/schemes/{}: BackwardRule; "
                      "model/pipeline/pipeline_simulation.cpp: simulate",
                      row.path->scheme.rule->file)};
  for (const TrainingRun& run : e.training.runs)
    if (run.path == row.path && run.schedule == row.schedule) {
      x.numbers.push_back(path_text(e.study, run));
      for (std::string& text : gradient_texts(run, e.study.training->gradient_accumulation))
        x.numbers.push_back(std::move(text));
      x.numbers.push_back(simulated_text(run));
    }
  x.numbers.push_back(baseline_text(e, row));
  x.numbers.push_back("added " + milliseconds(row.delta));
  if (row.overhead)
    x.numbers.push_back(percent_text("overhead: added / baseline step", *row.overhead));
  if (row.share)
    x.numbers.push_back(percent_text("share: residual path of a stage / step", *row.share));
  return x;
}

}  // namespace depthcost::training_section

// The training step: residual path, pipeline and memory.
#include <fmt/format.h>

#include "model/schemes/list.hpp"
#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/markdown_sections.hpp"
#include "reports/table.hpp"

namespace depthcost::markdown_sections {
namespace {

std::string setup_text(const Study& study) {
  const Training& training = *study.training;
  const PipelineLayout layout = layout_of(study);
  std::string text = fmt::format(
      "One optimiser step of one replica, without the optimiser: {} micro-batches of {} x {} "
      "tokens, {} of them on a device. ",
      format_count(training.num_micro_batches), format_count(training.micro_batch_size),
      format_count(training.sequence_length),
      format_count(static_cast<Count>(training_tokens(study))));
  if (layout.num_stages > 1)
    text += fmt::format(
        "{} stages with {} virtual stages each run `{}`; sends are {}; a stage caches blocks as "
        "`{}` says. ",
        layout.num_stages, layout.num_virtual_stages, name(training.schedule),
        training.sends == Sends::blocking ? "blocking" : "overlapped with computing",
        name(training.cache));
  return text + fmt::format(
                    "Activations of the residual path: `{}`; gradients of a source that many "
                    "layers read are added up as `{}`. Backward times are assumed: no backward "
                    "kernel has been measured.",
                    name(training.activations), name(training.gradient_accumulation));
}

/// How much of what is added is communication that the standard residual does not expose.
std::string communication_text(const Evaluation& e) {
  const TrainingRun* own = training_run(e, e.study.path, e.study.schedule);
  const TrainingRun* standard = training_run(e, {Scheme{schemes::kStandard}, 0}, Schedule::fused);
  if (own == nullptr || standard == nullptr || e.training.rest.rows.empty()) return {};
  return fmt::format(
      "Of the {} that `{}` as `{}` adds, {} are communication that the standard residual does not "
      "expose; the bubble is {} instead of {} of the step.",
      format_seconds(own->makespan - standard->makespan, Sign::always), name(own->path->scheme),
      name(own->schedule), format_seconds(own->communication - standard->communication),
      format_ratio(own->bubble), format_ratio(standard->bubble));
}

std::string links_text(const Evaluation& e) {
  const PipelineWork& work = *e.training.work;
  if (work.links.empty()) return "Without a pipeline nothing is sent and nobody waits.";
  if (!stage_links(e.study, work.forward_messages))
    return "The hardware knows no sends: communication is taken as free, which is too little.";
  if (e.training.rest.rows.empty())
    return "Communication is not judged without the layers that hide it.";
  return {};
}

std::string context_text(const Study& study) {
  if (study.context_parallel_size == 1) return {};
  return fmt::format(
      "What the {} context ranks exchange of keys and values, forward and back, is not modelled: "
      "the step is too short by that, with every scheme alike.",
      study.context_parallel_size);
}

void write_details(Document& out) {
  const Evaluation& e = out.evaluation();
  const std::string own =
      fmt::format("{} as {}", name(e.study.path.scheme), name(e.study.schedule));
  out.paragraph(
      fmt::format("<details><summary>{}, stage by stage and chunk by chunk</summary>", own));
  out.table(stage_table(e));
  out.table(chunk_table(e));
  out.paragraph("</details>");
}

}  // namespace

void write_training(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.training.work) return;
  out.heading("Training step");
  out.paragraph(setup_text(e.study));
  out.paragraph(
      "`forward`, `backward`, `recompute`: the residual path of all chunks on one micro-batch. "
      "`step`: the simulated pipeline with the layers beside it; `bubble`: share in which a stage "
      "does not compute; `communication`: what free links would save.");
  out.table(training_time_table(e));
  if (const std::string text = communication_text(e); !text.empty()) out.paragraph(text);
  if (const std::string text = links_text(e); !text.empty()) out.paragraph(text);
  if (const std::string text = context_text(e.study); !text.empty()) out.paragraph(text);
  out.plot("schedule.svg");
  out.paragraph(
      "`gradient sums`: d-vectors per token and step that adding them up moves beyond a backward "
      "pass that reads every source once; less than nothing where one kernel for a block spares "
      "reads. Memory is that of the fullest stage with all micro-batches in flight: `activations` "
      "made there, `received blocks` that came over the pipeline. Weights, gradients of weights, "
      "the optimiser and the layers' own activations are not counted.");
  out.table(training_memory_table(e));
  write_details(out);
}

}  // namespace depthcost::markdown_sections

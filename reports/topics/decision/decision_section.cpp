// What it costs, whether it fits, and what others have measured.
#include "reports/topics/decision/decision_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "model/base/counted.hpp"
#include "model/decision/batch_runs.hpp"
#include "model/decision/decoder_layer.hpp"
#include "model/evaluation/scheme_verdict.hpp"
#include "model/schemes/list.hpp"
#include "model/step/scheme_payload.hpp"
#include "reports/formats/markdown_text.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/budgets/claim_section.hpp"
#include "reports/topics/decision/verdict_lines.hpp"
#include "reports/topics/measured/published_section.hpp"
#include "reports/topics/memory/memory_sentence.hpp"
#include "reports/topics/time/attachment_section.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace decision_section {
namespace {

std::string attachment_text(Attachment attachment) {
  switch (attachment) {
    case Attachment::standalone:
      return "has kernels of its own";
    case Attachment::all_reduce:
      return "is fused with the all-reduce before each layer";
    case Attachment::reduce_scatter:
      return "is fused with the reduce-scatter before each layer";
    case Attachment::gemm_epilogue:
      return "is fused with the matrix product before each layer";
  }
  return "";
}

/// "is fused with the all-reduce before each layer at decode and has kernels of its own at
/// prefill".
std::string baseline_attachments(const Evaluation& e) {
  std::map<Attachment, std::vector<std::string>> kinds;
  for (const WorkloadKind kind : kEnumerators<WorkloadKind>)
    if (std::any_of(e.step.begin(), e.step.end(),
                    [&](const StepRow& row) { return row.workload.kind == kind; }))
      kinds[baseline_path(e.study, e.paths.front(), kind).attachment].emplace_back(name(kind));
  std::vector<std::string> texts;
  for (const auto& [attachment, names] : kinds)
    texts.push_back(fmt::format("{}{}", attachment_text(attachment),
                                kinds.size() == 1 ? "" : " at " + listed(names)));
  return listed(texts);
}

/// "At decode `block_attnres` is fused with the all-reduce; `mhc` runs in kernels of its own."
/// Empty where there is nothing to fold into.
std::string folding_sentence(const Evaluation& e) {
  if (!e.study.decode || e.study.attachment || !has_all_reduce(e.study)) return "";
  std::vector<std::string> folded;
  std::vector<std::string> alone;
  for (const ResidualPath& path : e.paths) {
    if (is_standard(path.scheme)) continue;
    const Schedule schedule = quoted_schedule(e.study, path);
    const bool is_folded =
        attached_path(e.study, path, schedule, WorkloadKind::decode).attachment !=
        Attachment::standalone;
    (is_folded ? folded : alone).push_back(fmt::format("`{}`", name(path.scheme)));
  }
  std::vector<std::string> parts;
  if (!folded.empty())
    parts.push_back(fmt::format("{} {} fused with the all-reduce", listed(folded),
                                folded.size() == 1 ? "is" : "are"));
  if (!alone.empty())
    parts.push_back(fmt::format("{} {} in kernels of {} own", listed(alone),
                                alone.size() == 1 ? "runs" : "run",
                                alone.size() == 1 ? "its" : "their"));
  return parts.empty() ? "" : fmt::format(" At decode {}.", fmt::join(parts, "; "));
}

/// How to ask about AttnRes, where the question left it out: no block size suits every model.
std::string unasked_sentence(const Evaluation& e) {
  const bool has_attnres =
      std::any_of(e.paths.begin(), e.paths.end(),
                  [](const ResidualPath& path) { return blocks_of(path.scheme) != nullptr; });
  if (has_attnres || !is_standard(e.study.path.scheme) || e.step.empty()) return "";
  return "Attention Residuals are not shown, since they need a block size: --set "
         "residual.compare=block_attnres --set residual.block_size=8.";
}

/// The largest transition. Training sends what its cache leaves, in its wire type.
std::string payload(const Evaluation& e, WorkloadId workload) {
  if (!e.pipeline) return "none";
  const Study& study = e.study;
  // Stages of inference keep the blocks that they have received: stage_sends.cpp.
  Count peak = e.pipeline->by_scheme.front().cached.peak;
  if (workload.kind == WorkloadKind::training)
    peak = scheme_payload(*study.pipeline, study.path, study.training->cache).peak;
  const Bytes bytes = payload_bytes(study, workload.kind, peak);
  return fmt::format("{}, {}", format_d(static_cast<double>(peak)), format_bytes(bytes));
}

double mean_kernel_d(const Evaluation& e, Schedule schedule) {
  return total_d(mean_traffic(e.paths.front(), {schedule, Convention::kernel}));
}

Bytes forward_bytes(const Evaluation& e, Schedule schedule, Dtype phase1_dtype) {
  VectorStorage types = storage_of(e.study);
  types.phase1_dtype = phase1_dtype;
  return bytes(forward_traffic(e.paths.front(), {schedule, Convention::kernel}), types);
}

/// Empty where a time is predicted, which says more.
std::string traffic_sentence(const Evaluation& e) {
  if (!e.step.empty()) return "";
  return fmt::format("`{}` run as `{}` moves {:.2f} d a layer; no time is predicted without {}.",
                     name(e.paths.front().scheme), name(e.study.schedule),
                     mean_kernel_d(e, e.study.schedule),
                     e.study.machine ? "a workload" : "hardware");
}

/// Empty without a pipeline.
std::string boundary_sentence(const Evaluation& e) {
  if (!e.pipeline) return "";
  std::vector<std::string> points;
  for (const WorkloadId workload : workloads_of_rows(e.memory))
    points.push_back(fmt::format("{} at {}", payload(e, workload), name(workload)));
  if (points.empty()) return "";
  return fmt::format("The largest boundary between stages carries for each token {}.",
                     listed(points));
}

/// "1 to 12 and 97 to 1,024 sequences"; empty without such a run. An overhead that goes up and down
/// with the waves of a kernel has more runs than a reader wants.
std::string batches(const std::vector<BatchRun>& runs, BatchFate fate) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> texts;
  Count last = 0;
  for (const BatchRun& run : runs) {
    if (run.fate != fate) continue;
    last = run.last;
    texts.push_back(run.first == run.last
                        ? format_count(run.first)
                        : fmt::format("{} to {}", format_count(run.first), format_count(run.last)));
  }
  if (texts.empty()) return "";
  if (texts.size() > kMost) {
    texts.resize(kMost - 1);
    texts.push_back(fmt::format("some others up to {}", format_count(last)));
  }
  return listed(texts) + (texts.size() == 1 && texts.front() == "1" ? " sequence" : " sequences");
}

/// Where the limit is crossed. Empty where no batch has per cent.
std::string batch_sentence(const Evaluation& e) {
  const ResidualPath& path = e.paths.front();
  if (is_reference(e.study, path)) return "";
  const double limit = overhead_limit(e.study, BudgetKind::decode_overhead).limit;
  const auto runs = batch_runs(e.study, path, quoted_schedule(e.study, path), limit);
  const std::string keeps = batches(runs, BatchFate::keeps);
  const std::string breaks = batches(runs, BatchFate::breaks);
  if (keeps.empty() && breaks.empty()) return "";
  const std::string bound = format_ratio(limit);
  std::string text = fmt::format("At decode the median of `{}` ", name(path.scheme));
  text += keeps.empty() ? fmt::format("breaks the limit of {} for {}", bound, breaks)
                        : fmt::format("keeps the limit of {} for {}", bound, keeps);
  if (!keeps.empty() && !breaks.empty()) text += fmt::format(", and breaks it for {}", breaks);
  text += ".";
  if (const std::string tight = batches(runs, BatchFate::may_not_fit); !tight.empty())
    text += fmt::format(" With {} it fits, but less than a tenth of the memory is left.", tight);
  if (const std::string large = batches(runs, BatchFate::does_not_fit); !large.empty())
    text += fmt::format(" {} do not fit.", large);
  return text;
}

/// Empty without speculative decoding.
std::string speculation_sentence(const Evaluation& e) {
  if (!e.study.decode || e.study.decode->speculation.tokens == 1) return "";
  const auto [tokens, accepted] = e.study.decode->speculation;
  std::vector<std::string> points;
  for (const WorkloadId workload : workloads_of_rows(e.step))
    if (const StepRow* row = quoted_step(e, workload, e.paths.front());
        row != nullptr && workload.kind == WorkloadKind::decode)
      points.push_back(fmt::format(
          "{} at {}", format_seconds((1 / accepted) * row->delta, Sign::always), name(workload)));
  if (points.empty()) return "";
  return fmt::format(
      "A decode step checks {} tokens of each sequence and keeps {:g} in the mean. To each kept "
      "token `{}` adds {}.",
      tokens, accepted, name(e.paths.front().scheme), fmt::join(points, ", "));
}

/// Empty without chunked prefill beside decode.
std::string prompt_sentence(const Evaluation& e) {
  if (!e.study.decode || !e.study.decode->prompt) return "";
  const PromptChunk& prompt = *e.study.decode->prompt;
  std::vector<std::string> batches;
  for (const Count sequences : e.study.decode->sequences)
    batches.push_back(format_count(sequences));
  return fmt::format(
      "A decode step is one of {} sequences with a chunk of {} prompt tokens behind {} of the same "
      "prompt (`workload.decode.prefill_tokens`).",
      listed(batches), format_count(prompt.tokens),
      format_count(context_of(prompt, *e.study.decode)));
}

/// Two phases save reads of the bank and pay with stored Phase 1 outputs; how these are stored
/// decides.
std::string two_phase_sentence(const Evaluation& e) {
  if (e.aggregation.source_rows == 0) return "";
  if (largest_block(*blocks_of(e.study.path.scheme)) == 1)
    return "Blocks of one layer leave a second phase nothing to do.";
  const Bytes single = forward_bytes(e, Schedule::single_pass, Dtype::bf16);
  const auto saved = [&](Dtype dtype) {
    const double share = 1 - forward_bytes(e, Schedule::two_phase, dtype) / single;
    return share >= 0 ? fmt::format("{:.0f} % fewer", 100 * share)
                      : fmt::format("{:.0f} % more", -100 * share);
  };
  return fmt::format(
      "A forward pass as `two_phase` moves {} bytes than as `single_pass` if Phase 1 outputs are "
      "stored in bf16, and {} if in f32.",
      saved(Dtype::bf16), saved(Dtype::f32));
}

/// "tensor 8, pipeline 8"; empty on one device.
std::string ranks_text(const Study& study) {
  const Count stages = study.pipeline ? study.pipeline->num_stages : 1;
  std::string parts;
  for (const auto& [what, size] :
       {std::pair{"tensor", study.tensor_parallel_size}, std::pair{"pipeline", stages},
        std::pair{"data", study.data_parallel_size},
        std::pair{"context", study.context_parallel_size},
        std::pair{"expert", study.model.architecture && has_experts(*study.model.architecture)
                                ? study.expert_parallel_size
                                : Count{1}}})
    if (size > 1) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", what, size);
  return parts;
}

/// "64 x NVIDIA H100 SXM".
std::string devices_text(const Study& study) {
  const Count devices = num_devices(study);
  return devices == 1 ? study.machine->name
                      : fmt::format("{} x {}", format_count(devices), study.machine->name);
}

/// "On 64 x NVIDIA H100 SXM: tensor 8, pipeline 8", a line; empty without hardware.
std::string placement_text(const Study& study) {
  if (!study.machine) return "";
  const std::string ranks = ranks_text(study);
  return fmt::format("On {}{}{}\n", devices_text(study), ranks.empty() ? "" : ": ", ranks);
}

/// ", on 64 x NVIDIA H100 SXM (tensor 8, pipeline 8)", for Markdown.
std::string where_text(const Study& study) {
  if (!study.machine) return "";
  const std::string ranks = ranks_text(study);
  return fmt::format(", on {}{}", escaped(devices_text(study)),
                     ranks.empty() ? "" : fmt::format(" ({})", ranks));
}

/// "Prefill: 131,072 tokens in chunks of 16,384, shared out over 8 devices on the residual path."
std::string prefill_text(const Study& study) {
  const Prefill& prefill = *study.prefill;
  std::string text = fmt::format("Prefill: {} tokens", format_count(prefill.tokens));
  if (prefill.chunk && *prefill.chunk < prefill.tokens)
    text += fmt::format(" in chunks of {}", format_count(*prefill.chunk));
  if (prefill.sequence_shards > 1)
    text += fmt::format(". The residual path is sequence-parallel over {} devices",
                        prefill.sequence_shards);
  else if (study.tensor_parallel_size > 1)
    text += ". Every device has all prefill tokens on its residual path";
  return text + ".";
}

/// " on each of 16 replicas", or empty.
std::string replicas_text(const Study& study) {
  if (study.data_parallel_size == 1) return "";
  return fmt::format(" on each of {} data-parallel replicas",
                     format_count(study.data_parallel_size));
}

/// ", with 512 tokens of a prompt in each step", or empty.
std::string prompt_text(const Decode& decode) {
  if (!decode.prompt) return "";
  return fmt::format(", with {} tokens of a prompt in each step",
                     format_count(decode.prompt->tokens));
}

/// ", each with 4 tokens to check, of which it keeps 2.5", or empty.
std::string speculation_text(const Decode& decode) {
  const auto [tokens, accepted] = decode.speculation;
  return tokens == 1 ? ""
                     : fmt::format(", each with {} tokens to check, of which it keeps {:g}",
                                   format_count(tokens), accepted);
}

/// "Decode: 1, 64 and 512 sequences of 8,192 tokens. Prefill: ..."
std::string workload_text(const Study& study) {
  std::vector<std::string> parts;
  if (study.decode) {
    std::vector<std::string> batches;
    for (const Count sequences : study.decode->sequences)
      batches.push_back(format_count(sequences));
    const bool is_one = study.decode->sequences == std::vector<Count>{1};
    parts.push_back(fmt::format("Decode: {} {} of {} tokens{}{}{}.", listed(batches),
                                is_one ? "sequence" : "sequences",
                                format_count(study.decode->context), replicas_text(study),
                                prompt_text(*study.decode), speculation_text(*study.decode)));
  }
  if (study.prefill) {
    parts.push_back(prefill_text(study));
  }
  if (study.training)
    parts.push_back(fmt::format(
        "Training: {} of {} x {} tokens.",
        format_counted(study.training->num_micro_batches, "micro-batch", "micro-batches"),
        format_count(study.training->micro_batch_size),
        format_count(study.training->sequence_length)));
  return fmt::format("{}", fmt::join(parts, " "));
}

/// Why AttnRes costs more at decode here than on another part.
std::string row_loads_sentence(const Study& study) {
  const bool is_attnres = study.path.scheme.rule == &schemes::kFullAttnRes ||
                          study.path.scheme.rule == &schemes::kBlockAttnRes;
  if (!study.decode || !is_attnres || !study.machine || !study.machine->few_tokens) return "";
  if (study.machine->few_tokens->style.attnres_loads != RowLoads::loop) return "";
  return " AttnRes at decode takes longer here than on B200 and B300: the published kernels for this "
         "GPU load the sources of a token a few at a time, not all at once.";
}

/// What a training step waits for, and what others measured of one.
std::vector<std::string> training_sentences(const Evaluation& e) {
  std::vector<std::string> sentences{training_section::communication_sentence(e),
                                     training_section::balance_sentence(e)};
  std::erase(sentences, "");
  for (const StepRow& row : e.step)
    if (row.workload.kind == WorkloadKind::training && row.overhead &&
        row.schedule == quoted_schedule(e.study, *row.path))
      if (const std::string_view measured = row.path->scheme.rule->measured_training;
          !measured.empty())
        sentences.push_back(fmt::format(
            "`{}`: {} Predicted here, with {} streams: {}.", name(row.path->scheme), measured,
            row.path->scheme.parameters.num_streams, format_ratio(*row.overhead, Sign::always)));
  return sentences;
}

/// What schemes move where no time is predicted.
Table traffic_table(const Evaluation& e) {
  Table table{{"scheme", "schedule", right("d a layer"), right("forward pass, a token")}};
  for (const ResidualPath& path : e.paths) {
    const Counting counted{quoted_schedule(e.study, path), Convention::kernel};
    table.add(name(path.scheme), schedule_label(path.scheme, counted.schedule),
              fmt::format("{:.2f}", total_d(mean_traffic(path, counted))),
              format_bytes(bytes(forward_traffic(path, counted), storage_of(e.study))));
  }
  return table;
}

/// By what the answer may be wrong: of the values, then what measurements say.
std::vector<std::string> warnings_of(const Evaluation& e, const ReportParts& parts) {
  std::vector<std::string> warnings;
  for (const std::string& warning : value_warnings(parts.values))
    warnings.push_back("Warning: " + warning);
  for (std::string& warning : published_warnings(e, parts)) warnings.push_back(std::move(warning));
  return warnings;
}

void append_verdict(std::string& text, const Evaluation& e) {
  for (const std::string& line : verdict_lines(e)) text += line + "\n";
  if (const Table table = cost_table(e); !table.rows.empty())
    text += fmt::format("\n{}\n{}\n", plain_text(table), cost_legend(e));
  if (e.step.empty())
    text += fmt::format("{}{}", text.empty() ? "" : "\n", plain_text(traffic_table(e)));
  for (const std::string& line : training_sentences(e)) text += line + "\n";
}

}  // namespace

void write_markdown(Document& out) {
  const Study& study = out.evaluation().study;
  out.paragraph(fmt::format("# {}", escaped(study.name)));
  out.paragraph(fmt::format(
      "What {} ({} layers, d = {}, {}) pays for carrying its residual stream as `{}`{}. A layer is "
      "one sublayer, attention or MLP.",
      escaped(study.model.name), study.model.num_layers, format_count(study.model.hidden_size),
      name(study.model.dtype), name(study.path.scheme), where_text(study)));
  out.optional_paragraph(workload_text(study));
  out.optional_paragraph(memory_sentence(out.evaluation()));
  out.paragraph("**Verdict**");
  for (const std::string& line : verdict_lines(out.evaluation())) out.bullet(line);
  out.end_list();
  if (const Table table = cost_table(out.evaluation()); !table.rows.empty()) {
    out.table(table);
    out.paragraph(cost_legend(out.evaluation()));
  }
  for (const std::string& sentence : training_sentences(out.evaluation())) out.bullet(sentence);
  for (const std::string& sentence : more_sentences(out.evaluation(), TextStyle::markdown))
    out.bullet(sentence);
  for (const std::string& warning : warnings_of(out.evaluation(), out.parts()))
    out.bullet(escaped(warning));
  out.end_list();
  attachment_section::write_markdown(out);
  published_section::write_summary(out);
  if (!out.parts().missing_plots.empty()) out.paragraph("*" + out.parts().missing_plots + "*");
  out.plot(out.has_plot("overhead.svg") ? "overhead.svg" : "added_time.svg");
  if (!out.parts().stem.empty() && has_appendix(out.evaluation()))
    out.paragraph("Every table behind these numbers: " +
                  link("the appendix", out.parts().stem + "-appendix.md") + ".");
}

/// "24 layers (12 decoder layers)": configs and checkpoints count decoder layers.
std::string layers_text(const Study& study, Count layers) {
  const std::string text = counted(layers, "layer", "layers");
  const std::optional<Count> decoder_layers = whole_decoder_layers(study, layers);
  if (!decoder_layers) return text;
  return fmt::format("{} ({})", text, counted(*decoder_layers, "decoder layer", "decoder layers"));
}

namespace {

/// "8 blocks of 24 layers (12 decoder layers), the last of 18": a number of blocks that does not
/// divide the layers gives one more.
std::string blocks_text(const Study& study, const Partition& blocks) {
  const std::string text = fmt::format("{} of {}", counted(blocks.num_blocks, "block", "blocks"),
                                       layers_text(study, blocks.block_size));
  return blocks.is_uniform() ? text : fmt::format("{}, the last of {}", text, blocks.last_size);
}

}  // namespace

void write_table(std::string& text, const Answer& answer) {
  const Study& study = answer.evaluation.study;
  const Partition* blocks = attnres_blocks(study.path.scheme);
  std::string verdict;
  append_verdict(verdict, answer.evaluation);
  text += study.name + "\n";
  if (!verdict.empty()) text += "\n" + verdict;
  text += fmt::format("\nSetup\n\n{}: {}, hidden size {}\n{}{}, {}\n{}", study.model.name,
                      layers_text(study, study.model.num_layers),
                      format_count(study.model.hidden_size), name(study.path.scheme),
                      blocks == nullptr ? "" : ", " + blocks_text(study, *blocks),
                      schedule_label(study.path.scheme, study.schedule), placement_text(study));
  for (const std::string& line : {workload_text(study), memory_sentence(answer.evaluation)})
    if (!line.empty()) text += line + "\n";
}

}  // namespace decision_section

using namespace decision_section;

std::string cost_legend(const Evaluation& e) {
  std::string legend =
      "Times are predicted, not measured; brackets are 90 % intervals. " + baseline_sentence(e);
  if (e.study.training && !e.study.model.architecture)
    legend +=
        " Whether training fits is not known: the model has no `attention` and `mlp`, so that its "
        "weights are not counted.";
  if (e.study.decode && e.study.decode->phase1 == Phase1Order::hoisted)
    legend +=
        " At decode a step waits for the first query of Phase 1 alone; the rest runs beside the "
        "block's first layer (`workload.decode.phase1: hoisted`).";
  if (e.study.context_parallel_size > 1)
    legend += fmt::format(
        " What the {} context ranks exchange is not modelled, so that every step is too short by it.",
        e.study.context_parallel_size);
  return legend + row_loads_sentence(e.study);
}

std::string baseline_sentence(const Evaluation& e) {
  if (e.step.empty()) return "Without hardware there is no step to hold it against.";
  std::vector<WorkloadId> measured;
  const std::vector<WorkloadId> modelled = modelled_workloads(e);
  for (const WorkloadId workload : timed_workloads(e)) {
    const StepRow* row = quoted_step(e, workload, e.paths.front());
    const bool is_modelled =
        std::find(modelled.begin(), modelled.end(), workload) != modelled.end();
    if (row->baseline_step && !is_modelled) measured.push_back(workload);
  }
  std::string text =
      "100 % is the whole step with the standard residual, which " + baseline_attachments(e) + ".";
  text += folding_sentence(e);
  if (!measured.empty())
    text += fmt::format(" The scenario has measured {}.", listed(workload_names(measured)));
  if (const std::string missing = missing_baseline(e); !missing.empty()) text += " " + missing;
  if (const std::string unasked = unasked_sentence(e); !unasked.empty()) text += " " + unasked;
  return text;
}

std::vector<std::string> more_sentences(const Evaluation& e, TextStyle style) {
  std::vector<std::string> sentences{traffic_sentence(e),     batch_sentence(e),
                                     speculation_sentence(e), prompt_sentence(e),
                                     boundary_sentence(e),    two_phase_sentence(e)};
  std::erase(sentences, "");
  const std::string claimed = style == TextStyle::markdown ? escaped(e.study.claim) : e.study.claim;
  for (const ClaimRow& claim : e.claims) sentences.push_back(claim_sentence(claimed, claim));
  return sentences;
}

std::string decision_text(const Evaluation& evaluation, const ReportParts& parts) {
  std::string text = evaluation.study.name + "\n\n";
  append_verdict(text, evaluation);
  text += "\n";
  for (const std::string& sentence : more_sentences(evaluation)) text += sentence + "\n";
  for (const std::string& warning : warnings_of(evaluation, parts)) text += warning + "\n";
  const auto add = [&](std::string_view heading, const Table& table) {
    if (!table.rows.empty()) append_table(text, heading, table);
  };
  add("AttnRes fused with the all-reduce, or in a kernel of its own", attachment_table(evaluation));
  if (const std::string nearest = nearest_sentence(evaluation, parts.published); !nearest.empty())
    text += "\n" + nearest + "\n";
  add("Measured steps of this model", published_step_table(evaluation, parts.published_steps));
  return text;
}

}  // namespace depthcost

// The training step, in every format.
#pragma once

#include "model/training/throughput.hpp"
#include "reports/section/section.hpp"

namespace depthcost {

/// A training step with one scheme and schedule; nothing without one.
const TrainingRun* training_run(const Evaluation& evaluation, const ResidualPath& path,
                                Schedule schedule);

/// Every scheme and schedule: the residual path on one micro-batch.
Table training_path_table(const Evaluation& evaluation);

/// Every scheme and schedule: the simulated step. The layers beside the residual path must have
/// times.
Table training_step_table(const Evaluation& evaluation);

/// Every scheme as it is quoted: gradient accumulation, the fullest stage, and what is sent.
Table training_memory_table(const Evaluation& evaluation);

/// What a device holds of a step under each scheme; the model must have an architecture.
Table training_device_table(const Evaluation& evaluation);

/// Tokens per second and MFU of each scheme as it is quoted; no rows where no step is known.
Table training_throughput_table(const Evaluation& evaluation);

/// Stages and chunks of the study's scheme. Precondition: the evaluation has a training step.
Table stage_table(const Evaluation& evaluation);
Table chunk_table(const Evaluation& evaluation);

/// The stages of a simulated training step over time. Many micro-batches are drawn as fewer ones;
/// of very many tasks only the first are drawn. None without a pipeline, a machine or a rest of the
/// step.
std::optional<Plot> schedule_plot(const Evaluation& evaluation);

namespace training_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

/// How much of what the study's scheme adds is communication that the standard residual does not
/// expose; empty without a pipeline.
std::string communication_sentence(const Evaluation& evaluation);

/// Which stage the others wait for, where one works a tenth longer than they do in the mean; else
/// empty.
std::string balance_sentence(const Evaluation& evaluation);

/// A training step among the rows of all steps, and its memory among that of all workloads.
Explanation explain_step(const Evaluation& evaluation, const StepRow& row);
Explanation explain_memory(const Evaluation& evaluation, const MemoryRow& row);

/// The model in other shapes of the same size: nothing where these have no steps.
void append_shapes(JsonWriter& json, const Study& study);
void append_shapes(std::string& text, const Study& study);
void write_shapes(Document& out);
Explanation explain_shapes(const Study& study);

/// The throughput of a run whose step is known.
std::optional<Throughput> throughput_of(const Evaluation& evaluation, const TrainingRun& run);

/// "1f1b: P = 4, V = 1, M = 8; 4096 tokens of a micro-batch on one device".
std::string pipeline_text(const Study& study);

}  // namespace training_section
}  // namespace depthcost

// Each row as the scenario that a user would write.
#include "scenarios/measured/trained_steps.hpp"

#include <fmt/format.h>

#include "scenarios/presets/presets.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost {
namespace {

constexpr const char* kFile = "scenarios/published/training.csv";

Count replicas_of(const TableRow& row) {
  return count_in(row, "devices") /
         (count_in(row, "tensor") * count_in(row, "context") * count_in(row, "pipeline"));
}

std::string parallelism_of(const TableRow& row) {
  std::string text =
      fmt::format("tensor: {}, context: {}, data: {}, expert: {}, pipeline: {}",
                  count_in(row, "tensor"), count_in(row, "context"), replicas_of(row),
                  count_in(row, "expert"), count_in(row, "pipeline"));
  if (const Count stages = count_in(row, "virtual_stages"); stages > 1)
    text += fmt::format(", virtual_stages: {}", stages);
  return text;
}

/// Without recomputation of the residual path, which is a norm and an addition.
std::string scenario_text(const TableRow& row) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  const Count micro_batches =
      count_in(row, "global_batch") / (count_in(row, "micro_batch") * replicas_of(row));
  return fmt::format(
      "schema: depthcost/1\nmodel: {{base: {}, dtype: bf16}}\nhardware: {}\n"
      "residual: {{scheme: standard}}\nparallelism: {{{}}}\n"
      "workload: {{training: {{sequence_length: {}, micro_batch: {}, micro_batches: {}, "
      "precision: {}, activations: keep}}}}\n",
      cell("model"), cell("gpu"), parallelism_of(row), cell("sequence_length"), cell("micro_batch"),
      micro_batches, cell("precision"));
}

std::string configuration_id(const TableRow& row) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return fmt::format("{}/{}/{}/devices:{}/tensor:{}/context:{}/pipeline:{}x{}/expert:{}/{}x{}x{}",
                     cell("model"), cell("gpu"), cell("precision"), cell("devices"), cell("tensor"),
                     cell("context"), cell("pipeline"), cell("virtual_stages"), cell("expert"),
                     cell("global_batch"), cell("micro_batch"), cell("sequence_length"));
}

/// All sequences of a step over the tokens per second of all devices.
Seconds seconds_of(const TableRow& row) {
  return Seconds{number_in(row, "global_batch") * number_in(row, "sequence_length") /
                 (number_in(row, "tokens_per_second") * number_in(row, "devices"))};
}

TrainedStep step_of(const TableRow& row, const std::string& file, const Constants& constants) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return {.id = configuration_id(row),
          .model = cell("model"),
          .gpu = cell("gpu"),
          .release = cell("release"),
          .study = scenario_of(parse_document(scenario_text(row), file), file, Provenance::scenario,
                               constants)
                       .study,
          .seconds = seconds_of(row)};
}

}  // namespace

std::vector<TrainedStep> trained_steps(Unseen unseen) {
  std::vector<TrainedStep> steps;
  for (const TableRow& row : table_rows(shipped_table("training"), kFile))
    steps.push_back(step_of(row, kFile, unseen_constants(row, unseen)));
  return steps;
}

std::vector<TrainedStep> parse_trained_steps(std::string_view text, const std::string& file,
                                             const Constants& constants) {
  std::vector<TrainedStep> steps;
  for (const TableRow& row : table_rows(text, file)) steps.push_back(step_of(row, file, constants));
  return steps;
}

}  // namespace depthcost

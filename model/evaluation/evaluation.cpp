// Puts the parts together: each section of the answer is one function.
#include "model/evaluation/evaluation.hpp"

#include <iterator>

#include "model/decision/remedies.hpp"
#include "model/step/scheme_payload.hpp"

namespace depthcost {
namespace {

void append_flops(Evaluation& answer) {
  const auto d = static_cast<double>(answer.study.model.hidden_size);
  for (const ResidualPath& path : answer.paths)
    for (const Schedule schedule : path.scheme.rule->schedules) {
      const Flops total = total_flops(path, schedule, d);
      const double L = static_cast<double>(path.num_layers);
      answer.flops.push_back({&path, schedule, (1 / L) * total, total});
    }
}

PipelineAnswer pipeline_answer(const Evaluation& answer) {
  const PipelineLayout& layout = *answer.study.pipeline;
  PipelineAnswer pipeline;
  const std::vector<Count> sizes = bank_block_sizes(answer.study.path);
  if (!sizes.empty()) {
    const Count P = layout.num_stages;
    const Count V = layout.num_virtual_stages;
    const double per_chunk = blocks_per_chunk(static_cast<Count>(sizes.size()), P, V);
    pipeline.naive_d = naive_traffic(P, V, per_chunk);
    pipeline.cached_d = cached_traffic(P, V, per_chunk);
    for (const Cache cache : kEnumerators<Cache>)
      for (const Embedding embedding : kEnumerators<Embedding>)
        for (const PartialSum partial : kEnumerators<PartialSum>) {
          const Payload payload{cache, embedding, partial};
          pipeline.events.push_back({payload, pipeline_traffic(layout, sizes, payload)});
        }
    pipeline.cached_blocks_per_stage = cached_blocks_per_stage(layout, sizes);
    pipeline.uncached_copies_per_stage = uncached_copies_per_stage(layout, sizes);
  }
  for (const ResidualPath& path : answer.paths)
    pipeline.by_scheme.push_back({&path, scheme_payload(layout, path, Cache::none),
                                  scheme_payload(layout, path, Cache::received)});
  return pipeline;
}

template <class Row>
void append(std::vector<Row>& rows, std::vector<Row>&& more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

/// The rest of every workload point whose step the user has not measured as a whole.
std::vector<RestRow> rest_rows(const Study& study) {
  std::vector<RestRow> rows;
  if (!study.machine) return rows;
  for (const Workload& workload : workloads_of(study, study.path, study.schedule))
    if (!workload.baseline_step) append(rows, rest_of_step(study, workload).rows);
  return rows;
}

void append_training(Evaluation& answer) {
  answer.training = training_answer(answer.study, answer.paths);
  answer.step.insert(answer.step.end(), answer.training.steps.begin(), answer.training.steps.end());
  if (!answer.study.training || !answer.study.training->baseline_step)
    answer.rest.insert(answer.rest.end(), answer.training.rest.rows.begin(),
                       answer.training.rest.rows.end());
  if (!answer.study.training) return;
  const BesideThePath beside = beside_the_path(answer.study);
  for (const ResidualPath& path : answer.paths)
    append(answer.memory,
           training_memory_rows(answer.study, beside, path, quoted_schedule(answer.study, path)));
}

}  // namespace

std::vector<LedgerRow> mean_rows(const Study& study, const ResidualPath& path) {
  std::vector<LedgerRow> rows;
  const VectorStorage types = storage_of(study);
  for (const Counting counting : countings_of(path.scheme)) {
    const Traffic mean = mean_traffic(path, counting);
    rows.push_back(
        {.path = &path, .counting = counting, .traffic = mean, .bytes = bytes(mean, types)});
    const Traffic output = output_traffic(path, counting);
    if (total_d(output) > 0)
      rows.push_back({.path = &path,
                      .counting = counting,
                      .kind = LedgerRowKind::output_aggregation,
                      .traffic = output,
                      .bytes = bytes(output, types)});
  }
  return rows;
}

Evaluation evaluate_with_family(const Study& study) {
  Evaluation answer = evaluate(study);
  answer.family = family_rows(study);
  return answer;
}

std::vector<LedgerRow> layer_rows(const Study& study, const ResidualPath& path, Counting counting) {
  std::vector<LedgerRow> rows;
  rows.reserve(static_cast<std::size_t>(path.num_layers));
  const VectorStorage types = storage_of(study);
  Count layer = 0;
  for (const Traffic& moved : layer_traffics(path, counting))
    rows.push_back({.path = &path,
                    .counting = counting,
                    .kind = LedgerRowKind::layer,
                    .layer = ++layer,
                    .traffic = moved,
                    .bytes = bytes(moved, types)});
  return rows;
}

std::vector<LedgerRow> operation_rows(const Study& study, const ResidualPath& path,
                                      Schedule schedule) {
  std::vector<LedgerRow> rows;
  const VectorStorage types = storage_of(study);
  for (const PlacedOperation& entry : all_operations(path, schedule)) {
    const Traffic moved = traffic(entry.operation);
    rows.push_back({.path = &path,
                    .counting = {schedule, Convention::kernel},
                    .kind = LedgerRowKind::operation,
                    .layer = entry.layer,
                    .operation = entry.operation.id,
                    .traffic = moved,
                    .bytes = bytes(moved, types)});
  }
  return rows;
}

Evaluation evaluate_without_remedies(const Study& study) {
  Evaluation answer;
  answer.study = study;
  answer.paths = paths_of(study);
  answer.aggregation = aggregation(study.path);
  append_flops(answer);
  StepTimer timer(study);
  for (const ResidualPath& path : answer.paths) {
    append(answer.ledger, mean_rows(study, path));
    answer.parameters.push_back(parameters(path, static_cast<double>(study.model.hidden_size)));
    if (study.prefill) answer.prefill.push_back(prefill_memory(study, path));
    append(answer.memory, memory_rows(study, path));
    for (const Schedule schedule : path.scheme.rule->schedules) {
      StepTimes times = timer.times(path, schedule);
      append(answer.time, std::move(times.time));
      append(answer.step, std::move(times.step));
    }
  }
  answer.attachments = attachment_rows(study);
  answer.rest = rest_rows(study);
  append_training(answer);
  if (study.pipeline) answer.pipeline = pipeline_answer(answer);
  const PipelineTraffic* payload =
      answer.pipeline ? &answer.pipeline->by_scheme.front().naive : nullptr;
  answer.budgets = budget_rows({answer.study, answer.step, answer.memory, payload});
  answer.claims = claim_rows(study, answer.step);
  return answer;
}

Evaluation evaluate(const Study& study) {
  Evaluation answer = evaluate_without_remedies(study);
  name_remedies(answer.study, answer.budgets);
  return answer;
}

Evaluation evaluate_budgets(const Study& study) {
  Study own = study;
  own.compare.clear();
  return evaluate(own);
}

std::vector<LedgerRow> all_layers(const Evaluation& evaluation) {
  std::vector<LedgerRow> rows;
  const auto append = [&](const std::vector<LedgerRow>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  for (const ResidualPath& path : evaluation.paths) {
    for (const Counting counting : countings_of(path.scheme))
      append(layer_rows(evaluation.study, path, counting));
    for (const Schedule schedule : path.scheme.rule->schedules)
      append(operation_rows(evaluation.study, path, schedule));
  }
  return rows;
}

}  // namespace depthcost

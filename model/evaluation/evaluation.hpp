// The answer to a question: everything that reports/ prints, as data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/decision/budget.hpp"
#include "model/decision/claim.hpp"
#include "model/evaluation/family.hpp"
#include "model/ledger/arithmetic.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/step/attachments.hpp"
#include "model/step/memory.hpp"
#include "model/step/step.hpp"
#include "model/step/study.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {

enum class LedgerRowKind { mean, output_aggregation, layer, operation };

/// One line of the ledger. d-vectors and scalars are per token.
struct LedgerRow {
  const ResidualPath* path = nullptr;
  Counting counting;
  LedgerRowKind kind = LedgerRowKind::mean;
  Count layer = 0;        // 1-based; 0 where the row is no layer's
  OperationId operation;  // of kind `operation`
  Traffic traffic;
  Bytes bytes;
};

struct SchemeFlops {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Flops per_layer;
  Flops total;
};

/// One run of the event enumeration for the study's scheme.
struct PipelineRun {
  Payload payload;
  PipelineTraffic traffic;
};

struct SchemePayload {
  const ResidualPath* path = nullptr;
  PipelineTraffic naive;   // everything, at every transition
  PipelineTraffic cached;  // cache `received`; equal to naive where there is nothing to cache
};

struct PipelineAnswer {
  double naive_d = 0;   // Eq. 7
  double cached_d = 0;  // Eq. 8
  std::vector<PipelineRun> events;
  std::vector<SchemePayload> by_scheme;
  std::vector<Count> cached_blocks_per_stage;
  std::vector<Count> uncached_copies_per_stage;
};

struct Evaluation {
  Study study;
  std::vector<ResidualPath> paths;  // the study's scheme, then those compared; rows point here
  std::vector<LedgerRow> ledger;
  Aggregation aggregation;
  std::vector<Parameters> parameters;  // one for each path
  std::vector<SchemeFlops> flops;
  std::optional<PipelineAnswer> pipeline;
  std::vector<PrefillMemory> prefill;  // one for each path, if the study prefills
  std::vector<MemoryRow> memory;
  std::vector<TimeRow> time;
  std::vector<StepRow> step;
  std::vector<AttachmentRow> attachments;  // standalone, and folded into the all-reduce
  TrainingAnswer training;
  std::vector<RestRow> rest;  // what a step does beside the residual path, where that is modelled
  std::vector<BudgetRow> budgets;
  std::vector<ClaimRow> claims;
  std::vector<FamilyRow> family;  // evaluate_with_family() alone

  // Rows point into `paths`: an evaluation moves, it is never copied.
  Evaluation() = default;
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;
  Evaluation(Evaluation&&) = default;
  Evaluation& operator=(Evaluation&&) = default;
};

/// Everything that the study asks for; nothing else is computed.
Evaluation evaluate(const Study& study);

/// Without what would keep the budgets that may break: a search that is longer than all the rest.
Evaluation evaluate_without_remedies(const Study& study);

/// And the family, which only a report and its explanations show.
Evaluation evaluate_with_family(const Study& study);

/// evaluate() for the budgets, without what they do not ask for: schemes that are compared.
Evaluation evaluate_budgets(const Study& study);

/// One row for each layer under a counting.
std::vector<LedgerRow> layer_rows(const Study& study, const ResidualPath& path, Counting counting);

/// One row for each launch, under `kernel`.
std::vector<LedgerRow> operation_rows(const Study& study, const ResidualPath& path,
                                      Schedule schedule);

/// Both, of every path, counting and schedule.
std::vector<LedgerRow> all_layers(const Evaluation& evaluation);

/// Means and output aggregation of every counting that is defined for `path`.
std::vector<LedgerRow> mean_rows(const Study& study, const ResidualPath& path);

}  // namespace depthcost

// The rest of a step beside the residual path, in every format.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// Workload points whose step is modelled, each once, in order.
std::vector<WorkloadId> modelled_workloads(const Evaluation& evaluation);

/// The terms of each modelled workload's baseline step, and their sum. Training has the terms of
/// the layers alone. The standard residual that the study's scheme is held against is timed once
/// for all of them.
class RestTables {
 public:
  explicit RestTables(const Evaluation& evaluation);

  Table of(WorkloadId workload) const;

 private:
  const Evaluation& evaluation_;
  Study standard_;
  std::vector<StepRow> steps_;
};

namespace rest_section {

void write_json(JsonWriter& json, const Answer& answer);
void write_csv(CsvLines& csv, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

/// "rest.decode/64.attention".
std::string metric_of(const RestRow& row);

bool is_modelled(const Evaluation& evaluation, WorkloadId workload);

/// A time that the user has measured has no interval.
std::string time_text(const Estimate<Seconds>& time);

}  // namespace rest_section
}  // namespace depthcost

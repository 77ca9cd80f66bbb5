// Does a limit hold? Pass if the high end keeps it, fail if the low end breaks it, else unknown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/pipeline/pipeline.hpp"
#include "model/step/memory.hpp"
#include "model/step/step.hpp"
#include "model/step/study.hpp"

namespace depthcost {

enum class Verdict { pass, fail, unknown };

/// `limit` and the interval [low, high] are ratios or bytes, as the kind says. What is known in
/// part has no high end, what is not known at all no low end either.
struct BudgetRow {
  Budget budget;
  std::optional<double> low;
  std::optional<double> high;
  Verdict verdict = Verdict::unknown;
  std::string reason;   // where it is unknown: what is missing; where it fails: at which workload
  std::string nearest;  // where it may not hold: the nearest thing that would work, if one is known
};

/// Pass if the high end keeps the limit, fail if the low end breaks it, else unknown.
Verdict verdict_of(double limit, double low, double high);

/// The share of a device's memory that engines give to weights, cache and state. They keep the rest
/// for activations, graphs and workspaces. vLLM's default of gpu_memory_utilization.
inline constexpr double kCountedShare = 0.9;

/// limit - high: what is left, negative where the budget may be broken.
std::optional<double> margin(const BudgetRow& row);

/// low - limit: what surely is too much; 0 where the budget may hold, nothing where nothing is
/// known.
std::optional<double> shortfall(const BudgetRow& row);

/// What the budgets are checked against.
struct BudgetInputs {
  const Study& study;
  const std::vector<StepRow>& steps;
  const std::vector<MemoryRow>& memory;
  const PipelineTraffic* payload = nullptr;  // naive, of the study's scheme
};

std::vector<BudgetRow> budget_rows(const BudgetInputs& inputs);

}  // namespace depthcost

// Keys and values, side by side.
#include "reports/quantities.hpp"

namespace depthcost {
namespace {

std::optional<double> end_of(const std::optional<Estimate<double>>& estimate,
                             double Estimate<double>::*end) {
  if (!estimate) return std::nullopt;
  return (*estimate).*end;
}

}  // namespace

std::string_view operation_name(const LedgerRow& row) {
  switch (row.kind) {
    case LedgerRowKind::mean:
    case LedgerRowKind::layer:
      return "total";
    case LedgerRowKind::output_aggregation:
      return "output_aggregation";
    case LedgerRowKind::operation:
      return name(row.operation);
  }
  return "";
}

std::optional<Count> layer_of(const LedgerRow& row) {
  if (row.layer == 0) return std::nullopt;
  return row.layer;
}

std::array<NamedQuantity, 5> quantities_of(const LedgerRow& row) {
  return {{{"reads_d", row.traffic.reads_d, "d"},
           {"writes_d", row.traffic.writes_d, "d"},
           {"reads_scalars", row.traffic.reads_scalars, "scalars"},
           {"writes_scalars", row.traffic.writes_scalars, "scalars"},
           {"bytes", row.bytes.value, "bytes"}}};
}

std::array<NamedQuantity, 12> quantities_of(const StepRow& row) {
  const auto step = [&](Seconds Estimate<Seconds>::*end) -> std::optional<double> {
    if (!row.baseline_step) return std::nullopt;
    return ((*row.baseline_step).*end + row.delta.*end).value;
  };
  using Ratio = Estimate<double>;
  using Time = Estimate<Seconds>;
  return {{{"seconds", step(&Time::value), "s"},
           {"low", step(&Time::low), "s"},
           {"high", step(&Time::high), "s"},
           {"delta_seconds", row.delta.value.value, "s"},
           {"delta_low", row.delta.low.value, "s"},
           {"delta_high", row.delta.high.value, "s"},
           {"overhead", end_of(row.overhead, &Ratio::value), "ratio"},
           {"overhead_low", end_of(row.overhead, &Ratio::low), "ratio"},
           {"overhead_high", end_of(row.overhead, &Ratio::high), "ratio"},
           {"share", end_of(row.share, &Ratio::value), "ratio"},
           {"share_low", end_of(row.share, &Ratio::low), "ratio"},
           {"share_high", end_of(row.share, &Ratio::high), "ratio"}}};
}

std::array<NamedQuantity, 9> quantities_of(const AttachmentRow& row) {
  using Ratio = Estimate<double>;
  return {{{"residual_seconds", row.residual.value.value, "s"},
           {"residual_low", row.residual.low.value, "s"},
           {"residual_high", row.residual.high.value, "s"},
           {"delta_seconds", row.delta.value.value, "s"},
           {"delta_low", row.delta.low.value, "s"},
           {"delta_high", row.delta.high.value, "s"},
           {"overhead", end_of(row.overhead, &Ratio::value), "ratio"},
           {"overhead_low", end_of(row.overhead, &Ratio::low), "ratio"},
           {"overhead_high", end_of(row.overhead, &Ratio::high), "ratio"}}};
}

std::array<NamedQuantity, 3> residual_of(const StepRow& row) {
  return {{{"residual_seconds", row.residual.value.value, "s"},
           {"residual_low", row.residual.low.value, "s"},
           {"residual_high", row.residual.high.value, "s"}}};
}

std::array<NamedQuantity, 3> baseline_of(const StepRow& row) {
  const auto step = [&](Seconds Estimate<Seconds>::*end) -> std::optional<double> {
    if (!row.baseline_step) return std::nullopt;
    return ((*row.baseline_step).*end).value;
  };
  using Time = Estimate<Seconds>;
  return {{{"baseline_seconds", step(&Time::value), "s"},
           {"baseline_low", step(&Time::low), "s"},
           {"baseline_high", step(&Time::high), "s"}}};
}

std::array<NamedQuantity, 6> quantities_of(const RestRow& row) {
  const auto modelled = [&](double value) -> std::optional<double> {
    if (row.origin == RestOrigin::written) return std::nullopt;
    return value;
  };
  return {{{"seconds", row.time.value.value, "s"},
           {"low", row.time.low.value, "s"},
           {"high", row.time.high.value, "s"},
           {"bytes", modelled(row.bytes.value), "bytes"},
           {"flops", modelled(row.flops.value), "FLOP"},
           {"launches", modelled(row.launches), "launches"}}};
}

std::array<NamedQuantity, 7> quantities_of(const TrainingRun& run) {
  return {{{"makespan_seconds", run.makespan.value, "s"},
           {"forward_seconds", run.forward.value, "s"},
           {"backward_seconds", run.backward.value, "s"},
           {"recompute_seconds", run.recompute.value, "s"},
           {"communication_seconds", run.communication.value, "s"},
           {"bubble", run.bubble, "ratio"},
           {"accumulation_d", run.accumulation_d, "d"}}};
}

std::array<NamedQuantity, 4> quantities_of(const PrefillMemory& memory) {
  return {{{"bank_bytes_per_device", memory.bank.value, "bytes"},
           {"bank_with_embedding_bytes_per_device", memory.bank_with_embedding.value, "bytes"},
           {"phase1_bytes_per_device", memory.phase1.value, "bytes"},
           {"cache_tokens", memory.cache_tokens, "tokens"}}};
}

BudgetNumbers numbers_of(const BudgetRow& row) {
  BudgetNumbers numbers{row.budget.limit, row.low, row.high, margin(row), shortfall(row)};
  // `device_memory: fits` has no number of its own; the capacity replaces it where it is known.
  if (row.budget.kind == BudgetKind::device_memory && row.budget.limit == 0) numbers.limit.reset();
  return numbers;
}

}  // namespace depthcost

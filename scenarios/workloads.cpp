// Decode and prefill, one function each.
#include "scenarios/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/step.hpp"

namespace depthcost {
namespace {

// Each batch is predicted for every scheme, schedule and operation: 44 kB of JSON.
constexpr std::size_t kMaxBatches = 256;

std::vector<Count> sequences_of(const Value& written) {
  if (written.numbers.size() > kMaxBatches)
    throw InputError(written.position,
                     fmt::format("invalid workload.decode.sequences ({} batches; at most {})",
                                 written.numbers.size(), kMaxBatches));
  std::vector<Count> sequences;
  for (const double batch : written.numbers) {
    const auto count = static_cast<Count>(batch);
    if (std::find(sequences.begin(), sequences.end(), count) != sequences.end())
      throw InputError(
          written.position,
          fmt::format("invalid workload.decode.sequences '{}' (already there)", count));
    sequences.push_back(count);
  }
  return sequences;
}

std::vector<Seconds> baseline_steps(const Values& values, std::size_t num_batches) {
  const Value* steps = values.find("baseline_step.decode");
  if (steps == nullptr) return {};
  if (steps->numbers.size() != 1 && steps->numbers.size() != num_batches)
    throw InputError(steps->position,
                     fmt::format("invalid baseline_step.decode ({} steps for {} batches)",
                                 steps->numbers.size(), num_batches));
  std::vector<Seconds> seconds;
  for (const double step : steps->numbers) seconds.push_back({step});
  return seconds;
}

void read_decode(const Values& values, Study& study) {
  const Value* sequences = values.find("workload.decode.sequences");
  if (sequences == nullptr) {
    refuse_orphans(values, "workload.decode.", "workload.decode.sequences");
    refuse_orphans(values, "baseline_step.decode", "workload.decode.sequences");
    return;
  }
  Decode decode{.sequences = sequences_of(*sequences)};
  if (values.has("workload.decode.context"))
    decode.context = values.count("workload.decode.context");
  decode.launch = enum_of<Launch>(values.text("workload.decode.launch"));
  if (values.has("workload.decode.layer_bytes"))
    decode.layer_bytes = Bytes{values.number("workload.decode.layer_bytes")};
  decode.baseline_steps = baseline_steps(values, decode.sequences.size());
  study.decode = decode;
}

void read_prefill(const Values& values, Study& study) {
  if (!values.has("workload.prefill.tokens")) {
    refuse_orphans(values, "workload.prefill.", "workload.prefill.tokens");
    refuse_orphans(values, "baseline_step.prefill", "workload.prefill.tokens");
    return;
  }
  Prefill prefill{.tokens = values.count("workload.prefill.tokens"),
                  .sequence_shards = values.count("workload.prefill.sequence_shards"),
                  .launch = enum_of<Launch>(values.text("workload.prefill.launch"))};
  if (values.has("workload.prefill.chunk")) prefill.chunk = values.count("workload.prefill.chunk");
  if (values.has("baseline_step.prefill"))
    prefill.baseline_step = Seconds{values.number("baseline_step.prefill")};
  study.prefill = prefill;
}

}  // namespace

void read_workloads(const Values& values, Study& study) {
  read_decode(values, study);
  read_prefill(values, study);
}

void check_baselines(const Values& values, const Study& study) {
  const ResidualPath standard{Standard{}, study.model.num_layers, study.path.attachment};
  for (const StepRow& row : step_rows(study, standard, Schedule::fused)) {
    if (!row.baseline_step || row.baseline_step->evidence != Evidence::measured ||
        row.baseline_step->value > row.residual.low)
      continue;
    const std::string path =
        row.workload == "prefill" ? "baseline_step.prefill" : "baseline_step.decode";
    throw InputError(
        values.at(path).position,
        fmt::format("invalid {} '{}' (the standard residual alone takes at least {:.3g} us of {})",
                    path, fmt::join(values.at(path).texts, ", "), row.residual.low.value * 1e6,
                    row.workload));
  }
}

}  // namespace depthcost

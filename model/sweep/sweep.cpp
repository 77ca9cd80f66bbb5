// Choices once, workloads once for each circumstance that changes them, points from both.
#include "model/sweep/sweep.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "model/base/infeasible.hpp"
#include "model/base/parallel.hpp"
#include "model/step/scheme_payload.hpp"
#include "model/step/weights_and_cache.hpp"
#include "model/training/training_step.hpp"

namespace depthcost {
namespace {

bool is_of_decode(SweptKey key) {
  return key == SweptKey::sequences || key == SweptKey::context || key == SweptKey::prompt_tokens;
}

std::size_t combinations(std::span<const SweptAxis> axes) {
  std::size_t product = 1;
  for (const SweptAxis& axis : axes) product *= axis.values.size();
  return product;
}

/// Values of combination `index`, the last axis running fastest.
std::vector<Count> values_at(std::span<const SweptAxis> axes, std::size_t index) {
  std::vector<Count> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    values[i] = axes[i].values[index % axes[i].values.size()];
    index /= axes[i].values.size();
  }
  return values;
}

void apply_all(std::span<const SweptAxis> axes, std::span<const Count> values, Study& study) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    apply({axes[i].key, values[i], axes[i].remainder, axes[i].schemes}, study);
}

/// Bytes that the residual path keeps for one token on one device.
void set_memory(SweepChoice& choice, Study study) {
  study.model.architecture.reset();
  study.prefill.reset();
  study.layout = Layout::replicated;
  study.decode = Decode{.sequences = {1}};
  choice.scheme_weights = scheme_weights(study, study.path);
  for (const MemoryRow& row : memory_rows(study, study.path)) {
    if (!is_vectors(row.item)) continue;
    Bytes& sum =
        row.item == MemoryItem::phase1_outputs ? choice.phase1_per_token : choice.kept_per_token;
    sum += row.bytes;
  }
}

void set_bytes(SweepChoice& choice, const Study& study) {
  for (const Counting counting : countings_of(choice.path.scheme))
    if (counting.schedule == choice.schedule)
      choice.mean[static_cast<std::size_t>(counting.convention)] = ConventionMean{
          total_d(mean_traffic(choice.path, counting)), inside_domain(choice.path, counting)};
  choice.forward_bytes =
      bytes(forward_traffic(choice.path, {choice.schedule, Convention::kernel}), storage_of(study));
}

SweepChoice choice_of(const Study& study) {
  SweepChoice choice{.refused = {},
                     .values = {},
                     .path = study.path,
                     .schedule = study.schedule,
                     .payload_peak = {},
                     .quality = quality_of(study.path.scheme)};
  set_bytes(choice, study);
  set_memory(choice, study);
  if (study.pipeline) {
    const Count peak = scheme_payload(*study.pipeline, study.path, Cache::none).peak;
    choice.payload_peak = largest_payload_bytes(study, peak);
  }
  return choice;
}

/// Limits where the scenario is silent: the device's memory, and the paper's of what is timed.
void add_default_limits(Study& study) {
  const auto add = [&](BudgetKind kind, double limit) {
    const bool is_written = std::any_of(study.budgets.begin(), study.budgets.end(),
                                        [&](const Budget& budget) { return budget.kind == kind; });
    if (!is_written)
      study.budgets.push_back({.kind = kind, .limit = limit, .origin = BudgetOrigin::assumed});
  };
  if (!study.machine) return;
  // A step that was measured did run; else what does not fit is no choice.
  const auto& kinds = kEnumerators<WorkloadKind>;
  const bool any_measured = std::any_of(kinds.begin(), kinds.end(), [&](WorkloadKind workload) {
    return is_measured(study, workload);
  });
  if (study.machine->memory_capacity && study.model.architecture && !any_measured &&
      (study.decode || study.prefill || study.training))
    add(BudgetKind::device_memory, 0);
  const auto add_overhead = [&](BudgetKind kind) { add(kind, paper_limit(kind)); };
  if (study.decode) add_overhead(BudgetKind::decode_overhead);
  // Nobody has written this limit: it counts where the step that it is of is known.
  const bool is_prefill_known =
      study.prefill && (study.model.architecture || study.prefill->baseline_step || !study.decode);
  if (is_prefill_known) add_overhead(BudgetKind::prefill_overhead);
  if (study.training) add_overhead(BudgetKind::training_overhead);
}

}  // namespace

std::string value_text(const SweptAxis& axis, Count value) {
  if (axis.key == SweptKey::scheme) return axis.schemes[static_cast<std::size_t>(value)].scheme;
  if (axis.key == SweptKey::schedule) return std::string(name(static_cast<Schedule>(value)));
  return std::to_string(value);
}

Sweep::Sweep(Study study, std::vector<SweptAxis> axes, std::size_t num_threads, Progress* progress,
             const SweepRows& rows)
    : study_(std::move(study)) {
  study_.compare.clear();
  add_default_limits(study_);
  // Circumstances are counted with prefill outside and decode inside.
  std::stable_partition(axes.begin(), axes.end(),
                        [](const SweptAxis& axis) { return !is_of_decode(axis.key); });
  // What follows a scheme changes its blocks, streams and schedule.
  std::stable_partition(axes.begin(), axes.end(),
                        [](const SweptAxis& axis) { return axis.key == SweptKey::scheme; });
  for (SweptAxis& axis : axes) {
    const std::size_t num_values = axis.values.size();
    if (is_of_decode(axis.key)) num_decode_ *= num_values;
    if (!is_of_decode(axis.key) && !is_choice(axis.key)) num_prefill_ *= num_values;
    (is_choice(axis.key) ? choice_axes_ : circumstance_axes_).push_back(std::move(axis));
  }
  make_choices();
  Progress unwatched;
  Progress& watched = progress == nullptr ? unwatched : *progress;
  time_workloads(num_threads, watched, rows);
  remember_training(num_threads);
  time_training(num_threads, watched, rows);
}

template <class Self>
auto Sweep::times_of(Self& self, std::size_t row) {
  const std::size_t n = self.choices_.size();
  const auto nth = [n](auto& times, std::size_t i) {
    const auto all = std::span(times);
    return all.empty() ? all : all.subspan(i * n, n);
  };
  if (row < self.decode_memory_.size()) return nth(self.decode_, row);
  row -= self.decode_memory_.size();
  if (row < self.prefill_memory_.size()) return nth(self.prefill_, row);
  return std::span(self.training_).subspan(row - self.prefill_memory_.size(), 1);
}

void Sweep::make_choices() {
  choices_.resize(combinations(choice_axes_));
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const std::vector<Count> values = values_at(choice_axes_, i);
    try {
      Study at_choice = study_;
      apply_all(choice_axes_, values, at_choice);
      choices_[i] = choice_of(at_choice);
    } catch (const Infeasible& error) {
      choices_[i].refused = error.what();
    }
    choices_[i].values = values;
  }
}

namespace {

/// What decides how a study attaches its paths: a large prompt's tokens are shared out.
std::pair<WorkloadKind, bool> attachment_of(const Study& study, WorkloadKind kind) {
  return {kind, kind == WorkloadKind::decode && has_all_reduce(study)};
}

}  // namespace

std::vector<std::size_t> Sweep::existing_choices() const {
  std::vector<std::size_t> existing;
  for (std::size_t i = 0; i < choices_.size(); ++i)
    if (choices_[i].refused.empty()) existing.push_back(i);
  return existing;
}

LaunchTable Sweep::launches(const Study& study, WorkloadKind kind) const {
  LaunchTable table;
  for (const std::size_t i : existing_choices())
    table.add(attached_path(study, choices_[i].path, choices_[i].schedule, kind),
              choices_[i].schedule);
  return table;
}

Sweep::LaunchTables Sweep::launch_tables() const {
  LaunchTables tables;
  if (!study_.machine) return tables;
  if (study_.prefill)
    tables.emplace(attachment_of(study_, WorkloadKind::prefill),
                   launches(study_, WorkloadKind::prefill));
  for (std::size_t row = 0; study_.decode && row < num_decode_; ++row) {
    Study study = study_;
    apply_all(circumstance_axes_, circumstance_values(row), study);
    if (const auto key = attachment_of(study, WorkloadKind::decode); !tables.contains(key))
      tables.emplace(key, launches(study, WorkloadKind::decode));
  }
  return tables;
}

void Sweep::time_workloads(std::size_t num_threads, Progress& progress, const SweepRows& rows) {
  const LaunchTables tables = launch_tables();
  const std::vector<std::size_t> existing =
      study_.machine ? existing_choices() : std::vector<std::size_t>{};
  const auto time_into = [&](std::span<AddedTime> times, const Study& study,
                             std::span<const WorkloadMemory> batches, WorkloadKind kind) {
    const auto is_larger = [&](std::size_t batch, std::size_t path) {
      return is_too_large(batches[batch], choices_[existing[path]]);
    };
    const auto path_at = [&](std::size_t path) -> const ResidualPath& {
      return choices_[existing[path]].path;
    };
    const std::vector<AddedTime> added =
        added_times(study, kind, tables.at(attachment_of(study, kind)), path_at, is_larger);
    for (std::size_t i = 0; i < existing.size(); ++i) times[existing[i]] = added[i];
  };
  const auto fill = [&](std::size_t row, const Study& study,
                        std::span<const WorkloadMemory> batches, WorkloadKind kind) {
    const std::span<AddedTime> times = times_of(*this, row);
    if (times.empty()) return;
    if (rows.is_timed(row)) return time_into(times, study, batches, kind);
    const auto known = rows.known(rows.first + row, times.size());
    std::copy(known.begin(), known.end(), times.begin());
  };
  const bool has_decode = study_.decode.has_value();
  const bool has_prefill = study_.prefill.has_value();
  if (study_.machine && has_decode) decode_.resize(num_decode_ * choices_.size());
  if (study_.machine && has_prefill) prefill_.resize(num_prefill_ * choices_.size());
  decode_memory_.resize(has_decode ? num_decode_ : 0);
  prefill_memory_.resize(has_prefill ? num_prefill_ : 0);
  progress.expected += decode_memory_.size() + prefill_memory_.size();
  if (study_.machine && study_.training) progress.expected += choices_.size();
  const auto is_left_out = [&](std::size_t row) { return !rows.is_timed(row) && !rows.known; };
  each_in_parallel(decode_memory_.size(), num_threads, [&](std::size_t row) {
    progress.count();
    if (is_left_out(row)) return;
    Study study = study_;
    apply_all(circumstance_axes_, circumstance_values(row), study);
    study.prefill.reset();
    decode_memory_[row] = decode_memory(study);
    fill(row, study, decode_memory_[row], WorkloadKind::decode);
  });
  each_in_parallel(prefill_memory_.size(), num_threads, [&](std::size_t row) {
    progress.count();
    if (is_left_out(decode_memory_.size() + row)) return;
    Study study = study_;
    apply_all(circumstance_axes_, circumstance_values(row * num_decode_), study);
    study.decode.reset();
    prefill_memory_[row] = prefill_memory(study);
    fill(decode_memory_.size() + row, study, {&prefill_memory_[row], 1}, WorkloadKind::prefill);
  });
}

void Sweep::remember_training(std::size_t num_threads) {
  if (!study_.training) return;
  training_memory_.resize(choices_.size());
  const BesideThePath beside = beside_the_path(study_);
  each_in_parallel(choices_.size(), num_threads, [&](std::size_t i) {
    const SweepChoice& choice = choices_[i];
    if (!choice.refused.empty()) return;
    for (const MemoryRow& row :
         training_memory_rows(study_, beside, choice.path, choice.schedule)) {
      training_memory_[i].all += row.bytes;
      if (is_vectors(row.item)) training_memory_[i].state += row.bytes;
    }
  });
}

void Sweep::time_training(std::size_t num_threads, Progress& progress, const SweepRows& rows) {
  if (!study_.training || !study_.machine) return;
  training_.resize(choices_.size());
  const std::size_t first = num_rows() - training_.size();
  const TrainingSteps steps(study_);
  each_in_parallel(choices_.size(), num_threads, [&](std::size_t i) {
    const SweepChoice& choice = choices_[i];
    progress.count();
    if (!rows.is_timed(first + i)) {
      if (rows.known) training_[i] = rows.known(rows.first + first + i, 1).front();
      return;
    }
    if (!choice.refused.empty()) return;
    const StepRow row = steps.row(choice.path, choice.schedule);
    training_[i] = {row.delta, row.overhead, row.overhead,
                    row.overhead ? row.overhead->value : row.delta.value.value};
  });
}

std::vector<Sweep::WorkloadMemory> Sweep::decode_memory(const Study& study) {
  std::vector<WorkloadMemory> batches;
  const Count shards = residual_shards(study, WorkloadKind::decode);
  for (const Count sequences : study.decode->sequences) {
    WorkloadMemory& batch = batches.emplace_back();
    batch.tokens = as_double(divided_up(tokens_of_step(*study.decode, sequences), shards));
    batch.layer_share = largest_stage_share(study);
    if (!study.model.architecture) continue;
    batch.weights = device_weights(study);
    batch.cache = decode_cache(study, sequences);
  }
  return batches;
}

Sweep::WorkloadMemory Sweep::prefill_memory(const Study& study) {
  WorkloadMemory memory{.tokens = static_cast<double>(tokens_per_device(prefill_shape(study))),
                        .weights = {},
                        .cache = {},
                        .layer_share = largest_stage_share(study)};
  if (!study.model.architecture) return memory;
  memory.weights = device_weights(study);
  memory.cache = device_cache(study, 1, {as_double(study.prefill->tokens)});
  return memory;
}

std::span<const AddedTime> Sweep::row_times(std::size_t row) const { return times_of(*this, row); }

std::vector<Count> Sweep::circumstance_values(std::size_t circumstance) const {
  return values_at(circumstance_axes_, circumstance);
}

Study Sweep::study_at(std::size_t circumstance, std::size_t choice) const {
  Study study = study_;
  apply_all(circumstance_axes_, circumstance_values(circumstance), study);
  apply_all(choice_axes_, values_at(choice_axes_, choice), study);
  return study;
}

std::optional<PointMemory> Sweep::memory(std::size_t circumstance, std::size_t index) const {
  if (decode_memory_.empty() && prefill_memory_.empty() && training_memory_.empty())
    return std::nullopt;
  const SweepChoice& choice = choices_[index];
  PointMemory memory;
  if (!training_memory_.empty()) {
    memory.state = training_memory_[index].state;
    memory.all = memory.training = training_memory_[index].all;
  }
  const auto include = [&](const WorkloadMemory& workload) {
    const Bytes state = workload.tokens * state_per_token(choice);
    memory.state = std::max(memory.state, state);
    memory.cache = std::max(memory.cache, workload.cache);
    memory.all = std::max(memory.all, all_of(workload, choice));
  };
  if (!decode_memory_.empty())
    for (const WorkloadMemory& batch : decode_memory_[circumstance % num_decode_]) include(batch);
  if (!prefill_memory_.empty()) {
    const WorkloadMemory& prefill = prefill_memory_[circumstance / num_decode_];
    include(prefill);
    memory.prefill_bank = prefill.tokens * choice.kept_per_token;
    memory.prefill_peak = memory.prefill_bank + prefill.tokens * choice.phase1_per_token;
  }
  return memory;
}

Bytes Sweep::all_of(const WorkloadMemory& workload, const SweepChoice& choice) {
  return workload.tokens * state_per_token(choice) + workload.layer_share * choice.scheme_weights +
         workload.weights + workload.cache;
}

bool Sweep::is_too_large(const WorkloadMemory& workload, const SweepChoice& choice) const {
  return exceeds_memory(study_, all_of(workload, choice));
}

SweepPoint Sweep::point(std::size_t circumstance, std::size_t choice) const {
  SweepPoint point{
      .choice = &choices_[choice], .decode = {}, .prefill = {}, .training = {}, .memory = {}};
  if (!point.exists()) return point;
  const std::size_t n = choices_.size();
  if (!decode_.empty()) point.decode = decode_[circumstance % num_decode_ * n + choice];
  if (!prefill_.empty()) point.prefill = prefill_[circumstance / num_decode_ * n + choice];
  if (!training_.empty()) point.training = training_[choice];
  point.memory = memory(circumstance, choice);
  return point;
}

}  // namespace depthcost

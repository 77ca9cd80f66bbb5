// A study at every combination of the values of some keys. What does not depend on a key is
// computed once: launches are timed once for each circumstance and shared by all choices.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/progress.hpp"
#include "model/decision/budget.hpp"
#include "model/decision/quality.hpp"
#include "model/sweep/sweep_rows.hpp"
#include "model/sweep/sweep_times.hpp"
#include "model/sweep/swept_key.hpp"

namespace depthcost {

/// One key and the values that it takes.
struct SweptAxis {
  SweptKey key = SweptKey::block_size;
  std::vector<Count> values;
  Remainder remainder = Remainder::paper;  // of num_blocks
  std::vector<SchemePath> schemes = {};    // of scheme, whose values count them from 0
};

/// "24", "two_phase", "mhc".
std::string value_text(const SweptAxis& axis, Count value);

inline constexpr std::size_t kConventions = kEnumerators<Convention>.size();

/// d-vectors per token and layer under one convention.
struct ConventionMean {
  double mean_d = 0;
  bool is_inside_domain = true;
};

/// One combination of the keys that are choices: a residual path and a schedule.
struct SweepChoice {
  std::string refused;        // why it cannot exist; then nothing below is known
  std::vector<Count> values;  // of the choice axes
  ResidualPath path;
  Schedule schedule = Schedule::fused;
  std::array<std::optional<ConventionMean>, kConventions> mean{};  // by convention
  Bytes forward_bytes;   // per token, all layers and the output aggregation, `kernel`
  Bytes kept_per_token;  // what lies in memory between layers
  Bytes phase1_per_token;
  Bytes scheme_weights;               // of all layers
  std::optional<Bytes> payload_peak;  // per token over the fullest pipeline boundary
  QualityEvidence quality;
};

/// The residual path's bytes where it holds most.
inline Bytes state_per_token(const SweepChoice& choice) {
  return choice.kept_per_token + choice.phase1_per_token;
}

/// Bytes in one device's memory, under the workload that needs most.
struct PointMemory {
  Bytes state;         // of the residual path, all workloads
  Bytes cache;         // weights excluded
  Bytes all;           // weights, cache and state of the fullest workload
  Bytes training;      // of the training step alone
  Bytes prefill_bank;  // as the budget of that name counts it
  Bytes prefill_peak;  // as above
};

/// A choice under a circumstance.
struct SweepPoint {
  const SweepChoice* choice = nullptr;
  std::optional<AddedTime> decode;
  std::optional<AddedTime> prefill;
  std::optional<AddedTime> training;
  std::optional<PointMemory> memory;  // none without a workload

  bool exists() const { return choice->refused.empty(); }
};

/// One budget of the study at one point.
struct PointBudget : Decision {
  std::optional<double> median = {};  // of an interval
};

/// Surely broken, or more likely than not.
bool is_broken(const PointBudget& row);

/// All points of one study, circumstances outside, choices inside; each in the order of the axes, a
/// scheme first.
class Sweep {
 public:
  /// The axes name different keys. Counts into `progress` if it is there. Throws Infeasible only
  /// where no circumstance can exist. Where `rows` are neither timed here nor known, the sweep has
  /// no answer, only the rows of its share.
  Sweep(Study study, std::vector<SweptAxis> axes, std::size_t num_threads,
        Progress* progress = nullptr, const SweepRows& rows = {});

  const Study& study() const { return study_; }
  const std::vector<SweptAxis>& circumstance_axes() const { return circumstance_axes_; }
  const std::vector<SweptAxis>& choice_axes() const { return choice_axes_; }
  const std::vector<SweepChoice>& choices() const { return choices_; }
  std::size_t num_circumstances() const { return num_decode_ * num_prefill_; }
  std::size_t size() const { return num_circumstances() * choices_.size(); }

  std::size_t num_rows() const {
    return decode_memory_.size() + prefill_memory_.size() + training_.size();
  }
  /// The times of a row; none without a machine.
  std::span<const AddedTime> row_times(std::size_t row) const;

  SweepPoint point(std::size_t circumstance, std::size_t choice) const;
  /// One for each of study().budgets, in that order. Where the scenario is silent, these hold the
  /// device's memory and the paper's limits.
  std::vector<PointBudget> budgets(const SweepPoint& point) const;
  /// Fail if one budget fails, else unknown if one is unknown.
  Verdict verdict(const SweepPoint& point) const;
  /// Values of the circumstance axes.
  std::vector<Count> circumstance_values(std::size_t circumstance) const;
  /// The study at a point, as evaluate() takes it.
  Study study_at(std::size_t circumstance, std::size_t choice) const;

 private:
  /// Tokens of a workload on one device, and what lies there beside the residual path.
  struct WorkloadMemory {
    double tokens = 0;
    Bytes weights;
    Bytes cache;
    double layer_share = 1;  // of the fullest stage
  };

  /// What a training step keeps on a device.
  struct TrainingMemory {
    Bytes state;  // of the residual path
    Bytes all;
  };

  void make_choices();
  template <class Self>
  static auto times_of(Self& self, std::size_t row);
  /// Those that are not refused.
  std::vector<std::size_t> existing_choices() const;
  /// The launches of all existing choices, as a workload of the study attaches them.
  LaunchTable launches(const Study& study, WorkloadKind kind) const;
  /// For each workload, with and without tokens of a prompt.
  using LaunchTables = std::map<std::pair<WorkloadKind, bool>, LaunchTable>;
  LaunchTables launch_tables() const;
  void time_workloads(std::size_t num_threads, Progress& progress, const SweepRows& rows);
  void remember_training(std::size_t num_threads);
  void time_training(std::size_t num_threads, Progress& progress, const SweepRows& rows);
  static std::vector<WorkloadMemory> decode_memory(const Study& study);
  static WorkloadMemory prefill_memory(const Study& study);
  std::optional<PointMemory> memory(std::size_t circumstance, std::size_t index) const;
  static Bytes all_of(const WorkloadMemory& workload, const SweepChoice& choice);
  bool is_too_large(const WorkloadMemory& workload, const SweepChoice& choice) const;
  PointBudget budget_at(const Budget& budget, const SweepPoint& point) const;

  Study study_;
  std::vector<SweptAxis> circumstance_axes_;
  std::vector<SweptAxis> choice_axes_;
  std::vector<SweepChoice> choices_;
  std::size_t num_decode_ = 1;
  std::size_t num_prefill_ = 1;
  std::vector<AddedTime> decode_;    // (decode circumstances, choices); empty without times
  std::vector<AddedTime> prefill_;   // as above
  std::vector<AddedTime> training_;  // choices
  std::vector<std::vector<WorkloadMemory>> decode_memory_;  // of each circumstance, batch by batch
  std::vector<WorkloadMemory> prefill_memory_;
  std::vector<TrainingMemory> training_memory_;  // choices
};

}  // namespace depthcost

// The profile's samples, and those of their kernels that are nearest to the scenario's calls.
#include "profile/nearest_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "profile/kernel_sources.hpp"
#include "profile/profile.hpp"
#include "profile/profile_file.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::profile {
namespace {

/// Shipped or beside the profile, but only those that it was made from.
std::optional<Samples> original_samples(const Values& profile) {
  const std::string& hash = profile.text("samples.hash");
  const auto backend = backend_of(profile);
  for (const Preset& shipped : shipped_samples())
    if (hash_text(shipped.text) == hash)
      return parse_samples(shipped.text, std::string(shipped.id), backend);
  const Value& file = profile.at("samples.file");
  const std::string path =
      (std::filesystem::path(file.position.file.text()).parent_path() / file.texts.front())
          .string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  const std::string text = load_text(path, kMaxMeasuredBytes);
  if (hash_text(text) != hash) return std::nullopt;
  return parse_samples(text, path, backend);
}

/// How far apart two calls of one operation are, whatever their numbers of sources, queries and
/// streams: those are what a call reads and writes.
double distance(const TimeRow& row, double hidden_size, const StandaloneCall& call) {
  const auto apart = [](double a, double b) { return std::abs(std::log(a / b)); };
  const Traffic theirs = traffic(*find_operation(call));
  const Traffic ours = traffic(row.operation);
  // Scores are scalars: nothing is written then.
  return apart(static_cast<double>(call.num_tokens), row.tokens) +
         apart(static_cast<double>(call.hidden_size), hidden_size) +
         apart(1 + theirs.reads_d, 1 + ours.reads_d) +
         apart(1 + theirs.writes_d, 1 + ours.writes_d);
}

/// Null where no kernel does that operation in that type.
const KernelSample* nearest(const Samples& samples, const TimeRow& row, const Transformer& model) {
  const auto d = static_cast<double>(model.hidden_size);
  // Variants move the same bytes as what they vary.
  const auto order = [&](const KernelSample& kernel) {
    return std::tuple(distance(row, d, kernel.call),
                      kernel.call.operation != name(row.operation.id),
                      kernel.call.launch != row.launch);
  };
  const KernelSample* best = nullptr;
  for (const KernelSample& kernel : samples.kernels) {
    if (kernel.is_again || kernel.call.dtype != model.dtype ||
        kernel.call.temperature != Temperature::cold ||
        find_operation(kernel.call)->id != row.operation.id)
      continue;
    if (best == nullptr || order(kernel) < order(*best)) best = &kernel;
  }
  return best;
}

/// Sets each kernel once, by operation and size, and what has none.
void choose_kernels(const Samples& samples, const Evaluation& evaluation,
                    MeasuredKernels& measured) {
  const Study& study = evaluation.study;
  const auto size = [](const StandaloneCall& call) {
    return std::tuple(call.operation, call.num_tokens, call.hidden_size, call.counts.num_sources,
                      call.counts.num_queries, call.launch);
  };
  std::map<decltype(size({})), const KernelSample*> chosen;
  std::set<std::string> unmeasured;
  for (const TimeRow& row : evaluation.time) {
    if (row.schedule != quoted_schedule(study, *row.path)) continue;
    if (const KernelSample* kernel = nearest(samples, row, study.model))
      chosen.emplace(size(kernel->call), kernel);
    else
      unmeasured.emplace(name(row.operation.id));
  }
  for (const auto& [key, kernel] : chosen)
    measured.kernels.push_back({kernel->call, compared(*study.machine, *kernel, {})});
  measured.unmeasured.assign(unmeasured.begin(), unmeasured.end());
}

/// As fitted: its errors stay.
void read_trust(const Values& values, MeasuredKernels& measured) {
  const Profile stored = profile_in(values);
  for (const Accuracy& accuracy : stored.accuracy)
    if (accuracy.ceilings == Ceilings::same_mix)
      measured.trust.push_back({std::string(name(accuracy.cases)), accuracy.errors});
  const bool has_own = stored.operation_coverage.cases > 0;
  const Coverage& coverage = has_own ? stored.operation_coverage : stored.coverage;
  if (coverage.cases == 0) return;
  measured.coverage = Estimate<double>{coverage.share.low, coverage.share.value,
                                       coverage.share.high, Evidence::measured};
  measured.coverage_cases = coverage.cases;
  measured.coverage_warning = coverage_warning(coverage.share);
}

}  // namespace

std::optional<MeasuredKernels> measured_kernels(const Scenario& scenario,
                                                const Evaluation& evaluation) {
  if (!scenario.profile) return std::nullopt;
  const Values& profile = *scenario.profile;
  MeasuredKernels measured{.samples_file = profile.text("samples.file"),
                           .kernels_hash = profile.text("samples.kernels"),
                           .date = profile.text("date"),
                           .stale = stale_mark(profile_in(profile))};
  read_trust(profile, measured);
  if (const std::optional<Samples> samples = original_samples(profile)) {
    // As everybody who reads a profile beside its samples.
    require_good_and_own(*samples, profile.text("name"));
    require_made_from(profile, *samples);
    measured.has_samples = true;
    choose_kernels(*samples, evaluation, measured);
  }
  return measured;
}

}  // namespace depthcost::profile

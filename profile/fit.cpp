// From samples to a machine: lower quartiles with bootstrap intervals, and the best variant of each
// ceiling. Kernels decide only how core time and memory time combine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <tuple>

#include "profile/measured_shapes.hpp"
#include "profile/profile.hpp"
#include "scenarios/device/profile.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::profile {
namespace {

// A needed parameter with a wider 90 % interval is refused: it would say too little.
constexpr double kWidestInterval = 0.30;

// The share of L1 that holds the rows of a pass. The rest holds parameters and the next rows.
// kerncraft takes 0.66 of a level, too (machinemodel.py). REFERENCES.md, "core".
constexpr double kUsableShare = 0.66;

void require_usable(const Samples& samples, const std::string& name,
                    const Estimate<Seconds>& time) {
  if (relative_width(time) > kWidestInterval)
    throw MeasurementInvalid(
        {samples.path, 1, 1},
        fmt::format("invalid samples of '{}' (the 90 % interval of their lower quartile is {:.0f} "
                    "% wide, more than {:.0f} %: measure more rounds, on a quieter machine)",
                    printable(name), 100 * relative_width(time), 100 * kWidestInterval));
}

Estimate<Seconds> time_of(const Samples& samples, const std::string& name,
                          const Repetitions& seconds) {
  const Estimate<Seconds> time = typical_time(seconds);
  require_usable(samples, name, time);
  return time;
}

Estimate<BytesPerSecond> bandwidth_of(Bytes bytes, const Estimate<Seconds>& time) {
  return {bytes / time.high, bytes / time.value, bytes / time.low, Evidence::calibrated};
}

/// The mix of a primitive: score and mix read eight rows, add reads two.
Mix mix_of_primitive(Primitive primitive) {
  if (primitive == Primitive::score) return {8, 0, 0};
  return primitive == Primitive::mix ? Mix{8, 1, 0} : Mix{2, 1, 1};
}

/// The mix itself, or the one with as many writes whose number of reads is nearest: two reads more
/// or fewer change little.
const Mix* nearest(const std::vector<Mix>& mixes, const Mix& mix) {
  const Mix* best = nullptr;
  const auto distance = [&](const Mix& other) {
    return other.reads > mix.reads ? other.reads - mix.reads : mix.reads - other.reads;
  };
  for (const Mix& other : mixes)
    if (other.writes == mix.writes && other.in_place == mix.in_place &&
        (best == nullptr || distance(other) < distance(*best)))
      best = &other;
  return best;
}

bool is_of_memory(const Ceiling& ceiling) {
  return ceiling.level == MemoryLevel::memory && ceiling.threads == 0;
}

/// The best variant for a (level, threads, mix), and its time.
struct BestVariant {
  Ceiling ceiling;
  Estimate<Seconds> time;
};

BestVariant variant_of(const CeilingSample& sample) {
  const Estimate<Seconds> time = typical_time(sample.seconds);
  return {
      {sample.level, sample.threads, sample.mix, sample.name, bandwidth_of({sample.bytes}, time)},
      time};
}

BytesPerSecond rate(const BestVariant& variant) { return variant.ceiling.bandwidth.value; }

/// The fastest steady variant, if it is at most kSteadyWidth slower than the fastest of all; else
/// that. On a noisy machine the fastest of many variants was often only lucky.
BestVariant best_of(std::vector<BestVariant> variants) {
  std::stable_sort(variants.begin(), variants.end(),
                   [](const auto& a, const auto& b) { return rate(a) > rate(b); });
  const auto steady =
      std::find_if(variants.begin(), variants.end(),
                   [](const BestVariant& variant) { return is_steady(variant.time); });
  const BytesPerSecond enough = (1 - kSteadyWidth) * rate(variants.front());
  return steady != variants.end() && rate(*steady) > enough ? *steady : variants.front();
}

std::vector<BestVariant> best_variants(const Samples& samples) {
  std::vector<BestVariant> all;
  for (const CeilingSample& sample : samples.ceilings) all.push_back(variant_of(sample));
  const auto place_of = [](const BestVariant& variant) {
    return std::tie(variant.ceiling.level, variant.ceiling.threads);
  };
  std::vector<BestVariant> best;
  for (const BestVariant& one : all) {
    const Mix mix = one.ceiling.mix;
    const bool is_known = std::any_of(best.begin(), best.end(), [&](const BestVariant& other) {
      return place_of(other) == place_of(one) && other.ceiling.mix == mix;
    });
    if (is_known) continue;
    std::vector<BestVariant> variants;
    std::copy_if(all.begin(), all.end(), std::back_inserter(variants), [&](const auto& other) {
      return place_of(other) == place_of(one) && is_part_of(other.ceiling.mix, mix);
    });
    best.push_back(best_of(std::move(variants)));
    best.back().ceiling.mix = mix;
  }
  return best;
}

/// The mixes whose ceiling of memory must be known: the generic ones (all mixes, if none is
/// generic) and those of the primitives. Other ceilings (of caches, of other numbers of threads, of
/// a kernel's own mix) are left out where they are unsteady, and generic ones take their place.
std::vector<Mix> needed_mixes(const std::vector<BestVariant>& best) {
  std::vector<Mix> mixes;
  for (const BestVariant& variant : best)
    if (is_of_memory(variant.ceiling)) mixes.push_back(variant.ceiling.mix);
  std::vector<Mix> needed;
  std::copy_if(mixes.begin(), mixes.end(), std::back_inserter(needed), is_generic);
  if (needed.empty()) return mixes;
  for (const Primitive primitive : {Primitive::score, Primitive::mix, Primitive::add})
    if (const Mix* held = nearest(mixes, mix_of_primitive(primitive))) needed.push_back(*held);
  return needed;
}

/// The ceilings that become parameters.
std::vector<Ceiling> ceilings_of(const Samples& samples) {
  const std::vector<BestVariant> best = best_variants(samples);
  const std::vector<Mix> needed = needed_mixes(best);
  std::vector<Ceiling> ceilings;
  for (const BestVariant& variant : best) {
    const bool is_needed =
        is_of_memory(variant.ceiling) &&
        std::find(needed.begin(), needed.end(), variant.ceiling.mix) != needed.end();
    if (is_needed) require_usable(samples, variant.ceiling.variant, variant.time);
    if (is_needed || is_steady(variant.time)) ceilings.push_back(variant.ceiling);
  }
  std::sort(ceilings.begin(), ceilings.end(), [](const Ceiling& a, const Ceiling& b) {
    return std::tie(a.level, a.threads, a.mix) < std::tie(b.level, b.threads, b.mix);
  });
  return ceilings;
}

/// The ceilings of one level, on as many threads as kernels use.
std::vector<ExactMixBandwidth> exact_bandwidths(const std::vector<Ceiling>& ceilings,
                                                MemoryLevel level) {
  std::vector<ExactMixBandwidth> exact;
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.level == level && ceiling.threads == 0)
      exact.push_back({ceiling.mix, ceiling.bandwidth});
  return exact;
}

BytesPerSecond envelope(const std::vector<Ceiling>& ceilings, MemoryLevel level) {
  BytesPerSecond most;
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.level == level && ceiling.threads == 0)
      most = std::max(most, ceiling.bandwidth.high);
  return most;
}

void set_bandwidths(const Samples& samples, const std::vector<Ceiling>& ceilings,
                    Machine& machine) {
  machine.exact_bandwidth = exact_bandwidths(ceilings, MemoryLevel::memory);
  machine.memory_bandwidth = curve_over(machine.exact_bandwidth);
  if (machine.memory_bandwidth.empty())
    throw InputError({samples.path, 1, 1}, "too few samples (no ceiling of memory)");
  machine.memory_ceiling = envelope(ceilings, MemoryLevel::memory);
  const auto cached = curve_over(exact_bandwidths(ceilings, MemoryLevel::L3));
  if (cached.empty()) return;
  machine.cache_bandwidth = cached;
  machine.cache_ceiling = {};
  // Hot operands may lie in L1 or L2.
  for (const MemoryLevel level : {MemoryLevel::L1, MemoryLevel::L2, MemoryLevel::L3})
    machine.cache_ceiling = std::max(machine.cache_ceiling, envelope(ceilings, level));
  // Nothing was measured between these footprints: the transition is a straight line.
  machine.transition = {{{kArrayBytesInL3}, 0}, {samples.rotation, 1}};
}

/// On a CPU a call has the same floor in every launch mode and at every level.
void add_cpu_floors(const Estimate<Seconds>& floor, Skeleton skeleton, Machine& machine) {
  for (const Launch launch : {Launch::stream, Launch::graph, Launch::graph_pdl})
    for (const Level level : {Level::cache, Level::memory})
      machine.floors.push_back({launch, level, skeleton, floor});
}

void set_floors(const Samples& samples, Machine& machine) {
  for (const SkeletonSample& sample : samples.skeletons) {
    const auto skeleton = named<Skeleton>(sample.skeleton);
    if (!skeleton) continue;
    const Estimate<Seconds> floor = time_of(samples, sample.name, sample.seconds);
    if (!samples.is_gpu())
      add_cpu_floors(floor, *skeleton, machine);
    else if (sample.ctas == "sms")
      machine.floors.push_back({sample.launch, sample.level, *skeleton, floor});
  }
}

/// The bandwidth of memory for as many arrays as the primitive has rows: it reads all rows at once.
double memory_rate(const Samples& samples, const Machine& machine, const Mix& mix) {
  std::vector<Mix> mixes;
  for (const ExactMixBandwidth& entry : machine.exact_bandwidth) mixes.push_back(entry.mix);
  const Mix* held = nearest(mixes, mix);
  if (held == nullptr)
    throw InputError(
        {samples.path, 1, 1},
        fmt::format("too few samples (no ceiling of memory with {} writes)", mix.writes));
  double most = 0;
  for (const CeilingSample& sample : samples.ceilings)
    if (sample.level == MemoryLevel::memory && sample.threads == 0 && sample.mix == *held)
      most = std::max(most, sample.bytes / typical(sample.seconds));
  return most;
}

/// The share of the shorter of memory time and core time that is not hidden by the other when a
/// primitive reads from memory: 0 if they overlap, 1 if they take turns. The median over
/// primitives.
double exposed_share(const Samples& samples, const Core& core, const Machine& machine) {
  std::vector<double> shares;
  for (const CoreSample& sample : samples.cores) {
    if (sample.level != CoreLevel::memory) continue;
    const Mix mix = mix_of_primitive(sample.primitive);
    const double vectors =
        sample.elements * (mix.reads + mix.writes) / (sample.primitive == Primitive::add ? 1 : 8);
    const double memory =
        vectors * bytes_per_element(sample.dtype) / memory_rate(samples, machine, mix);
    double near = 0;
    for (const CoreRate& rate : core.rates)
      if (rate.primitive == sample.primitive && rate.dtype == sample.dtype &&
          rate.level == CoreLevel::L1)
        near = sample.elements * rate.per_element.value.value / samples.threads;
    const double shown = typical(sample.seconds) - std::max(memory, near);
    shares.push_back(std::clamp(shown / std::min(memory, near), 0.0, 1.0));
  }
  return shares.empty() ? 0 : quantile(shares, 0.5);
}

void set_core(const Samples& samples, Machine& machine) {
  if (samples.is_gpu()) return;
  Core core{.first_level = kUsableShare * samples.first_level,
            .second_level = {kArrayBytesInL2},
            .threads = samples.threads};
  for (const CoreSample& sample : samples.cores) {
    if (sample.level == CoreLevel::memory) continue;
    const Estimate<Seconds> time = time_of(samples, sample.name, sample.seconds);
    core.rates.push_back({sample.primitive,
                          sample.dtype,
                          sample.level,
                          {{time.low.value / sample.elements},
                           {time.value.value / sample.elements},
                           {time.high.value / sample.elements},
                           Evidence::calibrated}});
  }
  constexpr std::size_t kOfEach = kCoreDtypes.size() * kRatedLevels.size();
  constexpr std::size_t kAllRates = kOfEach * kEnumerators<Primitive>.size();
  constexpr std::size_t kNeeded = kAllRates - kOfEach;  // all but Primitive::product
  if (core.rates.size() != kAllRates && core.rates.size() != kNeeded)
    throw InputError({samples.path, 1, 1},
                     fmt::format("too few samples ({} of {} primitives of a core)",
                                 core.rates.size(), kAllRates));
  core.exposed = exposed_share(samples, core, machine);
  machine.core = core;
}

/// The form with the smallest median error on the calibration shapes.
void choose_form(const Samples& samples, Profile& profile) {
  if (!profile.machine.core) return;
  for (const CoreForm form : kEnumerators<CoreForm>) {
    profile.machine.core->form = form;
    profile.forms.push_back(
        {form, summary_of(predictions(profile.machine, samples, Cases::calibration))});
  }
  const auto best = std::min_element(
      profile.forms.begin(), profile.forms.end(),
      [](const FormError& a, const FormError& b) { return a.errors.median < b.errors.median; });
  profile.machine.core->form = best->form;
}

double noise_of(const Samples& samples) {
  std::map<std::string, double> firsts;
  for (const KernelSample& first : samples.kernels)
    firsts.emplace(first.name + "/again", typical(first.seconds));
  std::vector<double> differences;
  for (const KernelSample& again : samples.kernels)
    if (const auto first = firsts.find(again.name); first != firsts.end())
      differences.push_back(std::abs(typical(again.seconds) / first->second - 1));
  return differences.empty() ? 0 : quantile(differences, 0.95);
}

/// The time of an in-place update of two arrays over that of a copy with ordinary stores: 1 where a
/// store that misses reads its line first, 1.5 where it does not. [ours], after STREAM's
/// write-allocate.
double write_allocate_of(const Samples& samples) {
  const auto best = [&](Mix mix) {
    double least = 0;
    for (const CeilingSample& sample : samples.ceilings) {
      const bool is_asked = sample.mix == mix && sample.level == MemoryLevel::memory &&
                            sample.threads == 0 && sample.name.ends_with("/cached");
      const double seconds = typical(sample.seconds);
      if (is_asked && (least == 0 || seconds < least)) least = seconds;
    }
    return least;
  };
  const double copy = best({1, 1, 0});
  return copy == 0 ? 0 : best({2, 1, 1}) / copy;
}

void set_links(const Samples& samples, Profile& profile) {
  profile.machine.links.clear();
  for (FittedLink& fitted : fit_links(samples)) {
    profile.machine.links.push_back(std::move(fitted.curve));
    if (fitted.held_out.errors.cases > 0) profile.link_errors.push_back(fitted.held_out);
  }
}

/// The values that no sample measures.
Machine machine_of_part(const std::string& part, const Samples& samples) {
  std::vector<ResolvedValue> notes;
  Machine machine =
      unmeasured_machine(part, samples.is_gpu() ? "gpu" : "cpu", {"--part", 1, 1}, notes);
  machine.floors.clear();
  return machine;
}

}  // namespace

std::vector<Ceiling> measured_ceilings(const Samples& samples) {
  std::vector<Ceiling> ceilings;
  for (BestVariant& variant : best_variants(samples))
    ceilings.push_back(std::move(variant.ceiling));
  return ceilings;
}

Profile fit(const Samples& samples, const std::string& part) {
  // First, so that an error of the part is reported even if the samples are bad, too.
  Machine machine = machine_of_part(part, samples);
  require_good(samples);
  Profile profile{.name = samples.subject(),
                  .part = part,
                  .samples_file = std::filesystem::path(samples.path).filename().string(),
                  .samples_hash = samples.hash,
                  .kernels_hash = samples.kernels_hash,
                  .date = samples.date,
                  .is_gpu = samples.is_gpu(),
                  .threads = samples.threads,
                  .ceilings = ceilings_of(samples),
                  .machine = std::move(machine)};
  profile.machine.name = profile.name;
  set_bandwidths(samples, profile.ceilings, profile.machine);
  set_floors(samples, profile.machine);
  set_core(samples, profile.machine);
  set_curves(samples, profile);
  set_links(samples, profile);
  choose_form(samples, profile);
  profile.noise = noise_of(samples);
  profile.write_allocate = write_allocate_of(samples);
  set_errors(samples, profile);
  return profile;
}

}  // namespace depthcost::profile

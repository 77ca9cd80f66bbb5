// Rows of the file, each checked.
#include "profile/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "model/base/counted.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/keys/values.hpp"
#include "scenarios/text/input_text.hpp"
#include "scenarios/text/json_document.hpp"
#include "scenarios/text/json_record.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost::profile {
namespace {

constexpr const char* kSchema = "depthcost-samples/1";
constexpr std::size_t kFewestRepetitions = 3;
constexpr Count kMostStreams = 1 << 20;
constexpr Count kMostThreads = 1 << 20;
constexpr Count kMostRounds = 999;  // scripts/arguments.sh

Repetitions seconds_of(JsonRecord& row) {
  Repetitions repetitions;
  for (const Node& item : row.list("seconds").items)
    repetitions.push_back(
        parse_number(as_scalar(item, "seconds"), item.position, "seconds", Range::positive));
  if (repetitions.size() < kFewestRepetitions)
    throw InputError(
        row.at("seconds").position,
        fmt::format("too few samples ({} of at least {})", repetitions.size(), kFewestRepetitions));
  return repetitions;
}

Mix mix_of(JsonRecord& row) {
  const std::vector<Count> numbers = row.counts_to(kMostStreams, "mix", Range::non_negative);
  const Position& position = row.at("mix").position;
  if (numbers.size() != 3)
    throw InputError(position, "invalid mix (must be [reads, writes, in_place])");
  const auto count = [&](std::size_t i) { return static_cast<unsigned>(numbers[i]); };
  const Mix mix{count(0), count(1), count(2)};
  if (mix.reads + mix.writes == 0)
    throw InputError(position, "invalid mix (nothing is read or written)");
  if (mix.in_place > std::min(mix.reads, mix.writes))
    throw InputError(position, "invalid mix (more in place than are read and written)");
  return mix;
}

const std::vector<std::string> kBackends{"cpu", "cuda"};

CeilingSample ceiling_of(JsonRecord& row) {
  return {.name = row.text("name"),
          .level = row.value<MemoryLevel>("level"),
          .threads = static_cast<int>(row.count_to(kMostThreads, "threads", Range::non_negative)),
          .mix = mix_of(row),
          .bytes = row.number("bytes"),
          .seconds = seconds_of(row)};
}

Dtype dtype_of(JsonRecord& row) { return row.value<Dtype>("dtype", kCoreDtypes); }

CoreSample core_of(JsonRecord& row) {
  return {.name = row.text("name"),
          .primitive = row.value<Primitive>("primitive"),
          .dtype = dtype_of(row),
          .level = row.value<CoreLevel>("level"),
          .elements = row.number("elements"),
          .seconds = seconds_of(row)};
}

CurveSample curve_of(JsonRecord& row) {
  return {.name = row.text("name"),
          .footprint = {row.number("footprint_bytes")},
          .temperature = row.value<Temperature>("temperature"),
          .mix = mix_of(row),
          .bytes = row.number("bytes"),
          .seconds = seconds_of(row)};
}

SkeletonSample skeleton_of(JsonRecord& row) {
  row.number("deviation", Range::non_negative);
  return {.name = row.text("name"),
          .skeleton = row.text("skeleton"),
          .ctas = row.text("ctas"),
          .launch = row.value<Launch>("launch"),
          .level = row.value<Level>("level"),
          .seconds = seconds_of(row)};
}

KernelSample kernel_of(JsonRecord& row) {
  row.number("deviation", Range::non_negative);
  mix_of(row);
  row.number("bytes");
  if (row.has("of_ceiling")) row.list("of_ceiling");
  const Node& operation = row.at("operation");
  const std::string name = row.text("operation");
  if (find_entry(name) == nullptr)
    throw InputError(operation.position, fmt::format("unknown operation '{}'{}", printable(name),
                                                     meant_or_known(name, catalogue_names())));
  return {.name = row.text("name"),
          .call = {.operation = name,
                   .counts = {.num_sources = row.count("sources"),
                              .num_queries = row.count("queries"),
                              .num_streams = row.count("streams")},
                   .num_tokens = row.count("tokens"),
                   .hidden_size = row.count("hidden_size"),
                   .dtype = dtype_of(row),
                   .launch = row.value<Launch>("launch"),
                   .temperature = row.value<Temperature>("temperature")},
          .is_again = row.choice("again", {"false", "true"}) == 1,
          .seconds = seconds_of(row)};
}

struct StepSchedule {
  Schedule schedule = Schedule::fused;
  Phase1Order phase1 = Phase1Order::in_order;
};

StepSchedule step_schedule_of(JsonRecord& row) {
  const std::string hoisted = name(Schedule::two_phase, Phase1Order::hoisted);
  std::vector<std::string> names(kNames<Schedule>.begin(), kNames<Schedule>.end());
  names.push_back(hoisted);
  const std::string& chosen = names[row.choice("schedule", names)];
  if (chosen == hoisted) return {Schedule::two_phase, Phase1Order::hoisted};
  return {named<Schedule>(chosen).value()};
}

StepSample step_of(JsonRecord& row) {
  const std::vector<std::string> schemes{"standard", "mhc", "block_attnres"};
  const StepSchedule schedule = step_schedule_of(row);
  const Count layers = row.count_to(kMaxLayers, "layers");
  const Count block_size = row.count("block_size");
  if (block_size > layers)
    throw InputError(row.at("block_size").position,
                     fmt::format("invalid block_size '{}' (the step has only {})", block_size,
                                 counted(layers, "layer", "layers")));
  return {.name = row.text("name"),
          .scheme = schemes[row.choice("scheme", schemes)],
          .schedule = schedule.schedule,
          .phase1 = schedule.phase1,
          .dtype = dtype_of(row),
          .launch = row.value<Launch>("launch"),
          .tokens = row.count("tokens"),
          .hidden_size = row.count("hidden_size"),
          .num_layers = layers,
          .block_size = block_size,
          .num_streams = row.count("streams"),
          .weight_bytes = {row.number("weight_bytes")},
          .seconds = seconds_of(row)};
}

LinkSample link_of(JsonRecord& row) {
  return {.name = row.text("name"),
          .transfer = row.value<Transfer>("transfer"),
          .num_ranks = row.count("ranks"),
          .bytes = {row.number("bytes")},
          .seconds = seconds_of(row)};
}

/// What a row measures, so that it is not counted twice under two names. Empty where it may be.
template <class Sample>
std::string subject(const Sample& /*sample*/) {
  return "";
}

std::string subject(const KernelSample& kernel) {
  return kernel.is_again ? "" : case_id(kernel.call);
}

std::string subject(const CoreSample& sample) {
  return fmt::format("{}/{}/{}", name(sample.primitive), name(sample.dtype), name(sample.level));
}

std::string subject(const SkeletonSample& sample) {
  return fmt::format("{}/{}/{}/{}", sample.skeleton, sample.ctas, name(sample.launch),
                     name(sample.level));
}

std::string subject(const StepSample& step) {
  return fmt::format("{}/{}/{}/T:{}/d:{}/L:{}/S:{}/m:{}/W:{}/{}", step.scheme,
                     name(step.schedule, step.phase1), name(step.dtype), step.tokens,
                     step.hidden_size, step.num_layers, step.block_size, step.num_streams,
                     step.weight_bytes.value, name(step.launch));
}

/// Throws where two rows have the same name, or the same subject on the same backend.
class Seen {
 public:
  void add(const Node& row, const std::string& name, const std::string& subject) {
    const int first = std::max(line_of(names_, name, row), line_of(subjects_, subject, row));
    if (first > 0)
      throw InputError(row.position, fmt::format("duplicate sample '{}' (first at line {})",
                                                 printable(name), first));
  }

 private:
  /// The line of the row that had the key before. 0 if there is none, or no key.
  static int line_of(std::map<std::string, int>& lines, const std::string& key, const Node& row) {
    if (key.empty()) return 0;
    const auto [at, is_new] = lines.emplace(key, row.position.line);
    return is_new ? 0 : at->second;
  }

  std::map<std::string, int> names_;
  std::map<std::string, int> subjects_;
};

/// The rows of `key` that were measured on `backend`.
template <class Sample>
std::vector<Sample> rows(JsonRecord& file, std::string_view key, std::string_view backend,
                         Sample (*read)(JsonRecord&)) {
  std::vector<Sample> samples;
  Seen seen;
  for (const Node& node : file.list(key).items) {
    JsonRecord row(node, "samples");
    // Cores are always those of the CPU. Links have no backend.
    const bool is_of_all = key == "links";
    const std::string where = is_of_all        ? std::string(backend)
                              : key == "cores" ? "cpu"
                                               : kBackends[row.choice("backend", kBackends)];
    Sample sample = read(row);
    row.refuse_others();
    const std::string what = subject(sample);
    seen.add(node, sample.name, what.empty() ? "" : where + "/" + what);
    if (where == backend) samples.push_back(std::move(sample));
  }
  return samples;
}

Samples samples_in(const Node& document, const std::string& path, Backend wanted) {
  JsonRecord file(document, "samples");
  if (file.text("schema") != kSchema)
    throw InputError(file.at("schema").position,
                     fmt::format("invalid schema '{}' (must be {}: what scripts/measure writes)",
                                 printable(file.text("schema")), kSchema));
  Samples samples{.path = path,
                  .machine = as_text(file.at("machine"), "machine"),
                  .device = file.text("device"),
                  .date = as_text(file.at("date"), "date"),
                  .threads = static_cast<double>(file.count_to(kMostThreads, "threads")),
                  .rotation = {file.number("rotation_bytes")}};
  if (wanted == Backend::cpu) samples.device.clear();
  // Some containers list no caches, and a GPU's profile needs none.
  samples.first_level = {
      file.number("first_level_bytes", samples.is_gpu() ? Range::non_negative : Range::positive)};
  file.text("huge_pages");
  // Files from before 2026-11-23 have the time that a hypervisor took.
  for (const char* percent : {"disturbed_percent", "steal_percent"})
    if (file.has(percent)) file.number(percent, Range::non_negative);
  samples.throttled_percent = file.number("throttled_percent", Range::non_negative);
  const std::string cpu_hash = as_text(file.at("kernels_hash"), "kernels_hash");
  const std::string cuda_hash = file.text("cuda_kernels_hash");
  samples.kernels_hash = samples.is_gpu() ? cuda_hash : cpu_hash;
  samples.rounds = static_cast<int>(file.count_to(kMostRounds, "rounds", Range::non_negative));
  samples.rounds_wanted = static_cast<int>(file.count_to(kMostRounds, "rounds_wanted"));
  const std::string_view backend = samples.is_gpu() ? "cuda" : "cpu";
  samples.ceilings = rows(file, "ceilings", backend, ceiling_of);
  samples.cores = rows(file, "cores", backend, core_of);
  samples.curves = rows(file, "curves", backend, curve_of);
  samples.skeletons = rows(file, "skeletons", backend, skeleton_of);
  samples.kernels = rows(file, "kernels", backend, kernel_of);
  samples.has_other_kernels = samples.kernels.size() < file.list("kernels").items.size();
  samples.steps = rows(file, "steps", backend, step_of);
  // Without MPI there are no links.
  if (file.has("links")) samples.links = rows(file, "links", backend, link_of);
  file.list("others");
  file.refuse_others();
  if (samples.ceilings.empty() || samples.skeletons.empty() || samples.kernels.empty())
    throw InputError(document.position,
                     "too few samples (ceilings, skeletons and kernels are needed)");
  return samples;
}

}  // namespace

Samples read_samples(const std::string& path, Backend backend) {
  return parse_samples(load_text(path, kMaxMeasuredBytes), path, backend);
}

Samples parse_samples(std::string_view text, const std::string& file, Backend backend) {
  Samples samples = samples_in(parse_json(text, file, kMaxMeasuredBytes), file, backend);
  samples.hash = hash_text(text);
  return samples;
}

std::string Samples::problem() const {
  constexpr double kMostThrottled = 5;
  if (rounds < rounds_wanted)
    return fmt::format("{} good rounds of {}: a program failed in the others", rounds,
                       rounds_wanted);
  if (throttled_percent > kMostThrottled)
    return fmt::format("{:.0f} % of the runs had a clock below nine tenths of the usual",
                       throttled_percent);
  return "";
}

std::string Samples::left_out() const {
  if (!has_other_kernels) return "";
  return fmt::format(
      "The kernels of the {} are left out: profile fit {} --cpu makes the profile that they are "
      "compared with.",
      is_gpu() ? "CPU" : "GPU", is_gpu() ? "with" : "without");
}

void require_good(const Samples& samples) {
  if (const std::string problem = samples.problem(); !problem.empty())
    throw MeasurementInvalid({samples.path, 1, 1},
                             fmt::format("invalid samples ({}; measure again)", problem));
}

}  // namespace depthcost::profile

// Targets that read one kind of file each: any bytes are accepted or refused in one line.
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/shards/sweep_shard.hpp"
#include "microbench/mpi/plan_file.hpp"
#include "profile/profile_file.hpp"
#include "profile/samples.hpp"
#include "profile/traces/trace_builder.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/import/import.hpp"
#include "scenarios/measured/measurements.hpp"
#include "scenarios/measured/mixing_file.hpp"
#include "scenarios/measured/published.hpp"
#include "scenarios/measured/result_file.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/axis.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"

namespace depthcost::fuzz {
namespace {

constexpr const char* kFile = "input";

Values checked_values(std::string_view text, const ReferenceKind& kind) {
  return resolve_reference(parse_document(text, kFile), kind, kFile);
}

}  // namespace

bool read_scenario_text(std::string_view text) {
  return accepts([&] { scenario_of(parse_document(text, kFile), kFile, Provenance::scenario); });
}

bool read_model(std::string_view text) {
  return accepts([&] { checked_values(text, model_reference()); });
}

bool read_hardware(std::string_view text) {
  return accepts([&] {
    const DeviceValues device{checked_values(text, hardware_reference()), hardware_reference()};
    std::vector<ResolvedValue> notes;
    Machine machine = machine_from(device, notes);
    borrow_transfers(device, machine, notes);
  });
}

bool read_profile(std::string_view text) {
  return accepts([&] { profile::profile_in(profile::profile_values(std::string(text), kFile)); });
}

bool read_samples(std::string_view text) {
  return accepts([&] { profile::parse_samples(text, kFile); });
}

bool read_measurements(std::string_view text) {
  return accepts([&] {
    const MeasurementTable table = parse_measurements(text, kFile);
    require(!table.rows.empty(), "a table without rows is accepted");
  });
}

bool read_tolerances(std::string_view text) {
  return accepts([&] { RuleBook(parse_rules(text, kFile)); });
}

bool read_mixing_weights(std::string_view text) {
  return accepts([&] { parse_mixing_file(text, kFile, {}); });
}

/// What import writes must be a model file.
bool read_hf_config(std::string_view text) {
  std::string written;
  if (!accepts([&] { written = to_yaml(import_config(text, kFile)); })) return false;
  require(accepts([&] { checked_values(written, model_reference()); }),
          "import wrote a model that the reader refuses");
  return true;
}

bool read_result(std::string_view text) {
  return accepts([&] { parse_result(text, kFile, 1); });
}

bool read_axis(std::string_view text) {
  return accepts([&] {
    const Axis axis = parse_axis(std::string(text));
    const double count = num_values(axis, 128);
    require(count >= 1, "an axis without values is accepted");
    if (count < 10'000)
      require(static_cast<double>(values_of(axis, 128).size()) == count,
              "an axis has another number of values than it says");
  });
}

bool read_pipeline_plan(std::string_view text) {
  return accepts([&] { bench::parse_plan(std::string(text), kFile); });
}

/// The bytes behind the lines of a shard.
bool read_shard_times(std::string_view bytes) {
  return accepts([&] {
    for (const std::vector<AddedTime>& row : rows_in(bytes, kFile))
      for (const AddedTime& time : row)
        require(time.delta.low <= time.delta.value && time.delta.value <= time.delta.high,
                "a time outside its interval is accepted");
  });
}

bool read_chrome_trace(std::string_view text) {
  return accepts([&] {
    std::stringbuf content{std::string(text)};
    const KernelTrace trace = read_json_trace(content, kFile);
    require(!trace.kernels.empty(), "a trace without kernels is accepted");
  });
}

bool read_nsys_table(std::string_view text) {
  return accepts([&] {
    const KernelTrace trace = read_trace_table(text, kFile);
    require(!trace.kernels.empty(), "a trace without kernels is accepted");
  });
}

}  // namespace depthcost::fuzz

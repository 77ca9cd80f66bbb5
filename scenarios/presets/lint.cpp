// Checks for common mistakes in presets: no source, rates with sparsity, decimal and binary units
// mixed up.
#include "scenarios/presets/lint.hpp"

#include <fmt/format.h>

#include "scenarios/presets/presets.hpp"

namespace depthcost {
namespace {

/// Keys about the file itself, which need no source.
bool needs_source(const std::string& path) {
  return path != "schema" && path != "name" && path != "kind" && path != "vendor" &&
         path != "architecture" && path != "memory_technology";
}

class Findings {
 public:
  Findings(std::string file, const Values& values) : file_(std::move(file)), values_(values) {}

  void add(const std::string& text) { lines_.push_back(fmt::format("{}: {}", file_, text)); }

  /// `smaller` must not exceed `larger` where both are there.
  void ordered(const std::string& smaller, const std::string& larger) {
    if (values_.has(smaller) && values_.has(larger) &&
        values_.number(smaller) > values_.number(larger))
      add(fmt::format("{} exceeds {}", smaller, larger));
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::string file_;
  const Values& values_;
  std::vector<std::string> lines_;
};

void check_sources(const Values& values, Findings& findings) {
  for (const auto& [path, value] : values.all())
    if (needs_source(path) && !value.has_source) findings.add(path + " has no source");
}

/// Memory that the driver shows may exceed the decimal size that is sold, but not the same number
/// in binary units.
void check_capacity(const Values& values, Findings& findings) {
  constexpr double kBinaryOverDecimal = 1.073741824;
  if (!values.has("visible_memory") || !values.has("memory_capacity")) return;
  if (values.number("visible_memory") > kBinaryOverDecimal * values.number("memory_capacity"))
    findings.add("visible_memory exceeds memory_capacity even in binary units");
}

void check_hardware(const Values& values, Findings& findings) {
  check_capacity(values, findings);
  for (std::size_t i = 0; i < values.num_records("sustained_bandwidth"); ++i)
    findings.ordered(fmt::format("sustained_bandwidth[{}].value", i), "memory_bandwidth");
  findings.ordered("bf16_rate", "fp8_rate");
  findings.ordered("f32_rate", "bf16_rate");
  // No device has a dense bf16 rate above 3 PFLOP/s today, so this is the sparse one.
  if (values.has("bf16_rate") && values.number("bf16_rate") > 3e15)
    findings.add("bf16_rate looks like a sparse rate");
}

}  // namespace

std::vector<std::string> lint(const Values& values, const ReferenceKind& kind,
                              const std::string& file) {
  Findings findings(file, values);
  // A tolerance rule has a reason instead of a source.
  if (kind.folder != "tolerances" && kind.folder != "profiles") check_sources(values, findings);
  if (kind.folder == "hardware") check_hardware(values, findings);
  return findings.take();
}

std::vector<std::string> lint_preset(std::string_view id, const ReferenceKind& kind) {
  return lint(preset_values(id, kind), kind, fmt::format("{}/{}.yaml", kind.folder, id));
}

}  // namespace depthcost

// Rows by operation, columns by type and shape.
#include "tests/microbench/results/measured_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "microbench/results/case_name.hpp"

namespace depthcost::bench {
namespace {

constexpr double kLargestBatch = 512;

bool is_batch(const CaseName& name) { return name.number("T", 0) <= kLargestBatch; }

/// A name has a number of blocks only if it is not the usual one.
bool has_usual_blocks(const CaseName& name) { return !name.numbers.contains("n"); }

/// Bandwidths and fractions of one operation and type from memory, over all shapes without repeated
/// measurements: "18.3 to 18.9 GB/s, 93 to 95 %".
std::string bandwidths(const Results& results, std::string_view backend, std::string_view operation,
                       std::string_view type) {
  std::vector<double> gigabytes;
  std::vector<double> per_cent;
  for (const Measurement& kernel : results.kernels) {
    const CaseName name = parse_case_name(kernel.name);
    if (kernel.backend() != backend || name.operation != operation || name.type != type) continue;
    if (is_batch(name) || name.temperature != "cold" || name.is_again) continue;
    gigabytes.push_back(kernel.bandwidth() / 1e9);
    if (const auto fraction = fraction_of_ceiling(results, kernel))
      per_cent.push_back(100 * *fraction);
  }
  if (gigabytes.empty()) return "";
  const auto range = [](std::vector<double> values, int decimals) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const std::string first = fmt::format("{:.{}f}", *low, decimals);
    const std::string last = fmt::format("{:.{}f}", *high, decimals);
    return first == last ? first : first + " to " + last;
  };
  std::string text = range(gigabytes, 1) + " GB/s";
  if (!per_cent.empty()) text += fmt::format(", {} %", range(per_cent, 0));
  return text;
}

/// 0.781, 58.2, 4391: three digits, or all before the point.
std::string three_digits(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// The time of a small batch; "-" if it was not measured.
std::string batch_time(const Results& results, std::string_view backend, std::string_view operation,
                       double tokens, std::string_view temperature) {
  for (const Measurement& kernel : results.kernels) {
    const CaseName name = parse_case_name(kernel.name);
    if (kernel.backend() == backend && name.operation == operation &&
        name.number("T", 0) == tokens && name.temperature == temperature &&
        name.launch != "graph_pdl" && !name.is_again && has_usual_blocks(name) && kernel.is_valid())
      return three_digits(kernel.median() * 1e6);
  }
  return "-";
}

/// Cold and hot: "3.1 / 2.4 us".
std::string batch_times(const Results& results, std::string_view backend,
                        std::string_view operation, double tokens) {
  const std::string cold = batch_time(results, backend, operation, tokens, "cold");
  const std::string hot = batch_time(results, backend, operation, tokens, "hot");
  return cold == "-" && hot == "-" ? "" : fmt::format("{} / {} us", cold, hot);
}

std::vector<std::string_view> operations_of(const Results& results, std::string_view backend) {
  std::vector<std::string_view> operations;
  for (const Measurement& kernel : results.kernels) {
    const std::string_view operation = parse_case_name(kernel.name).operation;
    if (kernel.backend() == backend &&
        std::find(operations.begin(), operations.end(), operation) == operations.end())
      operations.push_back(operation);
  }
  std::sort(operations.begin(), operations.end());
  return operations;
}

}  // namespace

std::string measured_table(const Results& results, std::string_view backend,
                           std::string_view kernels_hash) {
  const std::string& measured =
      backend == "cuda" ? results.cuda_kernels_hash : results.kernels_hash;
  std::string text =
      fmt::format("{}{}; kernels {}{}.\n\n", results.machine,
                  results.device.empty() ? "" : ", " + results.device, measured,
                  measured == kernels_hash ? "" : ", **stale: the sources have changed since**");
  text +=
      "| operation | bf16 from memory, of ceiling | f32 from memory, of ceiling | T = 1, cold / hot "
      "| T = 64, cold / hot |\n| --- | --- | --- | --- | --- |\n";
  for (const std::string_view operation : operations_of(results, backend))
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", operation,
                        bandwidths(results, backend, operation, "bf16"),
                        bandwidths(results, backend, operation, "f32"),
                        batch_times(results, backend, operation, 1),
                        batch_times(results, backend, operation, 64));
  return text;
}

}  // namespace depthcost::bench

// Rows by operation, columns by type and shape.
#include "tests/microbench/results/measured_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "microbench/results/case_name.hpp"
#include "microbench/results/spread.hpp"

namespace depthcost::bench {
namespace {

constexpr double kLargestBatch = 512;

bool is_batch(const CaseName& name) { return name.number("T", 0) <= kLargestBatch; }

/// A name has a number of blocks only if it is not the usual one.
bool has_usual_blocks(const CaseName& name) { return !name.numbers.contains("n"); }

/// A cell whose numbers are less certain is marked.
constexpr double kUnsteady = 0.10;

/// "31 to 45", or "31" where both ends read so.
std::string range_text(const std::vector<double>& values, int decimals) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string first = fmt::format("{:.{}f}", *low, decimals);
  const std::string last = fmt::format("{:.{}f}", *high, decimals);
  return first == last ? first : first + " to " + last;
}

/// What one cell shows of its shapes.
struct CellNumbers {
  std::vector<double> gigabytes;
  std::vector<double> per_cent_of_ceiling;
  std::vector<double> per_cent_of_core;
  std::vector<double> per_cent_of_loop;
  double widest = 0;  // half interval of a share of the ceiling, in points
  bool is_unsteady = false;
};

void add_ceiling(const Results& results, const Measurement& kernel, CellNumbers& cell) {
  const auto fraction = fraction_of_ceiling(results, kernel);
  if (!fraction) return;
  cell.per_cent_of_ceiling.push_back(100 * *fraction);
  if (kernel.of_ceiling.size() < 2) return;
  const Spread spread = spread_of(kernel.of_ceiling);
  cell.widest = std::max(cell.widest, 50 * (spread.high - spread.low));
  cell.is_unsteady = cell.is_unsteady || spread.relative() > kUnsteady;
}

/// The seconds that the kernel's own loop takes for a token whose rows lie in caches: the least of
/// the hot batches, since many tokens share what all need, and few stay in L2. 0 where none was
/// measured.
double loop_seconds(const Results& results, const CaseName& kernel) {
  double least = 0;
  for (const Measurement& other : results.kernels) {
    const CaseName name = parse_case_name(other.name);
    if (name.backend != kernel.backend || name.operation != kernel.operation ||
        name.type != kernel.type || name.number("d", 0) != kernel.number("d", 0) ||
        name.temperature != "hot" || name.launch == "graph_pdl" || !has_usual_blocks(name) ||
        !other.is_valid())
      continue;
    const double seconds = other.median() / name.number("T", 1);
    if (least == 0 || seconds < least) least = seconds;
  }
  return least;
}

/// Bandwidths and fractions of one operation and type from memory, over all shapes without repeated
/// measurements: "18.3 to 18.9 GB/s, 93 to 95 % ± 1; core 40 %; loop 52 %".
std::string bandwidths(const Results& results, std::string_view backend, std::string_view operation,
                       std::string_view type, const CoreSeconds& core_seconds) {
  CellNumbers cell;
  for (const Measurement& kernel : results.kernels) {
    const CaseName name = parse_case_name(kernel.name);
    if (kernel.backend() != backend || name.operation != operation || name.type != type) continue;
    if (is_batch(name) || name.temperature != "cold" || name.is_again) continue;
    cell.gigabytes.push_back(kernel.bandwidth() / 1e9);
    add_ceiling(results, kernel, cell);
    if (const auto core = core_seconds.find(kernel.name); core != core_seconds.end())
      cell.per_cent_of_core.push_back(100 * core->second / kernel.median());
    // On a GPU a hot batch of few tokens is mostly its launch.
    const bool has_loop = name.backend == "cpu" && has_usual_blocks(name);
    const double loop = has_loop ? loop_seconds(results, name) : 0;
    if (loop > 0)
      cell.per_cent_of_loop.push_back(100 * loop * name.number("T", 0) / kernel.median());
  }
  if (cell.gigabytes.empty()) return "";
  std::string text = range_text(cell.gigabytes, 1) + " GB/s";
  if (!cell.per_cent_of_ceiling.empty())
    text += fmt::format(", {} %", range_text(cell.per_cent_of_ceiling, 0));
  if (cell.widest > 0) text += fmt::format(" ± {:.0f}", std::ceil(cell.widest));
  if (cell.is_unsteady) text += ", unsteady";
  if (!cell.per_cent_of_core.empty())
    text += fmt::format("; core {} %", range_text(cell.per_cent_of_core, 0));
  if (!cell.per_cent_of_loop.empty())
    text += fmt::format("; loop {} %", range_text(cell.per_cent_of_loop, 0));
  return text;
}

/// 0.781, 58.2, 4391: three digits, or all before the point.
std::string three_digits(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

/// The small batch of that temperature; null if it was not measured.
const Measurement* batch(const Results& results, std::string_view backend,
                         std::string_view operation, double tokens, std::string_view temperature) {
  for (const Measurement& kernel : results.kernels) {
    const CaseName name = parse_case_name(kernel.name);
    if (kernel.backend() == backend && name.operation == operation &&
        name.number("T", 0) == tokens && name.temperature == temperature &&
        name.launch != "graph_pdl" && !name.is_again && has_usual_blocks(name) && kernel.is_valid())
      return &kernel;
  }
  return nullptr;
}

/// Cold and hot: "3.1 / 2.4 us ± 2 %"; "-" for what was not measured.
std::string batch_times(const Results& results, std::string_view backend,
                        std::string_view operation, double tokens) {
  std::string text;
  double widest = 0;
  bool is_measured = false;
  for (const std::string_view temperature : {"cold", "hot"}) {
    const Measurement* kernel = batch(results, backend, operation, tokens, temperature);
    text += text.empty() ? "" : " / ";
    text += kernel == nullptr ? "-" : three_digits(kernel->median() * 1e6);
    if (kernel == nullptr) continue;
    is_measured = true;
    widest = std::max(widest, spread_of(kernel->seconds).relative());
  }
  if (!is_measured) return "";
  text += " us";
  if (widest > 0) text += fmt::format(" ± {:.0f} %", std::ceil(100 * widest));
  return text + (widest > kUnsteady ? ", unsteady" : "");
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
                           std::string_view kernels_hash, const CoreSeconds& core_seconds) {
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
                        bandwidths(results, backend, operation, "bf16", core_seconds),
                        bandwidths(results, backend, operation, "f32", core_seconds),
                        batch_times(results, backend, operation, 1),
                        batch_times(results, backend, operation, 64));
  return text;
}

}  // namespace depthcost::bench

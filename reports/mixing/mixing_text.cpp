// Depth mixing matrices for a terminal, as Markdown and as CSV.
#include <fmt/format.h>

#include "reports/formats/csv_cell.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/mixing/mixing_report.hpp"

namespace depthcost {
namespace {

// A wider table does not fit into a terminal. [ours]
constexpr Count kMostPrintedLayers = 12;

std::string title_of(const MixingReport& report) {
  return fmt::format("{}: depth mixing matrices of {}", report.title,
                     format_counted(report.num_layers, "layer", "layers"));
}

std::string pattern_title(const MixedScheme& mixed, const SymbolicPattern& pattern) {
  if (pattern.shape.num_layers == mixed.shape.num_layers) return "in symbols";
  const std::string parameters = parameters_text(*mixed.scheme, pattern.shape);
  return fmt::format("in symbols at L = {}{}{}, as in Fig. 9", pattern.shape.num_layers,
                     parameters.empty() ? "" : ", ", parameters);
}

std::string indented(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    result += "  " + text.substr(at, end - at);
    at = end;
  }
  return result;
}

std::string section(const MixedScheme& mixed, Count seed) {
  std::string text = std::string(mixed.scheme->name) + "\n";
  for (const std::string& line : mixing_trace(mixed, seed)) text += "  " + line + "\n";
  const SymbolicPattern pattern = symbolic_pattern(mixed);
  text += fmt::format("  M {}:\n{}", pattern_title(mixed, pattern),
                      indented(plain_text(pattern.entries)));
  if (mixed.shape.num_layers <= kMostPrintedLayers)
    text += "  M in numbers:\n" + indented(plain_text(matrix_table(mixed)));
  return text;
}

constexpr std::string_view kMagnitudesNote =
    "Root mean square over tokens and features, in random networks of reference kernels. prenorm: "
    "independent random layers; prenorm_aligned: half of each output along the layer's input; "
    "unnormalised: independent layers without a norm.";

constexpr std::string_view kRanksNote =
    "Semiseparable rank: the largest rank of a sub-matrix on or below the diagonal, pivots below "
    "1e-9 of the largest being zero; generic: that of almost all weights. G1 to G4: REFERENCES.md, "
    "\"mixing\".";

std::string csv_line(std::string_view scheme, std::string_view quantity, Count layer,
                     std::string_view source, double value) {
  return fmt::format("{},{},{},{},{}\n", scheme, quantity, layer, source, number_text(value));
}

}  // namespace

std::string mixing_text(const MixingReport& report) {
  std::string text =
      fmt::format("{}\n\n{}\n{}\n", title_of(report), plain_text(rank_table(report)), kRanksNote);
  for (const MixedScheme& mixed : report.schemes) text += "\n" + section(mixed, report.seed);
  if (!report.magnitudes.empty())
    text += fmt::format("\nmagnitudes\n{}\n{}\n", indented(plain_text(magnitude_table(report))),
                        kMagnitudesNote);
  return text;
}

std::string mixing_markdown(const MixingReport& report, std::span<const PlotFile> plots,
                            const std::string& missing_plots, const std::string& program_version) {
  std::string text =
      fmt::format("# {}\n\n{}\n{}\n\n", title_of(report), markdown(rank_table(report)), kRanksNote);
  for (const PlotFile& plot : plots)
    text += fmt::format("![{}]({})\n\n", plot.caption, plot.file_name);
  if (!missing_plots.empty()) text += fmt::format("*{}*\n\n", missing_plots);
  for (const MixedScheme& mixed : report.schemes)
    text +=
        fmt::format("## {}\n\n```text\n{}```\n\n", mixed.scheme->name, section(mixed, report.seed));
  if (!report.magnitudes.empty())
    text += fmt::format("## Magnitudes\n\n{}\n{}\n\n", markdown(magnitude_table(report)),
                        kMagnitudesNote);
  return text + fmt::format("depthcost {}\n", program_version);
}

std::string mixing_csv(const MixingReport& report) {
  std::string text = "scheme,quantity,layer,source,value\n";
  for (const MixedScheme& mixed : report.schemes) {
    const std::string_view scheme = mixed.scheme->name;
    text += csv_line(scheme, "semiseparable_rank", mixed.rank.cut, "", as_double(mixed.rank.rank));
    for (Count l = 1; l <= mixed.shape.num_layers; ++l)
      for (Count i = 0; i < l; ++i)
        text += csv_line(scheme, "mixing", l, std::to_string(i), mixed.matrix(l, i));
    if (const WeightRows* attention = attention_of_file(mixed))
      for (std::size_t l = 0; l < attention->size(); ++l)
        for (std::size_t i = 0; i < (*attention)[l].size(); ++i)
          text += csv_line(scheme, "attention", static_cast<Count>(l + 1),
                           std::to_string(attention_source(mixed, l, i)), (*attention)[l][i]);
  }
  for (const MagnitudeSeries& series : report.magnitudes)
    for (std::size_t l = 0; l < series.magnitudes.size(); ++l)
      text += csv_line(series.scheme, series.layers + "_" + series.quantity,
                       static_cast<Count>(l + 1), "", series.magnitudes[l]);
  return text;
}

}  // namespace depthcost

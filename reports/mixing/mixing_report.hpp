// Depth mixing matrices as text: table, JSON, CSV, Markdown and plots.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/mixing/growth_law.hpp"
#include "model/mixing/mixed_scheme.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

struct MixingReport {
  std::string title;
  Count num_layers = 0;
  Count seed = 0;  // of random weights
  std::vector<MixedScheme> schemes;
  std::vector<MagnitudeSeries> magnitudes;
};

/// "window 4", "dilation 2, period 5"; empty without parameters.
std::string parameters_text(const MixingScheme& scheme, const MixingShape& shape);

/// "holds", "holds here" if not at every shape, "does not hold", or "no claim".
std::string verdict_text(const MixedScheme& mixed);

/// One line for each scheme: its rank beside the paper's claim.
Table rank_table(const MixingReport& report);

/// M by its symbols: at full size up to eight layers, else four, as in Fig. 9.
struct SymbolicPattern {
  MixingShape shape;
  Table entries;
};
SymbolicPattern symbolic_pattern(const MixedScheme& mixed);

/// M_{i->l} with three decimals.
Table matrix_table(const MixedScheme& mixed);

/// Magnitudes at five depths, and the law that they follow.
Table magnitude_table(const MixingReport& report);

/// What stands behind a scheme's numbers: equation, source, function, weights, rank, claim.
std::vector<std::string> mixing_trace(const MixedScheme& mixed, Count seed);

/// Which half of a decoder layer: odd layers are attention, even ones MLP.
enum class Sublayer { attention, mlp };

/// Weights of a file's attention over depth, where there are some.
const WeightRows* attention_of_file(const MixedScheme& mixed);

/// What a weight of its row `row`, layer row + 1, belongs to: a block or a layer's output.
Count attention_source(const MixedScheme& mixed, std::size_t row, std::size_t position);

std::string mixing_text(const MixingReport& report);
std::string mixing_json(const MixingReport& report, const std::string& program_version);
/// One number a line: scheme,quantity,layer,source,value.
std::string mixing_csv(const MixingReport& report);
std::string mixing_markdown(const MixingReport& report, std::span<const PlotFile> plots,
                            const std::string& missing_plots, const std::string& program_version);

/// A heat map of each matrix, two of a file's attention (Fig. 8), and magnitudes (Fig. 5b).
std::vector<Plot> mixing_plots(const MixingReport& report);

}  // namespace depthcost

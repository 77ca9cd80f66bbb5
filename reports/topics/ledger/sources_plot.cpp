// Sources of each layer, as stairs.
#include <fmt/format.h>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "reports/section/scheme_style.hpp"
#include "reports/topics/ledger/ledger_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

/// A stair as its steps: each layer from l - 1/2 to l + 1/2, equal neighbours merged.
DataBlock stair(std::string_view name, const ResidualPath& path) {
  DataBlock block{name};
  Count previous = -1;
  Count last_layer = 0;
  for (const PlacedOperation& placed : all_operations(path, Schedule::single_pass)) {
    if (placed.layer == 0) continue;
    last_layer = placed.layer;
    if (placed.operation.sources == previous) continue;
    previous = placed.operation.sources;
    block.push_back({static_cast<double>(placed.layer), static_cast<double>(previous)});
  }
  block.push_back({static_cast<double>(last_layer + 1), static_cast<double>(previous)});
  return block;
}

/// Where blocks start and what they are called; nothing for Full, or where they would crowd.
std::string block_marks(const Scheme& scheme) {
  constexpr Count kMostMarks = 24;
  const Partition* const cut = attnres_blocks(scheme);
  if (cut == nullptr || cut->num_blocks > kMostMarks) return {};
  const Partition& blocks = *cut;
  std::string marks;
  for (Count n = 1; n <= blocks.num_blocks; ++n) {
    const auto first = static_cast<double>(position(blocks, n, 1).layer);
    const auto size = static_cast<double>(blocks.size(n));
    if (n > 1) marks += vertical_line(first - 0.5);
    marks += fmt::format(
        "set label '{}{}' at {}, graph 0.035 center front textcolor {} font 'sans-serif,12'\n",
        n == 1 && blocks.num_blocks <= 9 ? "block " : "", n, number_text(first + (size - 1) / 2),
        rgb(Color::dark_grey));
  }
  return marks;
}

/// Full AttnRes of the same study, where it would not dwarf the scheme.
const ResidualPath* full_beside(const Evaluation& evaluation) {
  constexpr Count kMostContrast = 4;
  for (const ResidualPath& path : evaluation.paths)
    if (&path != &evaluation.paths.front() && path.scheme.rule == &schemes::kFullAttnRes &&
        path.num_layers <= kMostContrast * evaluation.aggregation.max_sources)
      return &path;
  return nullptr;
}

std::string_view sources_text(const Scheme& scheme) {
  return scheme.rule == &schemes::kFullAttnRes
             ? "sources: the embedding and the outputs of all layers before"
             : "sources: the embedding, completed blocks, the partial sum";
}

Titles sources_titles(const Evaluation& evaluation, const ResidualPath* full) {
  const Scheme& scheme = evaluation.paths.front().scheme;
  const Color color = color_of(scheme);
  Titles titles{
      .title = "How many sources each layer of " + model_name(evaluation.study) + " attends to",
      .y = std::string{sources_text(scheme)},
      .x = "layer (attention and MLP counted apart)",
      .legend = {{Mark::line, color, label_of(scheme)},
                 {Mark::dot, color, "output aggregation behind the last layer"}}};
  if (full != nullptr)
    titles.legend.push_back({Mark::line, color_of(full->scheme), label_of(full->scheme)});
  return titles;
}

std::string sources_script(const Evaluation& evaluation) {
  const ResidualPath& path = evaluation.paths.front();
  const auto num_layers = static_cast<double>(path.num_layers);
  const auto output = static_cast<double>(evaluation.aggregation.output_sources);
  const ResidualPath* full = full_beside(evaluation);
  const Count highest = full != nullptr ? full->num_layers : evaluation.aggregation.max_sources;
  const std::string color = rgb(color_of(path.scheme));
  DataBlock behind_last{"output"};
  behind_last.push_back({num_layers + 1, output});
  std::string script = opening(sources_titles(evaluation, full), {.left = 0.06, .right = 0.93}) +
                       stair("sources", path).text() + behind_last.text();
  std::vector<std::string> elements{
      "$sources using ($1 - 0.5):2 with fillsteps fillstyle solid 0.18 noborder linecolor " + color,
      "$sources using ($1 - 0.5):2 with steps linewidth 2 linecolor " + color,
      "$output using 1:2 with points pointtype 7 pointsize 0.7 linecolor " + color};
  if (full != nullptr) {
    script += stair("full", *full).text();
    elements.push_back("$full using ($1 - 0.5):2 with steps linewidth 1 linecolor " +
                       rgb(color_of(full->scheme)));
  }
  script += fmt::format("set xrange [0.5:{}]\n", number_text(num_layers + 1.5));
  script += count_y_axis(highest);
  script += block_marks(path.scheme);
  script += text_at(num_layers + 1, output, number_text(output), "left offset character 0.8,0");
  return script + plot_command(elements);
}

}  // namespace

std::optional<Plot> sources_plot(const Evaluation& evaluation) {
  if (evaluation.aggregation.max_sources == 0) return std::nullopt;
  const std::string caption =
      fmt::format("Sources per layer of {} under {}, from 1 at the first layer to {} at the output",
                  model_name(evaluation.study), label_of(evaluation.study.path.scheme),
                  evaluation.aggregation.output_sources);
  return Plot{"sources.svg", caption, sources_script(evaluation)};
}

}  // namespace depthcost

// Payload of each transition, as bars.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/section/scheme_style.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

/// Columns: transition, naive, cached.
DataBlock payload_data(const SchemePayload& payload) {
  DataBlock block{"payload"};
  const std::vector<Transition>& naive = payload.naive.transitions;
  for (std::size_t i = 0; i < naive.size(); ++i)
    block.push_back({static_cast<double>(i), static_cast<double>(naive[i].vectors),
                     static_cast<double>(payload.cached.transitions[i].vectors)});
  return block;
}

/// Whether the scheme sends as much at every transition.
bool is_constant(const SchemePayload& payload) {
  const std::vector<Transition>& all = payload.naive.transitions;
  return std::all_of(all.begin(), all.end(),
                     [&](const Transition& each) { return each.vectors == all.front().vectors; });
}

/// The schemes beside the first that always send the same; of those that send as much, one.
std::vector<const SchemePayload*> constant_payloads(const Evaluation& evaluation) {
  std::vector<const SchemePayload*> all;
  const std::vector<SchemePayload>& by_scheme = evaluation.pipeline->by_scheme;
  for (std::size_t i = 1; i < by_scheme.size(); ++i) {
    const SchemePayload& payload = by_scheme[i];
    if (is_constant(payload) && std::none_of(all.begin(), all.end(), [&](const auto* known) {
          return known->naive.peak == payload.naive.peak;
        }))
      all.push_back(&payload);
  }
  return all;
}

std::string payload_command(const Evaluation& evaluation) {
  const Scheme& own = evaluation.paths.front().scheme;
  std::vector<std::string> elements{
      "$payload using ($1 - 0.19):2 with boxes fillstyle solid noborder linecolor " +
          rgb(Color::grey),
      "$payload using ($1 + 0.19):3 with boxes fillstyle solid noborder linecolor " +
          rgb(color_of(own))};
  for (const SchemePayload* constant : constant_payloads(evaluation))
    elements.push_back(fmt::format("{} with lines linewidth 1.5 dashtype 2 linecolor {}",
                                   constant->naive.peak, rgb(color_of(constant->path->scheme))));
  return plot_command(elements);
}

std::vector<LegendEntry> payload_legend(const Evaluation& evaluation) {
  const SchemePayload& own = evaluation.pipeline->by_scheme.front();
  std::vector<LegendEntry> legend{
      {Mark::box, Color::grey, fmt::format("naive, {} d in all", own.naive.total)},
      {Mark::box, color_of(own.path->scheme),
       fmt::format("cached, {} d in all", own.cached.total)}};
  for (const SchemePayload* constant : constant_payloads(evaluation))
    legend.push_back(
        {Mark::dashes, color_of(constant->path->scheme),
         fmt::format("{}, {} d each", label_of(constant->path->scheme), constant->naive.peak)});
  return legend;
}

/// Values above the bars, where there is room.
std::string payload_labels(const SchemePayload& payload) {
  constexpr std::size_t kMostLabelled = 12;
  const std::size_t num_transitions = payload.naive.transitions.size();
  std::string labels;
  if (num_transitions > kMostLabelled) return labels;
  for (std::size_t i = 0; i < num_transitions; ++i)
    for (const auto& [traffic, offset] :
         {std::pair{&payload.naive, -0.19}, std::pair{&payload.cached, 0.19}}) {
      const auto vectors = static_cast<double>(traffic->transitions[i].vectors);
      labels += text_at(static_cast<double>(i) + offset, vectors, number_text(vectors),
                        "center front offset character 0,0.6 font 'sans-serif,11'");
    }
  return labels;
}

}  // namespace

std::optional<Plot> payload_plot(const Evaluation& evaluation) {
  if (!evaluation.pipeline || evaluation.pipeline->events.empty()) return std::nullopt;
  const SchemePayload& own = evaluation.pipeline->by_scheme.front();
  if (own.naive.peak == 0) return std::nullopt;
  const std::string model = model_name(evaluation.study);
  const std::string scheme = label_of(own.path->scheme);
  const std::string layout = layout_text(*evaluation.study.pipeline);
  const std::size_t num_transitions = own.naive.transitions.size();
  std::string script =
      opening({.title = "What crosses the pipeline boundaries of " + model,
               .y = fmt::format("d-vectors per token, forward; {} on {}", scheme, layout),
               .x = "transition i, from chunk i to chunk i + 1",
               .legend = payload_legend(evaluation)},
              {});
  script += fmt::format("set xrange [-0.6:{}]\nset boxwidth 0.36\n",
                        number_text(static_cast<double>(num_transitions) - 0.4));
  Count most = own.naive.peak;
  for (const SchemePayload* constant : constant_payloads(evaluation))
    most = std::max(most, constant->naive.peak);
  script += count_y_axis(most);
  script += num_transitions <= 20 ? "set xtics 1 scale 0\nset grid noxtics ytics\n" : "";
  script += payload_data(own).text() + payload_labels(own) + payload_command(evaluation);
  const std::string caption = fmt::format(
      "Payload of each pipeline transition of {} under {} on {}: naive {} d-vectors in all and at "
      "most {}, cached {} and at most {}",
      model, scheme, layout, own.naive.total, own.naive.peak, own.cached.total, own.cached.peak);
  return Plot{"payload.svg", caption, script};
}

}  // namespace depthcost

// Payload of each transition, as bars.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/step/scheme_payload.hpp"
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

/// What sends as many d-vectors at every transition.
struct ConstantPayload {
  Scheme scheme;
  Count vectors;
};

/// None where a transition sends more than another.
std::optional<ConstantPayload> constant_payload(const Scheme& scheme,
                                                const PipelineTraffic& traffic) {
  const std::vector<Transition>& all = traffic.transitions;
  const bool same = std::all_of(all.begin(), all.end(), [&](const Transition& each) {
    return each.vectors == all.front().vectors;
  });
  if (!same) return std::nullopt;
  return ConstantPayload{scheme, all.front().vectors};
}

/// The standard residual, compared or not, and the schemes beside the first that always send the
/// same. Of schemes that send as much as each other, one.
std::vector<ConstantPayload> constant_payloads(const Evaluation& evaluation) {
  const std::vector<SchemePayload>& by_scheme = evaluation.pipeline->by_scheme;
  const ResidualPath standard{Scheme{}, evaluation.study.model.num_layers};
  std::vector<std::optional<ConstantPayload>> payloads{constant_payload(
      standard.scheme, scheme_payload(*evaluation.study.pipeline, standard, Cache::none))};
  for (std::size_t i = 1; i < by_scheme.size(); ++i)
    payloads.push_back(constant_payload(by_scheme[i].path->scheme, by_scheme[i].naive));
  std::vector<ConstantPayload> all;
  for (const std::optional<ConstantPayload>& payload : payloads)
    if (payload && std::none_of(all.begin(), all.end(), [&](const ConstantPayload& known) {
          return known.vectors == payload->vectors;
        }))
      all.push_back(*payload);
  return all;
}

std::string payload_command(const Evaluation& evaluation) {
  const Scheme& own = evaluation.paths.front().scheme;
  std::vector<std::string> elements{
      "$payload using ($1 - 0.19):2 with boxes fillstyle solid noborder linecolor " +
          rgb(Color::grey),
      "$payload using ($1 + 0.19):3 with boxes fillstyle solid noborder linecolor " +
          rgb(color_of(own))};
  for (const ConstantPayload& constant : constant_payloads(evaluation))
    elements.push_back(fmt::format("{} with lines linewidth 1.5 dashtype 2 linecolor {}",
                                   constant.vectors, rgb(color_of(constant.scheme))));
  return plot_command(elements);
}

std::vector<LegendEntry> payload_legend(const Evaluation& evaluation) {
  const SchemePayload& own = evaluation.pipeline->by_scheme.front();
  std::vector<LegendEntry> legend{
      {Mark::box, Color::grey, fmt::format("naive, {} d in all", own.naive.total)},
      {Mark::box, color_of(own.path->scheme),
       fmt::format("cached, {} d in all", own.cached.total)}};
  for (const ConstantPayload& constant : constant_payloads(evaluation))
    legend.push_back({Mark::dashes, color_of(constant.scheme),
                      fmt::format("{}, {} d each", label_of(constant.scheme), constant.vectors)});
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
  for (const ConstantPayload& constant : constant_payloads(evaluation))
    most = std::max(most, constant.vectors);
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

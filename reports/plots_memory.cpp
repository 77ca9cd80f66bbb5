// What is sent between pipeline stages, and what is held during prefill.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "reports/plots.hpp"
#include "reports/plots_style.hpp"

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

/// What always sends the same: the standard residual, and mHC where it is compared.
struct ConstantPayload {
  Scheme scheme;
  Count vectors;
};

std::vector<ConstantPayload> constant_payloads(const Evaluation& evaluation) {
  std::vector<ConstantPayload> all{{Scheme{schemes::kStandard}, standard_transition()}};
  for (const ResidualPath& path : evaluation.paths)
    if (path.scheme.rule == &schemes::kMhc)
      all.push_back({path.scheme, mhc_transition(path.scheme.parameters.num_streams)});
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

std::string layout_text(const PipelineLayout& layout) {
  if (layout.num_virtual_stages == 1) return fmt::format("{} stages", layout.num_stages);
  return fmt::format("{} stages with {} virtual stages each", layout.num_stages,
                     layout.num_virtual_stages);
}

/// One way to hold the bank.
struct BankLine {
  std::string name;  // of its data block
  std::string title;
  Color color;
  Count shards;
  std::optional<Count> chunk;
};

/// As the scenario has it, and what it would be with less effort.
std::vector<BankLine> bank_lines(const Prefill& prefill) {
  const Count shards = prefill.sequence_shards;
  std::vector<BankLine> lines{{"whole", "whole sequence", Color::vermilion, 1, {}}};
  const std::string sharded = fmt::format("{} shards", format_count(shards));
  if (shards > 1) lines.push_back({"sharded", sharded, Color::orange, shards, {}});
  if (prefill.chunk)
    lines.push_back({"chunked",
                     fmt::format("{}chunks of {} tokens", shards > 1 ? sharded + ", " : "",
                                 format_count(*prefill.chunk)),
                     Color::blue, shards, prefill.chunk});
  return lines;
}

double bank_gibibytes(const Evaluation& evaluation, const BankLine& line, Count tokens) {
  Study study = evaluation.study;
  study.prefill->tokens = tokens;
  study.prefill->sequence_shards = line.shards;
  study.prefill->chunk = line.chunk;
  return in_unit(prefill_memory(study, study.path).bank_with_embedding.value,
                 UnitFamily::binary_bytes, "GiB");
}

/// Powers of two around the scenario's own length, which is among them.
std::vector<Count> lengths_around(Count tokens) {
  constexpr Count kShortest = 4096;
  constexpr Count kLongest = 1024 * 1024;
  std::vector<Count> lengths =
      powers_of_two(std::min(kShortest, tokens), std::max(kLongest, tokens));
  if (!std::binary_search(lengths.begin(), lengths.end(), tokens))
    lengths.insert(std::lower_bound(lengths.begin(), lengths.end(), tokens), tokens);
  return lengths;
}

/// The device's memory as a line, if it is near the data.
std::string capacity_marks(const Evaluation& evaluation, double highest) {
  const auto& machine = evaluation.study.machine;
  if (!machine || !machine->memory_capacity) return {};
  const double capacity = in_unit(machine->memory_capacity->value, UnitFamily::binary_bytes, "GiB");
  if (capacity > 2 * highest) return {};
  return fmt::format(
             "set arrow from graph 0, first {0} to graph 1, first {0} nohead back linewidth 1.5 "
             "dashtype 2 linecolor {1}\n",
             number_text(capacity), rgb(Color::black)) +
         fmt::format("set label {} at graph 0.01, first {} left offset character 0,0.6\n",
                     gnuplot_text("memory of " + plain_text(machine->name, 30)),
                     number_text(capacity));
}

/// Where the scenario itself stands. The lines rise, so there is room above to the left and below
/// to the right.
std::string scenario_marks(const Evaluation& evaluation, double gibibytes) {
  constexpr double kMiddle = 32 * 1024;
  const auto tokens = static_cast<double>(evaluation.study.prefill->tokens);
  const Bytes bank = evaluation.prefill.front().bank_with_embedding;
  return vertical_line(tokens) +
         text_at(tokens, gibibytes, "scenario: " + format_bytes(bank, Prefix::binary),
                 tokens < kMiddle ? "left front offset character 0.8,-0.7"
                                  : "right front offset character -0.8,0.7");
}

std::string bank_script(const Evaluation& evaluation, Titles titles) {
  const Prefill& prefill = *evaluation.study.prefill;
  const std::vector<BankLine> lines = bank_lines(prefill);
  for (const BankLine& line : lines) titles.legend.push_back({Mark::line, line.color, line.title});
  const std::vector<Count> lengths = lengths_around(prefill.tokens);
  const double highest = bank_gibibytes(evaluation, lines.front(), lengths.back());
  const double lowest = bank_gibibytes(evaluation, lines.back(), lengths.front());
  const double own = bank_gibibytes(evaluation, lines.back(), prefill.tokens);
  std::string script = opening(titles, {}) + binary_x_axis(lengths.front(), lengths.back());
  script += fmt::format("set logscale y 10\nset yrange [{}:{}]\n", number_text(lowest / 2),
                        number_text(4 * highest));
  script += capacity_marks(evaluation, highest) + scenario_marks(evaluation, own);
  std::vector<std::string> elements;
  for (const BankLine& line : lines) {
    DataBlock block{line.name};
    for (const Count tokens : lengths)
      block.push_back({static_cast<double>(tokens), bank_gibibytes(evaluation, line, tokens)});
    script += block.text();
    elements.push_back(fmt::format("{} using 1:2 with lines linewidth 2 linecolor {}", block.name(),
                                   rgb(line.color)));
  }
  DataBlock here{"scenario"};
  here.push_back({static_cast<double>(prefill.tokens), own});
  elements.push_back(here.name() + " using 1:2 with points pointtype 7 pointsize 0.8 linecolor " +
                     rgb(lines.back().color));
  return script + here.text() + plot_command(elements);
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
  script += count_y_axis(std::max(own.naive.peak, constant_payloads(evaluation).back().vectors));
  script += num_transitions <= 20 ? "set xtics 1 scale 0\nset grid noxtics ytics\n" : "";
  script += payload_data(own).text() + payload_labels(own) + payload_command(evaluation);
  const std::string caption = fmt::format(
      "Payload of each pipeline transition of {} under {} on {}: naive {} d-vectors in all and at "
      "most {}, cached {} and at most {}",
      model, scheme, layout, own.naive.total, own.naive.peak, own.cached.total, own.cached.peak);
  return Plot{"payload.svg", caption, script};
}

std::optional<Plot> bank_plot(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  if (!study.prefill || evaluation.aggregation.max_sources == 0) return std::nullopt;
  const std::string model = model_name(study);
  const std::string scheme = label_of(study.path.scheme);
  const std::string script =
      bank_script(evaluation, {.title = "The bank of " + model + " in one device\u2019s memory",
                               .y = "GiB during prefill, embedding included; " + scheme,
                               .x = "tokens in the sequence"});
  const std::string caption = fmt::format(
      "Bank of {} under {} against the length of the sequence; the scenario has {} tokens and "
      "holds "
      "{} on the fullest device",
      model, scheme, format_count(study.prefill->tokens),
      format_bytes(evaluation.prefill.front().bank_with_embedding, Prefix::binary));
  return Plot{"bank.svg", caption, script};
}

}  // namespace depthcost

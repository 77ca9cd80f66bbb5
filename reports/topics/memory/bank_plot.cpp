// The bank against the length of the sequence.
#include <fmt/format.h>

#include <algorithm>

#include "model/schemes/list.hpp"
#include "model/step/memory.hpp"
#include "reports/section/scheme_style.hpp"
#include "reports/topics/memory/prefill_section.hpp"

namespace depthcost {
namespace {

using namespace plotting;

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

double bank_gigabytes(const Evaluation& evaluation, const BankLine& line, Count tokens) {
  Study study = evaluation.study;
  study.prefill->tokens = tokens;
  study.prefill->sequence_shards = line.shards;
  study.prefill->chunk = line.chunk;
  return in_unit(prefill_memory(study, study.path).bank_with_embedding.value, UnitKind::bytes,
                 "GB");
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
  const double capacity = in_unit(machine->memory_capacity->value, UnitKind::bytes, "GB");
  if (capacity > 2 * highest) return {};
  return horizontal_line(capacity, "memory of " + cleaned_line(machine->name, 30), "left");
}

/// Where the scenario itself stands. The lines rise, so there is room above to the left and below
/// to the right.
std::string scenario_marks(const Evaluation& evaluation, double gigabytes) {
  constexpr double kMiddle = 32 * 1024;
  const auto tokens = static_cast<double>(evaluation.study.prefill->tokens);
  const Bytes bank = evaluation.prefill.front().bank_with_embedding;
  return vertical_line(tokens) + text_at(tokens, gigabytes, "scenario: " + format_bytes(bank),
                                         tokens < kMiddle
                                             ? "left front offset character 0.8,-0.7"
                                             : "right front offset character -0.8,0.7");
}

std::string bank_script(const Evaluation& evaluation, Titles titles) {
  const Prefill& prefill = *evaluation.study.prefill;
  const std::vector<BankLine> lines = bank_lines(prefill);
  for (const BankLine& line : lines) titles.legend.push_back({Mark::line, line.color, line.title});
  const std::vector<Count> lengths = lengths_around(prefill.tokens);
  const double highest = bank_gigabytes(evaluation, lines.front(), lengths.back());
  const double lowest = bank_gigabytes(evaluation, lines.back(), lengths.front());
  const double own = bank_gigabytes(evaluation, lines.back(), prefill.tokens);
  std::string script = opening(titles, {}) + binary_x_axis(lengths.front(), lengths.back());
  script += fmt::format("set logscale y 10\nset yrange [{}:{}]\n", number_text(lowest / 2),
                        number_text(4 * highest));
  script += capacity_marks(evaluation, highest) + scenario_marks(evaluation, own);
  std::vector<std::string> elements;
  for (const BankLine& line : lines) {
    DataBlock block{line.name};
    for (const Count tokens : lengths)
      block.push_back({static_cast<double>(tokens), bank_gigabytes(evaluation, line, tokens)});
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

std::optional<Plot> bank_plot(const Evaluation& evaluation) {
  const Study& study = evaluation.study;
  if (!study.prefill || evaluation.aggregation.max_sources == 0) return std::nullopt;
  const std::string model = model_name(study);
  const std::string scheme = label_of(study.path.scheme);
  const std::string script =
      bank_script(evaluation, {.title = "The bank of " + model + " in one device\u2019s memory",
                               .y = "GB during prefill, embedding included; " + scheme,
                               .x = "tokens in the sequence"});
  const std::string caption = fmt::format(
      "Bank of {} under {} against the length of the sequence; the scenario has {} tokens and "
      "holds "
      "{} on the fullest device",
      model, scheme, format_count(study.prefill->tokens),
      format_bytes(evaluation.prefill.front().bank_with_embedding));
  return Plot{"bank.svg", caption, script};
}

}  // namespace depthcost

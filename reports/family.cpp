// Rows of the family as text and as JSON.
#include "reports/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/format.hpp"
#include "reports/json_writer.hpp"

namespace depthcost {
namespace {

std::string class_text(const SchemeClass& kind) {
  return fmt::format("{}, {}", name(kind.state), name(kind.weights));
}

std::string unfused_text(const FamilyRow& row) {
  return row.unfused ? format_d(total_d(*row.unfused)) : std::string(kNothing);
}

std::string parameters_text(const FamilyRow& row) {
  if (!row.parameters) return std::string(kNothing);
  return format_count(static_cast<Count>(row.parameters->per_layer + 0.5));
}

/// "kv_size 7168": what is not written is d.
std::string parameter_text(const SchemeKey& key, const SchemeParameters& parameters) {
  const Count value = parameters.*key.member;
  return fmt::format("{} {}", key.name, value == 0 ? parameters.hidden_size : value);
}

bool any_is_timed(std::span<const FamilyRow> rows) {
  for (const FamilyRow& row : rows)
    if (row.time) return true;
  return false;
}

}  // namespace

Table family_table(std::span<const FamilyRow> rows, FamilyColumns columns) {
  const bool is_timed = any_is_timed(rows);
  const bool is_wide = columns == FamilyColumns::all;
  Table table{{{"scheme"},
               {"class"},
               {"unfused", Align::right},
               {"schedule"},
               {"d-vectors", Align::right},
               {"state", Align::right}},
              {}};
  if (is_wide) {
    table.columns.push_back({"parameters", Align::right});
    table.columns.push_back({"operations", Align::right});
  }
  if (is_timed) table.columns.push_back({"residual path", Align::right});
  for (const FamilyRow& row : rows) {
    if (!row.problem.empty()) continue;
    const std::string id(name(row.path.scheme));
    std::vector<std::string> cells{is_wide ? fmt::format("`{}`", id) : id,
                                   class_text(row.path.scheme.rule->kind),
                                   unfused_text(row),
                                   std::string(name(row.schedule)),
                                   format_d(total_d(row.traffic)),
                                   fmt::format("{} d", row.state)};
    if (is_wide) {
      cells.push_back(parameters_text(row));
      cells.push_back(format_flops(row.flops));
    }
    if (is_timed) cells.push_back(row.time ? format_seconds(*row.time) : std::string(kNothing));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string family_legend(const Study& study, std::span<const FamilyRow> rows,
                          FamilyColumns columns) {
  std::string text =
      "d-vectors per token and layer, reads and writes, as the mean over the layers: unfused as "
      "papers count, without the next norm (one that is part of the rule stays), and as the "
      "schedule beside it moves them, up to the next layer's normalised input. State: what is kept "
      "between two layers and handed over a pipeline boundary, at most. Fewest bytes a token come "
      "first, weights apart.";
  if (columns == FamilyColumns::all) text += " Parameters and operations are of a layer.";
  if (study.decode && study.machine)
    text +=
        fmt::format(" The residual path is that of decode/{}, its weights read by every device.",
                    largest_batch(*study.decode));
  return text + fmt::format(" With {}.", fmt::join(family_parameters(rows), ", "));
}

std::vector<std::string> family_parameters(std::span<const FamilyRow> rows) {
  std::vector<std::string> texts;
  std::set<std::string_view> seen;
  for (const FamilyRow& row : rows) {
    const Scheme& scheme = row.path.scheme;
    for (const SchemeKey& key : scheme.rule->keys)
      if (seen.insert(key.name).second) texts.push_back(parameter_text(key, scheme.parameters));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::string> family_problems(std::span<const FamilyRow> rows) {
  std::vector<std::string> problems;
  for (const FamilyRow& row : rows)
    if (!row.problem.empty())
      problems.push_back(fmt::format("no row: {} ({})", name(row.path.scheme), row.problem));
  return problems;
}

std::string family_json(const Study& study, std::span<const FamilyRow> rows,
                        std::string_view program_version) {
  JsonWriter json;
  json.object([&] {
    json.member("schema_version", Count{1});
    json.member("program_version", program_version);
    json.member("scenario", study.name);
    json.array("family", [&] {
      for (const FamilyRow& row : rows)
        json.object([&] {
          const SchemeRule& rule = *row.path.scheme.rule;
          json.member("scheme", name(row.path.scheme));
          json.member("state_kind", name(rule.kind.state));
          json.member("weight_kind", name(rule.kind.weights));
          json.member("update", rule.update);
          json.member("source", rule.source);
          json.text_or_null("problem", row.problem);
          json.object("with", [&] {
            // The schemes of Table 1 have their parameters among the values of the scenario.
            if (!rule.countings.empty()) return;
            for (const SchemeKey& key : rule.keys)
              json.member(key.name, row.path.scheme.parameters.*key.member);
          });
          const bool is_possible = row.problem.empty();
          const auto known = [&](double value) {
            return is_possible ? std::optional(value) : std::nullopt;
          };
          json.text_or_null("schedule", is_possible ? name(row.schedule) : "");
          const bool has_unfused = row.unfused.has_value();
          json.member("unfused_reads_d",
                      has_unfused ? std::optional(row.unfused->reads_d) : std::nullopt);
          json.member("unfused_writes_d",
                      has_unfused ? std::optional(row.unfused->writes_d) : std::nullopt);
          json.member("reads_d", known(row.traffic.reads_d));
          json.member("writes_d", known(row.traffic.writes_d));
          json.member("scalars", known(total_scalars(row.traffic)));
          json.member("bytes", known(row.bytes.value));
          json.member("state_d", known(static_cast<double>(row.state)));
          json.member("parameters_per_layer",
                      row.parameters ? std::optional(row.parameters->per_layer) : std::nullopt);
          json.member("flops_per_layer", known(row.flops.value));
          const auto end = [&](auto member) {
            return row.time ? std::optional((*row.time.*member).value) : std::nullopt;
          };
          json.member("residual_seconds", end(&Estimate<Seconds>::value));
          json.member("residual_low_seconds", end(&Estimate<Seconds>::low));
          json.member("residual_high_seconds", end(&Estimate<Seconds>::high));
        });
    });
  });
  return std::move(json).text();
}

}  // namespace depthcost

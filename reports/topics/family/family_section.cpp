// Members that a model can have are rows; why it cannot have the others is a line.
#include "reports/topics/family/family_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/ledger/path_operations.hpp"
#include "model/machine/catalogue.hpp"
#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"

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

/// The catalogue's row for an operation: that of the scheme's own ablation if there is one.
const CatalogueEntry* entry_of(const Scheme& scheme, OperationId id) {
  const std::string_view ablation = scheme.rule->ablation;
  const CatalogueEntry* own =
      ablation.empty() ? nullptr : find_entry(fmt::format("{}/{}", name(id), ablation));
  return own != nullptr ? own : find_entry(name(id));
}

std::vector<std::string> kernel_lines(const FamilyRow& row) {
  std::vector<std::string> lines;
  std::set<OperationId> seen;
  for (const auto& [operation, calls] : distinct_operations(row.path, row.schedule)) {
    if (!seen.insert(operation.id).second) continue;
    const CatalogueEntry* entry = entry_of(row.path.scheme, operation.id);
    lines.push_back(entry != nullptr ? fmt::format("{0}: kernels/README.md; bench_kernels "
                                                   "--benchmark_filter='/{0}/'",
                                                   entry->name)
                                     : fmt::format("{}: no kernel of ours, timed by its rows",
                                                   name(operation.id)));
  }
  return lines;
}

std::string reference_of(const SchemeRule& rule) {
  if (rule.reference.empty()) return "none: counted alone";
  return fmt::format("kernels/reference/{}", rule.reference);
}

std::string moved_text(const Traffic& traffic) {
  return fmt::format("{:.6g} r + {:.6g} w = {:.6g} d a token and layer", traffic.reads_d,
                     traffic.writes_d, total_d(traffic));
}

std::string backward_text(const BackwardLayer& layer) {
  return fmt::format("{:.6g} r + {:.6g} w = {:.6g} d a token and layer in {:.6g} {}",
                     layer.traffic.activation_reads_d + layer.traffic.gradient_reads_d,
                     layer.traffic.gradient_writes_d, total_d(layer.traffic), layer.kernels,
                     layer.kernels == 1 ? "kernel" : "kernels");
}

/// What made a schedule's count: kernels of ours, or nothing but the update.
std::string backward_source(const FamilyRow& row, Schedule schedule) {
  const auto gradients = row.path.scheme.rule->backward->gradients;
  if (gradients == nullptr) return "counted";
  const auto kernels = gradients(schedule, row.accumulation).kernels;
  return kernels.empty() ? "counted" : fmt::format("{}", fmt::join(kernels, ", "));
}

/// What it moves in words, and the count for the schedule of the row; for all of them, and for
/// others, where it has kernels.
std::vector<std::string> backward_lines(const FamilyRow& row) {
  const BackwardRule& backward = *row.path.scheme.rule->backward;
  std::vector<std::string> lines{fmt::format("backward moves {}", backward.moves)};
  if (backward.others.empty()) {
    lines.push_back("backward, counted: " + backward_text(row.backward));
    return lines;
  }
  for (const FamilyBackward& of : row.backward_by_schedule)
    lines.push_back(fmt::format("backward, {}: {} ({})", name(of.schedule), backward_text(of.layer),
                                backward_source(row, of.schedule)));
  const SchemeLayer first{row.path.scheme.parameters, 1, row.path.num_layers};
  for (const OtherBackwardCount& other : backward.others)
    lines.push_back(fmt::format("backward, {}: {} ({})", other.name,
                                backward_text(other.layer(first)), other.source));
  return lines;
}

void append_members(JsonWriter& json, const FamilyRow& row) {
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
  json.member("unfused_reads_d", has_unfused ? std::optional(row.unfused->reads_d) : std::nullopt);
  json.member("unfused_writes_d",
              has_unfused ? std::optional(row.unfused->writes_d) : std::nullopt);
  json.member("reads_d", known(row.traffic.reads_d));
  json.member("writes_d", known(row.traffic.writes_d));
  json.member("scalars", known(total_scalars(row.traffic)));
  json.member("bytes", known(row.bytes.value));
  json.member("backward_reads_d", known(row.backward.traffic.activation_reads_d +
                                        row.backward.traffic.gradient_reads_d));
  json.member("backward_writes_d", known(row.backward.traffic.gradient_writes_d));
  json.member("backward_kernels", known(row.backward.kernels));
  json.member("state_d", known(static_cast<double>(row.state)));
  json.member("parameters_per_layer",
              row.parameters ? std::optional(row.parameters->per_layer) : std::nullopt);
  json.member("flops_per_layer", known(row.flops.value));
  json.member("residual_seconds", end_of(row.time, IntervalEnd::value));
  json.member("residual_low_seconds", end_of(row.time, IntervalEnd::low));
  json.member("residual_high_seconds", end_of(row.time, IntervalEnd::high));
}

}  // namespace

Table family_table(std::span<const FamilyRow> rows, FamilyColumns columns) {
  const bool is_timed = any_is_timed(rows);
  const bool is_wide = columns == FamilyColumns::all;
  Table table{{"scheme"}};
  if (is_wide) {
    table.columns.push_back("class");
    table.columns.push_back(right("unfused"));
  }
  for (Column column : {Column{"schedule"}, right("d-vectors"), right("backward"), right("state")})
    table.columns.push_back(std::move(column));
  if (is_wide) {
    table.columns.push_back(right("parameters"));
    table.columns.push_back(right("operations"));
  }
  if (is_timed) table.columns.push_back(right("residual path"));
  for (const FamilyRow& row : rows) {
    if (!row.problem.empty()) continue;
    const std::string id(name(row.path.scheme));
    std::vector<std::string> cells{is_wide ? fmt::format("`{}`", id) : id};
    if (is_wide) {
      cells.push_back(class_text(row.path.scheme.rule->kind));
      cells.push_back(unfused_text(row));
    }
    cells.emplace_back(name(row.schedule));
    cells.push_back(format_d(total_d(row.traffic)));
    cells.push_back(format_d(total_d(row.backward.traffic)));
    cells.push_back(fmt::format("{} d", row.state));
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
      "Sorted by bytes a token. d-vectors: reads and writes per token and layer, the mean over the "
      "layers, for the schedule shown, the norm of the next layer included. Backward: the same for the backward pass in "
      "training, counted and not measured. State: the most that is kept between two layers, and sent "
      "over a pipeline boundary.";
  if (columns == FamilyColumns::all)
    text +=
        " Unfused: as papers count, without the next norm. Parameters and operations are of a "
        "layer.";
  if (study.decode && study.machine)
    text += fmt::format(
        " The residual path is that of decode/{}, in kernels of its own; every device reads its weights.",
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

namespace {

const FamilyRow* timed_row(std::span<const FamilyRow> rows, const SchemeRule* rule) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FamilyRow& it) {
    return it.path.scheme.rule == rule && it.time;
  });
  return row == rows.end() ? nullptr : &*row;
}

/// The answer for the scheme of the scenario; empty where no time is known.
std::string own_sentence(const Study& study, std::span<const FamilyRow> rows) {
  const FamilyRow* own = timed_row(rows, study.path.scheme.rule);
  const FamilyRow* standard = timed_row(rows, &schemes::kStandard);
  if (!study.decode || own == nullptr || standard == nullptr || own == standard) return "";
  return fmt::format(
      "At decode/{} the residual path of {} takes {}, that of the standard residual {}.\n\n",
      largest_batch(*study.decode), name(own->path.scheme), format_seconds(*own->time),
      format_seconds(*standard->time));
}

}  // namespace

std::string family_text(const Study& study, std::span<const FamilyRow> rows) {
  std::string text = study.name + "\n\n" + own_sentence(study, rows) +
                     plain_text(family_table(rows, FamilyColumns::terminal)) + "\n" +
                     family_legend(study, rows, FamilyColumns::terminal) + "\n";
  for (const std::string& problem : family_problems(rows)) text += problem + "\n";
  return text + "Each of them: depthcost explain SCENARIO family.NAME\n";
}

std::string family_json(const Study& study, std::span<const FamilyRow> rows,
                        std::string_view program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("scenario", study.name);
    json.objects("family", rows, [&](const FamilyRow& row) { append_members(json, row); });
  });
}

Explanation explain_family_row(const FamilyRow& row) {
  const SchemeRule& rule = *row.path.scheme.rule;
  const LedgerFormula formula = ledger_formula(row.path.scheme, {row.schedule, Convention::kernel});
  Explanation x{.metric = fmt::format("family.{}", name(row.path.scheme)),
                .formula = std::string(rule.update),
                .source = std::string(rule.source),
                .numbers = {},
                .function = formula.function};
  if (!row.problem.empty()) {
    x.numbers.push_back("not for this model: " + row.problem);
    return x;
  }
  x.numbers.push_back(explained::letters(row.path));
  x.numbers.push_back(formula.formula);
  if (row.unfused)
    x.numbers.push_back("unfused, without the next norm: " + moved_text(*row.unfused));
  x.numbers.push_back(fmt::format("{}: {} = {:.12g} bytes", name(row.schedule),
                                  moved_text(row.traffic), row.bytes.value));
  for (std::string& line : backward_lines(row)) x.numbers.push_back(std::move(line));
  x.numbers.push_back(
      fmt::format("state {} d; {} a layer; {:.12g} operations a token and layer", row.state,
                  row.parameters ? fmt::format("{:.12g} parameters", row.parameters->per_layer)
                                 : "parameters not counted",
                  row.flops.value));
  if (row.time)
    x.numbers.push_back("residual path of the largest decode batch, in kernels of its own: " +
                        format_seconds(*row.time));
  x.numbers.push_back("reference: " + reference_of(rule));
  for (std::string& line : kernel_lines(row)) x.numbers.push_back(std::move(line));
  return x;
}

namespace family_section {

void explain(const Evaluation& e, Explanations& out) {
  for (const FamilyRow& row : e.family) out.push_back(explain_family_row(row));
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.family.empty()) return;
  out.heading("The family: every residual connection of Table 5 and its kin");
  out.paragraph(family_legend(e.study, e.family, FamilyColumns::all));
  out.table(family_table(e.family, FamilyColumns::all));
  for (const std::string& problem : family_problems(e.family)) out.bullet(problem);
  out.end_list();
}

}  // namespace family_section
}  // namespace depthcost

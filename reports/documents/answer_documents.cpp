// Each format goes through the list of sections.
#include "reports/documents/answer_documents.hpp"

#include <utility>

#include "reports/documents/sections.hpp"
#include "reports/topics/ledger/ledger_section.hpp"

namespace depthcost {
namespace {

void explain_into(Explanations& out, const Evaluation& evaluation) {
  for (const DataSection& section : data_sections())
    if (section.explain != nullptr) section.explain(evaluation, out);
}

}  // namespace

std::string to_json(const Evaluation& evaluation, std::span<const ResolvedValue> values,
                    const JsonOptions& options) {
  return json_document(options.program_version, [&](JsonWriter& json) {
    for (const DataSection& section : data_sections())
      if (section.json != nullptr) section.json(json, {evaluation, options.layers, values});
  });
}

std::string to_csv(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  CsvLines csv;
  for (const DataSection& section : data_sections())
    if (section.csv != nullptr) section.csv(csv, {evaluation, layers});
  return std::move(csv).text();
}

std::string to_table(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  std::string text;
  for (const TextSection& section : text_sections())
    if (section.table != nullptr) section.table(text, {evaluation, layers});
  return text;
}

std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts) {
  Document out(evaluation, parts);
  for (const TextSection& section : text_sections())
    if (section.markdown != nullptr) section.markdown(out);
  return out.take();
}

std::vector<Plot> plots(const Evaluation& evaluation) {
  std::vector<Plot> drawn;
  for (const TextSection& section : text_sections())
    for (const PlotFunction plot : section.plots)
      if (plot != nullptr)
        if (std::optional<Plot> made = plot(evaluation)) drawn.push_back(*std::move(made));
  return drawn;
}

std::vector<Explanation> explanations(const Evaluation& evaluation) {
  Explanations out;
  explain_into(out, evaluation);
  return out.take();
}

std::optional<Explanation> explain(const Evaluation& evaluation, std::string_view metric) {
  Explanations out{std::string(metric)};
  explain_into(out, evaluation);
  std::vector<Explanation> found = out.take();
  if (!found.empty()) return std::move(found.front());
  return ledger_section::explain_layer(evaluation, metric);
}

}  // namespace depthcost

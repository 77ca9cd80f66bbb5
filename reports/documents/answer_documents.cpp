// Each format goes through the list of sections.
#include "reports/documents/answer_documents.hpp"

#include <fmt/format.h>

#include <utility>

#include "reports/documents/sections.hpp"
#include "reports/formats/markdown_text.hpp"
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
      if (section.json != nullptr)
        section.json(json, {evaluation, options.layers, values, options.launches});
  });
}

std::string to_csv(const Evaluation& evaluation, std::span<const LedgerRow> layers) {
  CsvLines csv;
  for (const DataSection& section : data_sections())
    if (section.csv != nullptr) section.csv(csv, {evaluation, layers});
  return std::move(csv).text();
}

std::string to_table(const Evaluation& evaluation, Depth deepest,
                     std::span<const LedgerRow> layers) {
  std::string text;
  for (const TextSection& section : text_sections())
    if (section.table != nullptr && section.depth <= deepest)
      section.table(text, {evaluation, layers});
  return text;
}

std::string markdown_report(const Evaluation& evaluation, const ReportParts& parts) {
  Document out(evaluation, parts);
  for (const TextSection& section : text_sections())
    if (section.markdown != nullptr &&
        (section.depth == Depth::summary || !has_appendix(evaluation)))
      section.markdown(out);
  return out.take();
}

std::string markdown_appendix(const Evaluation& evaluation, const ReportParts& parts) {
  if (!has_appendix(evaluation)) return "";
  Document out(evaluation, parts);
  out.paragraph(fmt::format("# {}: appendix", escaped(evaluation.study.name)));
  if (!parts.stem.empty())
    out.paragraph("What " + link("the report", parts.stem + ".md") + " is made of.");
  for (const TextSection& section : text_sections())
    if (section.markdown != nullptr && section.depth == Depth::details) section.markdown(out);
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

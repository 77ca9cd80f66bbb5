// Each row as the scenario that a user would write.
#include "scenarios/measured/served_steps.hpp"

#include <fmt/format.h>

#include "scenarios/measured/published_table.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost {
namespace {

/// The types of a model's weights in a precision of the table. gpt-oss ships in mxfp4 alone, and
/// DeepSeek-V3 and Kimi K2 keep their attention as it is.
std::string weights_of(const std::string& model, const std::string& precision) {
  if (model == "gpt_oss_120b") return "";
  if (model == "deepseek_v3") return precision == "fp4" ? ", expert_dtype: mxfp4" : "";
  if (model == "kimi_k2") return ", expert_dtype: mxfp4, weight_dtype: bf16";
  return fmt::format(", weight_dtype: {}",
                     precision == "fp4" || precision == "int4" ? "mxfp4" : precision);
}

/// The context is that in the middle of the output.
std::string scenario_text(const TableRow& row) {
  const Count context = count_in(row, "input") + count_in(row, "output") / 2;
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return fmt::format(
      "schema: depthcost/1\nmodel: {{base: {}{}}}\nhardware: {}\nresidual: {{scheme: standard}}\n"
      "parallelism: {{tensor: {}, expert: {}}}\n"
      "workload: {{decode: {{sequences: [{}], context: {}}}, prefill: {{tokens: {}}}}}\n",
      cell("model"), weights_of(cell("model"), cell("precision")), cell("gpu"), cell("tensor"),
      cell("expert"), cell("sequences"), context, cell("input"));
}

ServedStep served_step(const TableRow& row, const std::string& file, const Constants& constants) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return {.id = fmt::format("{}/{}/{}/tensor:{}/expert:{}/{}+{}/sequences:{}", cell("model"),
                            cell("gpu"), cell("precision"), cell("tensor"), cell("expert"),
                            cell("input"), cell("output"), cell("sequences")),
          .model = cell("model"),
          .gpu = cell("gpu"),
          .stack = cell("stack"),
          .study = scenario_of(parse_document(scenario_text(row), file), file, Provenance::scenario,
                               constants)
                       .study,
          .prefills = (number_in(row, "sequences") - 1) / number_in(row, "output"),
          .seconds = Seconds{1e-3 * number_in(row, "tpot_ms")}};
}

}  // namespace

std::vector<ServedStep> served_steps() {
  const std::string file = "scenarios/published/steps.csv";
  std::vector<ServedStep> steps;
  for (const TableRow& row : table_rows(shipped_table("steps"), file)) {
    const Constants* fold = shipped_fold(row.find("model")->second);
    steps.push_back(served_step(row, file, fold == nullptr ? shipped_constants() : *fold));
  }
  return steps;
}

std::vector<ServedStep> parse_served_steps(std::string_view text, const std::string& file,
                                           const Constants& constants) {
  std::vector<ServedStep> steps;
  for (const TableRow& row : table_rows(text, file))
    steps.push_back(served_step(row, file, constants));
  return steps;
}

}  // namespace depthcost

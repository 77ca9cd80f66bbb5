// Each row as the scenario that a user would write, with its own batch and parallelism.
#include "scenarios/measured/served_steps.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

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

std::string id_of(const TableRow& row) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return fmt::format("{}/{}/{}/tensor:{}/expert:{}/{}+{}/sequences:{}", cell("model"), cell("gpu"),
                     cell("precision"), cell("tensor"), cell("expert"), cell("input"),
                     cell("output"), cell("sequences"));
}

/// What rows share: a model in a precision on a device. Its workloads stand for those of the rows.
std::string shared_scenario(const TableRow& row) {
  const auto cell = [&](const char* column) { return row.find(column)->second; };
  return fmt::format(
      "schema: depthcost/1\nmodel: {{base: {}{}}}\nhardware: {}\nresidual: {{scheme: standard}}\n"
      "workload: {{decode: {{sequences: [1], context: 1}}, prefill: {{tokens: 1}}}}\n",
      cell("model"), weights_of(cell("model"), cell("precision")), cell("gpu"));
}

/// The rows of one table. What rows share is read once, which takes longer than a prediction.
class ServedRows {
 public:
  explicit ServedRows(std::string file) : file_(std::move(file)) {}

  ServedStep step(const TableRow& row, const Constants& constants) {
    const auto cell = [&](const char* column) { return row.find(column)->second; };
    return {.id = id_of(row),
            .model = cell("model"),
            .gpu = cell("gpu"),
            .stack = cell("stack"),
            .study = study_of(row, constants),
            .prefills = (number_in(row, "sequences") - 1) / number_in(row, "output"),
            .seconds = Seconds{1e-3 * number_in(row, "tpot_ms")}};
  }

 private:
  /// The context is that in the middle of the output.
  Study study_of(const TableRow& row, const Constants& constants) {
    Study study = shared_study(row, constants);
    study.tensor_parallel_size = count_in(row, "tensor");
    study.expert_parallel_size = count_in(row, "expert");
    study.decode->sequences = {count_in(row, "sequences")};
    study.decode->context = count_in(row, "input") + count_in(row, "output") / 2;
    study.prefill->tokens = count_in(row, "input");
    return study;
  }

  const Study& shared_study(const TableRow& row, const Constants& constants) {
    const std::string text = shared_scenario(row);
    const auto known = studies_.find({text, &constants});
    if (known != studies_.end()) return known->second;
    Scenario scenario =
        scenario_of(parse_document(text, file_), file_, Provenance::scenario, constants);
    return studies_.emplace(std::pair{text, &constants}, std::move(scenario.study)).first->second;
  }

  std::string file_;
  std::map<std::pair<std::string, const Constants*>, Study> studies_;
};

/// What aiconfigurator predicts of served runs, by id and stack.
std::map<std::pair<std::string, std::string>, Seconds> peer_steps() {
  std::map<std::pair<std::string, std::string>, Seconds> peers;
  for (const TableRow& row :
       table_rows(shipped_table("steps_peer"), "scenarios/published/steps_peer.csv"))
    peers.emplace(std::pair{id_of(row), row.find("stack")->second},
                  Seconds{1e-3 * number_in(row, "aiconfigurator_ms")});
  return peers;
}

}  // namespace

std::vector<ServedStep> served_steps(Unseen unseen) {
  const std::string file = "scenarios/published/steps.csv";
  ServedRows rows(file);
  const auto peers = peer_steps();
  std::vector<ServedStep> steps;
  for (const TableRow& row : table_rows(shipped_table("steps"), file)) {
    steps.push_back(rows.step(row, unseen_constants(row, unseen)));
    const auto peer = peers.find({steps.back().id, steps.back().stack});
    if (peer != peers.end()) steps.back().peer = peer->second;
  }
  return steps;
}

std::vector<ServedStep> parse_served_steps(std::string_view text, const std::string& file,
                                           const Constants& constants) {
  std::vector<ServedStep> steps;
  ServedRows rows(file);
  for (const TableRow& row : table_rows(text, file)) steps.push_back(rows.step(row, constants));
  return steps;
}

}  // namespace depthcost

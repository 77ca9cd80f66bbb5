#include <fmt/format.h>

#include "model/evaluation/evaluation.hpp"
#include "reports/documents/answer_documents.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/fuzz/checked_answer.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/fuzz/written_file.hpp"

namespace depthcost::fuzz {
namespace {

std::string json_of(const Scenario& scenario) {
  return to_json(evaluate(scenario.study), scenario.values, {"fuzz", {}});
}

/// What takes longer than a fuzzer waits for is left out, by its size.
bool is_small(const Study& study) {
  const Count batches = study.decode ? static_cast<Count>(study.decode->sequences.size()) : 0;
  const Count micro_batches = study.training ? study.training->num_micro_batches : 0;
  return study.model.num_layers <= 256 && batches <= 4 && micro_batches <= 64;
}

}  // namespace

bool answer_written_scenario(std::string_view bytes) {
  Choices choices(bytes);
  const std::string text = written_file(scenario_keys(), choices);
  return accepts([&] {
    const Scenario scenario =
        scenario_of(parse_document(text, "input"), "input", Provenance::scenario);
    if (!is_small(scenario.study)) return;
    const std::string json = json_of(scenario);
    require(json == json_of(scenario), "a second evaluation differs: " + text);
    require_sound(json);
  });
}

}  // namespace depthcost::fuzz

// Every number leads to its equation, its source and its function, and all of them exist.
#include "reports/documents/answer_documents.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/machine/catalogue.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/read/scenario.hpp"
#include "tests/studies.hpp"

namespace depthcost::explain_test {
namespace {

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(DEPTHCOST_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Explanation explained(const Evaluation& evaluation, const std::string& metric) {
  const auto explanation = explain(evaluation, metric);
  EXPECT_TRUE(explanation.has_value()) << metric;
  return explanation.value_or(Explanation{});
}

/// "model/operations/mhc_operations.hpp: operations::a, b*; model/machine/time.cpp: c" -> (file,
/// name) pairs.
std::vector<std::pair<std::string, std::string>> places(const std::string& function) {
  std::vector<std::pair<std::string, std::string>> found;
  std::stringstream parts(function);
  for (std::string part; std::getline(parts, part, ';');) {
    const auto colon = part.find(": ");
    const std::string file =
        part.substr(part.find_first_not_of(' '), colon - part.find_first_not_of(' '));
    std::stringstream names(part.substr(colon + 2));
    for (std::string name; std::getline(names, name, ',');) {
      name.erase(0, name.find_first_not_of(' '));
      if (name.starts_with("operations::")) name.erase(0, std::string("operations::").size());
      if (name.ends_with("*")) name.pop_back();
      found.emplace_back(file, name);
    }
  }
  return found;
}

std::vector<Explanation> all_kinds() {
  std::vector<Explanation> all;
  for (const Study& study :
       {test::kimi_k3_study(), test::modelled_study(), test::training_study()}) {
    const Evaluation evaluation = evaluate(study);
    for (Explanation& entry : explanations(evaluation)) all.push_back(std::move(entry));
  }
  return all;
}

TEST(Explain, NamesAFunctionThatStandsInTheNamedFile) {
  std::set<std::pair<std::string, std::string>> named;
  for (const Explanation& explanation : all_kinds())
    for (const auto& place : places(explanation.function)) named.insert(place);
  for (const auto& [file, name] : named)
    EXPECT_NE(source_file(file).find(name), std::string::npos) << file << " " << name;
  EXPECT_GT(named.size(), 30U);
}

TEST(Explain, CitesOnlyKeysOfTheReferences) {
  const std::string references = source_file("model/REFERENCES.md");
  for (const auto& [metric, formula, source, numbers, function] : all_kinds()) {
    const auto open = source.find('[');
    ASSERT_NE(open, std::string::npos) << metric;
    const std::string key = source.substr(open, source.find(']') - open + 1);
    EXPECT_NE(references.find("## " + key), std::string::npos) << key;
    const auto section = source.find("REFERENCES.md, ");
    if (section == std::string::npos) {
      EXPECT_EQ(source.find("[ours] "), source.find("[ours] from")) << source;
      continue;
    }
    EXPECT_NE(references.find("### " + source.substr(section + 15)), std::string::npos) << source;
  }
}

TEST(Explain, KnowsEveryShippedScenario) {
  const auto folder = std::filesystem::path(DEPTHCOST_SOURCE_DIR) / "scenarios";
  std::size_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const Evaluation evaluation = evaluate(read_scenario(entry.path().string()).study);
    std::set<std::string> metrics;
    for (const Explanation& explanation : explanations(evaluation)) {
      EXPECT_TRUE(metrics.insert(explanation.metric).second) << explanation.metric;
      EXPECT_FALSE(explanation.formula.empty()) << explanation.metric;
      EXPECT_FALSE(explanation.numbers.empty()) << explanation.metric;
    }
    ++checked;
  }
  EXPECT_GE(checked, 10U);
}

TEST(Explain, SubstitutesTheNumbersOfKimiK3) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  EXPECT_EQ(to_text(explained(evaluation, "ledger.block_attnres.two_phase.kernel")),
            R"(ledger.block_attnres.two_phase.kernel
  formula   Phase 1 of block 1: 1 r, S w; of block n >= 2: n + 1 r, S + 1 w; second layer: 2 r, 1 w; later: 3 r, 2 w
  source    [ours] REFERENCES.md, operations
  numbers   L = 186, S = 24, N = 8, last block 18
  numbers   d-vectors by block of 24 layers: 138 + 141 + 142 + 143 + 144 + 145 + 146 + 111
  numbers   all layers: 569 r + 541 w = 1110 d-vectors, 712 scalars
  numbers   mean over 186 layers: 5.96774 d = 85568.9 bytes a token and layer
  function  model/operations/attnres_operations.hpp: operations::block_phase1, block_phase2
)");
  EXPECT_EQ(to_text(explained(evaluation, "prefill.bank_bytes_per_device")),
            R"(prefill.bank_bytes_per_device
  formula   v ceil(min(T, chunk) / P) d elements; v = N for Block, L for Full, m for mHC, 1 standard
  source    [attnres] Sec. 4.2
  numbers   L = 186, S = 24, N = 8, last block 18
  numbers   ceil(min(131072, 16384) / 8) = 2048 tokens a device
  numbers   d = 7168, bf16
  numbers   = 234881024 bytes
  function  model/step/prefill.hpp: bank_bytes
)");
}

TEST(Explain, TakesOneLayerApart) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  EXPECT_EQ(to_text(explained(evaluation, "ledger.block_attnres.single_pass.kernel.layer_49")),
            R"(ledger.block_attnres.single_pass.kernel.layer_49
  formula   layer 1: 1 r, 1 w; first layer of block n >= 2: n + 1 r, 2 w; second layer: n + 1 r, 1 w; later: n + 2 r, 2 w; output: N + 2 r, 1 w
  source    [ours] REFERENCES.md, operations
  numbers   L = 186, S = 24, N = 8, last block 18
  numbers   l = 49: block n = 3, i = 1
  numbers   attnres_single_pass: bank 2 r, partial_sum 1 r, layer_output 1 r, bank 1 w, layer_input 1 w
  numbers   = 4 r + 2 w = 6 d-vectors, 0 scalars
  numbers   = 86016 bytes a token
  function  model/operations/attnres_operations.hpp: operations::block_single_pass, block_output
)");
}

TEST(Explain, KnowsEveryRowOfTheAnswer) {
  const Evaluation e = evaluate(test::kimi_k3_study());
  std::size_t expected = e.ledger.size() + 1 + e.parameters.size() + e.flops.size();
  expected += 2 + e.pipeline->events.size() + e.pipeline->by_scheme.size() + 2;
  expected += 3 * (1 + e.prefill.size());
  expected += e.memory.size() + e.time.size() + e.step.size() + e.budgets.size();
  EXPECT_EQ(explanations(e).size(), expected);
}

TEST(Explain, KnowsEveryTermOfAModelledStep) {
  Study study = test::modelled_study();
  study.written_terms = {{WorkloadKind::prefill, RestTerm::mlp, {Seconds{0.25}}}};
  const Evaluation e = evaluate(study);
  ASSERT_EQ(e.rest.size(), 4 * kEnumerators<RestTerm>.size());
  for (const RestRow& row : e.rest) {
    const Explanation x =
        explained(e, "rest." + name(row.workload) + "." + std::string(name(row.term)));
    EXPECT_FALSE(x.numbers.empty()) << x.metric;
    for (const auto& [file, name] : places(x.function))
      EXPECT_NE(source_file(file).find(name), std::string::npos) << file << " " << name;
  }
  EXPECT_EQ(explained(e, "rest.prefill.mlp").formula, "measured by the user");
  EXPECT_TRUE(explain(e, "prefill.by_scheme.mhc.cache_tokens"));
}

// 1,600 (token, expert) pairs of 100 tokens on 8 ranks; 56,268,800 weights of Kimi Delta Attention
// on one of them.
TEST(Explain, SubstitutesTheNumbersOfTheRest) {
  Study study = test::modelled_study();
  study.decode->sequences = {100};
  const Evaluation e = evaluate(study);
  const auto has = [&](const std::string& metric, const std::string& text) {
    const std::string all = to_text(explained(e, metric));
    EXPECT_NE(all.find(text), std::string::npos) << text << "\n" << all;
  };
  has("rest.decode/100.mlp", "100 tokens choose 16 of 896 experts over 8 ranks");
  has("rest.decode/100.mlp", "and 200 [200, ");
  has("rest.decode/100.attention", "linear: 56268800 weights in bf16 on one of 8 ranks");
  has("rest.decode/100.attention", "57600000 elements read / 1 context ranks, 576 written");
  has("rest.decode/100.attention", "0.65 [0.4, 0.8] of the dense rate, 1.00 PFLOP/s");
  has("rest.decode/100.head", "vocabulary 163840 x d 7168 / 8 ranks in bf16");
  has("rest.decode/100.launches", "489 x kernels of attention, launched as graph: 0.008 ms");
}

/// How nvfp4 is multiplied is said where a model has it.
TEST(Explain, SaysHowFourBitsAreMultiplied) {
  Study study = test::modelled_study();
  study.decode->sequences = {100};
  const auto said = [&] {
    return to_text(explained(evaluate(study), "rest.decode/100.attention"));
  };
  EXPECT_EQ(said().find("nvfp4"), std::string::npos) << said();
  study.model.architecture->weight_dtype = WeightDtype::nvfp4;
  study.machine->nvfp4_rate.reset();
  EXPECT_NE(
      said().find("; weights in nvfp4 are widened to bf16, since this device has no units for "
                  "them"),
      std::string::npos)
      << said();
  study.machine->nvfp4_rate = FlopsPerSecond{8e15};
  EXPECT_NE(said().find(", or 8.00 PFLOP/s for weights in nvfp4, 1.6 times fp8 as measured on a "
                        "B200"),
            std::string::npos)
      << said();
}

/// Beside the sequences of a step, the chunk of a prompt that it takes along.
TEST(Explain, NamesThePromptOfAPass) {
  Study study = test::modelled_study();
  study.decode->sequences = {100};
  study.decode->prompt = PromptChunk{.tokens = 512, .context = 2048};
  const std::string all = to_text(explained(evaluate(study), "rest.decode/100.mlp"));
  EXPECT_NE(all.find(", and 512 tokens of a prompt with 2048 behind it; "), std::string::npos)
      << all;
  EXPECT_NE(all.find("operations of a prompt's routed experts take "), std::string::npos) << all;
}

TEST(Explain, NamesTheProjectionsOfTables) {
  Study study = test::modelled_study();
  study.decode->sequences = {100};
  study.model.architecture->tables = {{.rows = 10, .width = 2, .projections = 800}};
  const std::string all = to_text(explained(evaluate(study), "rest.decode/100.mlp"));
  EXPECT_NE(all.find("other projections: 800 weights in bf16 / 8 ranks"), std::string::npos) << all;
  EXPECT_NE(all.find("1 x other projections: 200 bytes"), std::string::npos) << all;
}

TEST(Explain, SaysWhatTheBaselineIsMadeOf) {
  const auto line = [](const Study& study, const std::string& workload) {
    for (const std::string& text :
         explained(evaluate(study), "step." + workload + ".block_attnres.single_pass").numbers)
      if (text.starts_with("baseline step") || text.starts_with("no baseline")) return text;
    return std::string();
  };
  EXPECT_EQ(line(test::kimi_k3_study(), "decode/64"),
            "baseline step 12000 us [12000 us, 12000 us], measured by the user");
  EXPECT_EQ(line(test::kimi_k3_study(), "prefill"),
            "no baseline step: the model has no attention and mlp");
  Study study = test::modelled_study();
  study.baseline_attachment = Attachment::all_reduce;
  const std::string modelled = line(study, "prefill");
  EXPECT_NE(modelled.find("modelled: rest.prefill.attention "), std::string::npos) << modelled;
  EXPECT_NE(modelled.find(" us (all_reduce)"), std::string::npos) << modelled;
}

TEST(Explain, KnowsEveryPartOfATrainingStep) {
  const Evaluation e = evaluate(test::training_study());
  for (const char* metric :
       {"training.by_scheme.full_attnres.two_phase", "training.chunks.7", "training.transitions.6",
        "training.stages.3", "step.training.mhc.fused", "rest.training.head",
        "memory.training.block_attnres.activations",
        "memory.training.block_attnres.pipeline_blocks"})
    EXPECT_TRUE(explain(e, metric)) << metric;
  EXPECT_FALSE(explain(e, "training.chunks.8"));
  // Every term that layer_work() and chunk_times() add up.
  const std::string chunk = explained(e, "training.chunks.0").formula;
  for (const char* term : {"what is not kept, again", "2.5 x their scores and mixes", "collectives",
                           "backward for weights: layers' products", "offload"})
    EXPECT_NE(chunk.find(term), std::string::npos) << term;
  EXPECT_EQ(explained(e, "training.transitions.0").numbers.back(), "0.01 ms + bytes / 50.0 GB/s");
  EXPECT_EQ(explained(e, "step.training.block_attnres.single_pass").numbers.front(),
            "interleaved_1f1b: P = 4, V = 2, M = 8; 4096 tokens of a micro-batch on one device");
}

TEST(Explain, LeadsFromATrainingStepToItsGradients) {
  Study study = test::training_study();
  const Evaluation e = evaluate(study);
  const auto line = [](const Evaluation& of, const std::string& run, const std::string& begin) {
    for (const std::string& text : explained(of, "step.training." + run).numbers)
      if (text.starts_with(begin)) return text;
    return std::string();
  };
  EXPECT_EQ(
      line(e, "block_attnres.two_phase", "gradients"),
      "gradients: ds_i = p_i (dh . v_i - dh . h), dv_i = p_i dh + ds_i (w - s_i v_i / (d r_i)) "
      "/ r_i, dw = sum_t sum_i ds_i v_i / r_i");
  EXPECT_EQ(line(e, "block_attnres.two_phase", "kernels"),
            "kernels: attnres_single_pass_backward; kernels/README.md; bench_kernels "
            "--benchmark_filter='/(attnres_single_pass_backward)/'");
  study.training->gradient_accumulation = GradientAccumulation::per_block;
  EXPECT_EQ(line(evaluate(study), "block_attnres.two_phase", "kernels"),
            "kernels: attnres_phase1_backward, attnres_phase2_backward; kernels/README.md; "
            "bench_kernels "
            "--benchmark_filter='/(attnres_phase1_backward|attnres_phase2_backward)/'");
  EXPECT_EQ(line(e, "block_attnres.unfused", "kernels"), "kernels: none of ours for this schedule");
  EXPECT_EQ(line(e, "mhc.fused", "kernels"),
            "kernels: mhc_post_backward, mhc_pre_backward; kernels/README.md; bench_kernels "
            "--benchmark_filter='/(mhc_post_backward|mhc_pre_backward)/'");
  EXPECT_NE(explained(e, "step.training.mhc.fused")
                .function.find("model/schemes/multi_state/mhc.cpp: BackwardRule"),
            std::string::npos);
}

/// Every kernel that a scheme's gradients name is in the catalogue, and so in the benchmarks.
TEST(Explain, NamesBackwardKernelsThatAreThere) {
  std::set<std::string> named;
  for (const TrainingRun& run : evaluate(test::training_study()).training.runs) {
    const BackwardRule& backward = *run.path->scheme.rule->backward;
    if (backward.gradients == nullptr) continue;
    for (const auto mode : {GradientAccumulation::fused, GradientAccumulation::per_block})
      for (const std::string_view kernel : backward.gradients(run.schedule, mode).kernels) {
        EXPECT_NE(find_entry(kernel), nullptr) << kernel;
        named.emplace(kernel);
      }
  }
  EXPECT_GE(named.size(), 6U);
}

TEST(Explain, AddsTheTermsOfALaunch) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  for (const TimeRow& row : evaluation.time)
    EXPECT_EQ(row.terms.total(), row.predicted.value) << name(row.operation.id);
  const Explanation launch =
      explained(evaluation, "time.decode/64.block_attnres.two_phase.attnres_phase1.3");
  EXPECT_EQ(launch.numbers.front(),
            "per token: bank 2 r, bank 1 w, partial_sum 1 r, layer_input 1 w, phase1_output 23 w, "
            "46 scalars");
}

TEST(Explain, SaysWhatTheFormulaLeavesOut) {
  Study study = test::kimi_k3_study();
  study.path.scheme =
      Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(study.path.num_layers, 1)}};
  study.path.attachment = Attachment::all_reduce;
  const Explanation kernel = explained(evaluate(study), "ledger.block_attnres.single_pass.kernel");
  ASSERT_GE(kernel.numbers.size(), 2U);
  EXPECT_EQ(kernel.numbers[kernel.numbers.size() - 2],
            "attached to all_reduce: f is on chip there, 186 r drop out in all");
  EXPECT_EQ(kernel.numbers.back(),
            "blocks of one layer: f is the block, so closing it is 1 r and no write");
}

TEST(Explain, KnowsNoMetricThatIsNotThere) {
  const Evaluation evaluation = evaluate(test::kimi_k3_study());
  for (const char* metric :
       {"ledger.block_attnres.fused.kernel", "ledger.block_attnres.two_phase.kernel.layer_0",
        "ledger.block_attnres.two_phase.kernel.layer_187", "ledger.nothing.layer_1",
        "ledger.block_attnres.two_phase.kernel.layer_1x",
        "ledger.block_attnres.two_phase.kernel."
        "layer_",
        "aggregation.layer_1", ""})
    EXPECT_FALSE(explain(evaluation, metric)) << metric;
}

}  // namespace
}  // namespace depthcost::explain_test

// The calibration finds constants that it knows, sees nothing of what it leaves out, and ships.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/training/training_step.hpp"
#include "profile/calibration/fold.hpp"
#include "profile/calibration/training_fit.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/measured/published_table.hpp"
#include "scenarios/text/input_text.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::calibration_test {
namespace {

using namespace calibration;

const std::string kSource = DEPTHCOST_SOURCE_DIR;

/// Some of the rows: enough for the shape, and fast.
const Tables& some_rows() {
  static const Tables tables = [] {
    Tables some = read_tables(kSource + "/scenarios/published", shipped_constants());
    const auto thin = [](auto& rows, std::size_t step) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < rows.size(); i += step) rows[kept++] = rows[i];
      rows.resize(kept);
    };
    thin(some.kernels, 4);
    thin(some.steps, 16);
    return some;
  }();
  return tables;
}

/// The same rows, measured by somebody with those constants.
Tables as_predicted(const Constants& constants) {
  Tables tables;
  tables.parts = some_rows().parts;
  for (MeasuredKernel row : some_rows().kernels) {
    row.part = &tables.parts[static_cast<std::size_t>(row.part - some_rows().parts.data())];
    row.seconds = predicted(row, constants).value;
    tables.kernels.push_back(std::move(row));
  }
  for (ServedStep row : some_rows().steps) {
    row.seconds = predicted(row, constants).value;
    tables.steps.push_back(std::move(row));
  }
  return tables;
}

Constants moved(Constants constants, double factor) {
  constants.kernels.loop_draw = factor * constants.kernels.loop_draw;
  constants.kernels.coefficient_step = factor * constants.kernels.coefficient_step;
  constants.kernels.sinkhorn_step = factor * constants.kernels.sinkhorn_step;
  constants.engine.attention.floor = factor * constants.engine.attention.floor;
  constants.engine.mlp.floor = factor * constants.engine.mlp.floor;
  return constants;
}

TEST(Calibration, FindsTheConstantsOfKernels) {
  const Constants truth = shipped_constants();
  const Tables tables = as_predicted(truth);
  const Constants found = fitted_kernels(tables, {}, moved(truth, 1.3));
  for (const MeasuredKernel& row : tables.kernels) {
    if (!row.part->memory.starts_with("hbm")) continue;
    EXPECT_NEAR(predicted(row, found).value / row.seconds, 1, 0.08);
  }
  EXPECT_NEAR(found.kernels.loop_draw / truth.kernels.loop_draw, 1, 0.05);
  EXPECT_NEAR(found.kernels.stream_efficiency / truth.kernels.stream_efficiency, 1, 0.02);
}

TEST(Calibration, FindsTheConstantsOfSteps) {
  const Constants truth = shipped_constants();
  const Tables tables = as_predicted(truth);
  const Constants found = fitted_steps(tables, {}, moved(truth, 0.8));
  for (const ServedStep& row : tables.steps)
    EXPECT_NEAR(predicted(row, found).value / row.seconds, 1, 0.03);
}

/// Rows that are left out may say anything.
TEST(Calibration, SeesNothingOfWhatItLeavesOut) {
  const Constants start = shipped_constants();
  const auto with_lies_about = [](const LeftOut& left_out) {
    Tables tables = as_predicted(shipped_constants());
    for (MeasuredKernel& row : tables.kernels)
      if (left_out.holds(*row.part)) row.seconds = 2 * row.seconds;
    for (ServedStep& row : tables.steps)
      if (left_out.holds(row)) row.seconds = 2 * row.seconds;
    return tables;
  };
  const Tables honest = as_predicted(start);
  for (const char* name : {"h200_sxm", "blackwell"}) {
    const LeftOut left_out{name};
    EXPECT_EQ(to_yaml(fitted_kernels(with_lies_about(left_out), left_out, start)),
              to_yaml(fitted_kernels(honest, left_out, start)))
        << name;
  }
  for (const char* name : {"h200_sxm", "llama_3_1_70b"}) {
    const LeftOut left_out{name};
    EXPECT_EQ(to_yaml(fitted_steps(with_lies_about(left_out), left_out, start)),
              to_yaml(fitted_steps(honest, left_out, start)))
        << name;
  }
}

/// The rows of training, measured by somebody with those constants; `Lies` of what is left out.
std::vector<TrainedStep> trainings_as_predicted(const Constants& constants,
                                                const LeftOut& lied_about) {
  std::vector<TrainedStep> steps = some_rows().trainings;
  for (TrainedStep& step : steps) {
    step.study.machine->engine = constants.engine;
    step.seconds = (lied_about.holds(step) ? 2 : 1) * standard_training_step(step.study);
  }
  return steps;
}

Constants with_training(double bf16, double fp8, double experts) {
  Constants constants = shipped_constants();
  TrainingConstants& training = constants.engine.training;
  training.bf16_products = bf16;
  training.fp8_products = fp8;
  training.experts = experts;
  return constants;
}

TEST(Calibration, FindsTheConstantsOfTraining) {
  const Constants truth = with_training(0.6, 0.35, 0.15);
  const auto steps = trainings_as_predicted(truth, {"nobody"});
  const Constants found = fitted_training(steps, {}, with_training(0.5, 0.45, 0.25));
  EXPECT_NEAR(found.engine.training.bf16_products / 0.6, 1, 0.01);
  EXPECT_NEAR(found.engine.training.fp8_products / 0.35, 1, 0.01);
  EXPECT_NEAR(found.engine.training.experts / 0.15, 1, 0.01);
}

/// Where it was made, and where all shares move alike.
TEST(Calibration, PredictsTrainingAlongALine) {
  const auto lines = training_lines(some_rows().trainings, with_training(0.5, 0.4, 0.2));
  for (const double factor : {0.7, 1.0, 1.5})
    for (const TrainingLine& line : lines) {
      const Constants constants = with_training(factor * 0.5, factor * 0.4, factor * 0.2);
      Study study = line.study;
      study.machine->engine = constants.engine;
      EXPECT_NEAR(line.predicted(constants) / standard_training_step(study), 1,
                  factor == 1.0 ? 1e-9 : 0.02)
          << line.measured->id;
    }
}

TEST(Calibration, SeesNothingOfTrainingThatItLeavesOut) {
  const Constants start = shipped_constants();
  for (const char* name : {"gb300", "deepseek_v3"}) {
    const LeftOut left_out{name};
    EXPECT_EQ(to_yaml(fitted_training(trainings_as_predicted(start, left_out), left_out, start)),
              to_yaml(fitted_training(trainings_as_predicted(start, {"nobody"}), left_out, start)))
        << name;
  }
}

TEST(Calibration, HoldsAStacksKernelAgainstTheFastest) {
  const auto rows = table_rows(load_text(kSource + "/scenarios/published/mhc.csv"), "mhc.csv");
  std::map<std::string, double> fastest;
  for (const TableRow& row : rows) {
    const auto [known, is_new] =
        fastest.emplace(configuration_of(row), number_in(row, "microseconds"));
    if (!is_new) known->second = std::min(known->second, number_in(row, "microseconds"));
  }
  std::vector<double> ratios;
  for (const TableRow& row : rows)
    if (row.at("stack").starts_with("vllm") && row.at("operation") == "mhc_pre")
      ratios.push_back(number_in(row, "microseconds") / fastest.at(configuration_of(row)));
  std::sort(ratios.begin(), ratios.end());
  const StackFactors& vllm =
      shipped_constants().kernels.stacks[static_cast<std::size_t>(Implementation::vllm)];
  EXPECT_NEAR(vllm.projection.value, ratios[(ratios.size() - 1) / 2], 5e-4);
  EXPECT_EQ(vllm.projection.low, 1);
  EXPECT_GT(vllm.projection.high, vllm.projection.value);
}

/// Each stack's kernels on each GPU, predicted by constants that have not seen the GPU.
TEST(Calibration, PredictsTheStacksOfAPartThatItHasNotSeen) {
  const Tables tables = read_tables(kSource + "/scenarios/published", shipped_constants());
  std::map<Implementation, std::vector<double>> errors;
  std::map<Implementation, int> inside;
  for (const StackKernel& row : tables.stacks) {
    if (!row.kernel.part->memory.starts_with("hbm")) continue;
    const Constants& fold = *shipped_fold(row.kernel.part->id);
    Machine machine = with_constants(*row.kernel.part, fold);
    machine.few_tokens = with_kernels_of(row.stack, *machine.few_tokens, fold);
    const Estimate<Seconds> time =
        predicted_time(LaunchTime(machine, row.kernel.operation, row.kernel.execution));
    const Seconds measured = row.kernel.seconds;
    errors[row.stack].push_back(std::max(measured / time.value, time.value / measured) - 1);
    inside[row.stack] += time.low <= measured && measured <= time.high ? 1 : 0;
  }
  EXPECT_EQ(errors.size(), 3U);
  for (auto& [stack, sorted] : errors) {
    std::sort(sorted.begin(), sorted.end());
    const auto rows = static_cast<double>(sorted.size());
    const double median = sorted[sorted.size() / 2];
    const double most = sorted[static_cast<std::size_t>(0.9 * rows)];
    const double share = inside[stack] / rows;
    fmt::print(
        "{}: {} rows, error {:.1f} % in the median, {:.1f} % at the 90th percentile, {:.1f} "
        "% inside\n",
        name(stack), rows, 100 * median, 100 * most, 100 * share);
    EXPECT_GT(share, 0.85) << name(stack);
    EXPECT_LT(median, 0.15) << name(stack);
  }
}

TEST(Calibration, WritesWhatItReads) {
  const test::TemporaryFolder folder;
  const std::string text = to_yaml(shipped_constants());
  EXPECT_EQ(to_yaml(load_constants(folder.written("constants.yaml", text))), text);
}

TEST(Calibration, ShipsAFoldForEverythingThatWasFitted) {
  for (const std::string& name : names_of_folds(some_rows())) {
    const Constants* fold = shipped_fold(name);
    ASSERT_NE(fold, nullptr) << name;
    EXPECT_EQ(fold->left_out, name);
  }
  EXPECT_EQ(shipped_constants().left_out, "");
  EXPECT_EQ(shipped_fold("mi300x"), nullptr);
}

/// An architecture that is left out is none of those whose kernels are known.
TEST(Calibration, KnowsTheKinshipOfWhatItLeavesOut) {
  for (const Part& part : some_rows().parts) {
    const Constants& fold = *shipped_fold(part.architecture);
    EXPECT_NE(kinship_of(part, fold), Kinship::same_architecture) << part.id;
  }
}

}  // namespace
}  // namespace depthcost::calibration_test

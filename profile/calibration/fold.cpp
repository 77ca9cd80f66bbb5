// An interval reaches as far as nine of ten rows that were left out need it to reach.
#include "profile/calibration/fold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "model/operations/mhc_operations.hpp"
#include "model/step/rest_of_step.hpp"
#include "profile/calibration/training_fit.hpp"

namespace depthcost::calibration {
namespace {

// The share outside both ends together, class by class. A GPU or a model that nobody has measured
// errs a little more than one that was left out of few.
constexpr double kOutside = 0.08;

// An error that is searched for lies within this factor.
constexpr double kMostError = 20;

/// Rows without what two folds leave out.
Tables without(const Tables& all, const LeftOut& left_out) {
  Tables some;
  some.parts = all.parts;
  for (MeasuredKernel row : all.kernels) {
    if (left_out.holds(*row.part)) continue;
    row.part = &some.parts[static_cast<std::size_t>(row.part - all.parts.data())];
    some.kernels.push_back(std::move(row));
  }
  for (StackKernel row : all.stacks) {
    const Part*& part = row.kernel.part;
    if (left_out.holds(*part)) continue;
    part = &some.parts[static_cast<std::size_t>(part - all.parts.data())];
    some.stacks.push_back(std::move(row));
  }
  for (const ServedStep& row : all.steps)
    if (!left_out.holds(row)) some.steps.push_back(row);
  for (const TrainedStep& row : all.trainings)
    if (!left_out.holds(row)) some.trainings.push_back(row);
  return some;
}

constexpr double kNoError = std::numeric_limits<double>::infinity();

/// The end of an error at which an interval just reaches the measurement: 1 where it does so
/// anyway, kNoError where none does. `reaches` says whether the interval with that error holds the
/// measurement.
template <class Reaches>
double needed_error(double most, const Reaches& reaches) {
  if (reaches(1)) return 1;
  if (!reaches(most)) return kNoError;
  double inside = std::log(most);
  double outside = 0;
  for (int i = 0; i < 12; ++i) {
    const double middle = 0.5 * (inside + outside);
    (reaches(std::exp(middle)) ? inside : outside) = middle;
  }
  return std::exp(inside);
}

/// The factors by which rows need an interval to be longer, down and up.
struct Needed {
  std::vector<double> low;
  std::vector<double> high;

  void add(const Needed& more) {
    low.insert(low.end(), more.low.begin(), more.low.end());
    high.insert(high.end(), more.high.begin(), more.high.end());
  }
};

/// The factor that all but half of `kOutside` of the rows need. As with every quantile of a sample,
/// one row more is counted as outside than there is. What no factor reaches is missed whatever is
/// chosen.
double factor_that_holds(std::vector<double> factors) {
  std::sort(factors.rbegin(), factors.rend());
  const auto rows = static_cast<double>(factors.size());
  auto at = static_cast<std::size_t>(std::max(0.0, std::floor(0.5 * kOutside * (rows + 1)) - 1));
  while (at + 1 < factors.size() && factors[at] == kNoError) ++at;
  return factors[at];
}

Estimate<double> error_that_holds(const Needed& needed, const Estimate<double>& otherwise) {
  if (needed.low.empty()) return otherwise;
  return {1 / factor_that_holds(needed.low), 1, factor_that_holds(needed.high),
          Evidence::published};
}

bool is_token_bound(const MeasuredKernel& row, const Constants& constants) {
  const Machine machine = with_constants(*row.part, constants);
  const TimeTerms terms = LaunchTime(machine, row.operation, row.execution).terms({});
  return terms.token >= std::max(terms.bytes, terms.operations);
}

/// Needed errors of kernels that `constants` have not seen, by regime.
struct NeededOfKernels {
  Needed token;
  Needed bytes;
};

NeededOfKernels needed_by(const std::vector<const MeasuredKernel*>& rows, Constants constants) {
  NeededOfKernels needed;
  for (const MeasuredKernel* row : rows) {
    // Where both terms are as long, one alone would shorten nothing.
    const auto with = [&](double low, double high) {
      const Estimate<double> error{low, 1, high, Evidence::published};
      constants.kernels.errors.fill({error, error});
      return predicted(*row, constants);
    };
    Needed& regime = is_token_bound(*row, constants) ? needed.token : needed.bytes;
    regime.low.push_back(needed_error(
        kMostError, [&](double factor) { return with(1 / factor, 1).low <= row->seconds; }));
    regime.high.push_back(needed_error(
        kMostError, [&](double factor) { return with(1, factor).high >= row->seconds; }));
  }
  return needed;
}

Needed needed_by(const std::vector<const ServedStep*>& rows, Constants constants) {
  Needed needed;
  for (const ServedStep* row : rows) {
    const auto with = [&](double low, double high) {
      constants.engine.errors.fill({low, 1, high, Evidence::published});
      return predicted(*row, constants);
    };
    needed.low.push_back(needed_error(
        kMostError, [&](double factor) { return with(1 / factor, 1).low <= row->seconds; }));
    needed.high.push_back(needed_error(
        kMostError, [&](double factor) { return with(1, factor).high >= row->seconds; }));
  }
  return needed;
}

/// The errors of kernels on parts of one kinship.
struct ErrorsByKinship {
  Needed token;
  Needed bytes;
};

/// Each group of rows is predicted by constants that have not seen it: they begin where all began,
/// for what only this group tells stays there.
void set_kernel_errors(const Tables& tables, const Constants& start, Constants& constants) {
  std::array<ErrorsByKinship, kEnumerators<Kinship>.size()> found;
  std::set<std::string> groups;
  for (const MeasuredKernel& row : tables.kernels) {
    groups.insert(row.part->id);
    groups.insert(row.part->architecture);
  }
  for (const std::string& group : groups) {
    const LeftOut left_out{group};
    const Constants others = fitted_kernels(tables, left_out, start);
    if (others.architectures.empty()) continue;
    std::vector<const MeasuredKernel*> rows;
    for (const MeasuredKernel& row : tables.kernels)
      if (left_out.holds(*row.part)) rows.push_back(&row);
    const NeededOfKernels needed = needed_by(rows, others);
    auto& of_kin = found[static_cast<std::size_t>(kinship_of(*rows.front()->part, others))];
    of_kin.token.add(needed.token);
    of_kin.bytes.add(needed.bytes);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    KernelErrors& errors = constants.kernels.errors[i];
    errors.token = error_that_holds(found[i].token, errors.token);
    errors.bytes = error_that_holds(found[i].bytes, errors.bytes);
  }
}

/// The median of what is over what, and what nine of ten are.
Estimate<double> factor_of(std::vector<double> ratios, const Estimate<double>& otherwise) {
  if (ratios.empty()) return otherwise;
  std::sort(ratios.begin(), ratios.end());
  const double last = static_cast<double>(ratios.size() - 1);
  const auto at = [&](double rank) { return ratios[static_cast<std::size_t>(rank)]; };
  const double median = 0.5 * (at(std::floor(0.5 * last)) + at(std::ceil(0.5 * last)));
  return {at(std::floor(0.05 * last)), median, at(std::ceil(0.95 * last)), Evidence::published};
}

/// Both were measured on the same part, so that no constant is needed to compare them.
void set_stack_factors(const Tables& tables, Constants& constants) {
  for (const Implementation stack : kEnumerators<Implementation>) {
    std::vector<double> streams;
    std::vector<double> projection;
    for (const StackKernel& row : tables.stacks) {
      if (row.stack != stack) continue;
      const bool projects = row.kernel.operation.id == operations::kMhcPre;
      (projects ? projection : streams).push_back(row.over_the_fastest);
    }
    StackFactors& factors = constants.kernels.stacks[static_cast<std::size_t>(stack)];
    factors = {factor_of(std::move(streams), factors.streams),
               factor_of(std::move(projection), factors.projection)};
  }
}

/// As set_kernel_errors(): what a group alone tells of engines stays where all began.
void set_step_error(const Tables& tables, const Constants& start, Constants& constants) {
  Constants unfitted = constants;
  unfitted.engine = start.engine;
  std::array<Needed, kEnumerators<StepKind>.size()> needed;
  std::set<std::string> groups;
  for (const ServedStep& row : tables.steps) {
    groups.insert(row.model);
    groups.insert(row.gpu);
  }
  for (const std::string& group : groups) {
    const LeftOut left_out{group};
    Constants others = fitted_steps(tables, left_out, unfitted);
    // It comes on top: few rows have many sequences, and all others would pay for them.
    others.engine.sequence_time = {};
    std::array<std::vector<const ServedStep*>, kEnumerators<StepKind>.size()> rows;
    for (const ServedStep& row : tables.steps)
      if (left_out.holds(row))
        rows[static_cast<std::size_t>(step_kind(*row.study.model.architecture))].push_back(&row);
    for (std::size_t i = 0; i < rows.size(); ++i) needed[i].add(needed_by(rows[i], others));
  }
  for (std::size_t i = 0; i < needed.size(); ++i)
    constants.engine.errors[i] = error_that_holds(needed[i], constants.engine.errors[i]);
}

void set_training_error(const Tables& tables, const Constants& start, Constants& constants) {
  Constants unfitted = constants;
  unfitted.engine.training = start.engine.training;
  std::array<Needed, kEnumerators<StepKind>.size()> needed;
  std::set<std::string> groups;
  for (const TrainedStep& row : tables.trainings) {
    groups.insert(row.model);
    groups.insert(row.gpu);
  }
  for (const std::string& group : groups) {
    const LeftOut left_out{group};
    const Constants others = fitted_training(tables.trainings, left_out, unfitted);
    for (const TrainingLine& line : training_lines(tables.trainings, others)) {
      if (!left_out.holds(*line.measured)) continue;
      const double error = layers_error(line, others);
      Needed& of_kind = needed[static_cast<std::size_t>(step_kind(*line.study.model.architecture))];
      of_kind.low.push_back(std::max(1.0, 1 / error));
      of_kind.high.push_back(std::max(1.0, error));
    }
  }
  TrainingConstants& training = constants.engine.training;
  for (std::size_t i = 0; i < needed.size(); ++i)
    training.errors[i] = error_that_holds(needed[i], training.errors[i]);
}

}  // namespace

std::vector<std::string> names_of_folds(const Tables& tables) {
  std::set<std::string> names;
  for (const Part& part : tables.parts) {
    names.insert(part.id);
    names.insert(part.architecture);
  }
  for (const ServedStep& row : tables.steps) names.insert(row.model);
  for (const TrainedStep& row : tables.trainings) {
    names.insert(row.model);
    names.insert(row.gpu);
  }
  return {names.begin(), names.end()};
}

Constants fold(const Tables& tables, const LeftOut& left_out, const Constants& start) {
  const Tables seen = without(tables, left_out);
  Constants constants = fitted_kernels(seen, left_out, start);
  constants = fitted_steps(seen, left_out, constants);
  constants = fitted_training(seen.trainings, left_out, constants);
  constants.name = left_out.name.empty() ? "all" : "without " + left_out.name;
  constants.left_out = left_out.name;
  set_kernel_errors(seen, start, constants);
  set_stack_factors(seen, constants);
  set_step_error(seen, start, constants);
  set_training_error(seen, start, constants);
  return constants;
}

}  // namespace depthcost::calibration

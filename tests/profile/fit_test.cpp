// A fit finds the constants that samples were made from, and refuses bad samples.
#include <gtest/gtest.h>

#include <sstream>

#include "profile/profile.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::fit_test {
namespace {

class Fit : public testing::Test {
 protected:
  Profile fitted(const test::SyntheticRun& run = {}) const {
    return fit(read_samples(folder_.written("s.json", test::synthetic_samples(run))));
  }

  /// Samples in which the times of one mix vary: each round takes `more` longer than the one
  /// before.
  Samples widened(const Mix& mix, double more = 0.1) const {
    Samples samples = read_samples(folder_.written("s.json", test::synthetic_samples()));
    for (CeilingSample& sample : samples.ceilings)
      if (sample.mix == mix && sample.level == MemoryLevel::memory)
        for (std::size_t i = 0; i < sample.seconds.size(); ++i)
          sample.seconds[i] *= 1 + more * static_cast<double>(i);
    return samples;
  }

  const test::TemporaryFolder folder_;
};

template <class Q>
void expect_near(const Estimate<Q>& fitted, const Estimate<Q>& truth) {
  EXPECT_NEAR(fitted.value.value / truth.value.value, 1, 0.01);
  EXPECT_LE(fitted.low.value, fitted.value.value);
  EXPECT_LE(fitted.value.value, fitted.high.value);
}

TEST_F(Fit, RecoversTheConstantsOfASyntheticMachine) {
  const Machine truth = test::synthetic_machine();
  const Machine found = fitted().machine;
  ASSERT_EQ(found.exact_bandwidth.size(), truth.exact_bandwidth.size());
  for (const ExactMixBandwidth& entry : found.exact_bandwidth)
    for (const ExactMixBandwidth& other : truth.exact_bandwidth)
      if (entry.mix == other.mix) expect_near(entry.bandwidth, other.bandwidth);
  ASSERT_EQ(found.floors.size(), truth.floors.size());
  for (const LaunchFloor& floor : found.floors)
    EXPECT_NEAR(floor.floor.value.value, floor.skeleton == Skeleton::elementwise ? 50e-9 : 120e-9,
                1e-9);
  ASSERT_EQ(found.core->rates.size(), truth.core->rates.size());
  for (std::size_t i = 0; i < found.core->rates.size(); ++i)
    expect_near(found.core->rates[i].per_element, truth.core->rates[i].per_element);
  EXPECT_EQ(found.core->form, CoreForm::passes);
  EXPECT_NEAR(found.core->exposed, truth.core->exposed, 0.05);
}

TEST_F(Fit, TakesTheBestVariantOfEachStream) {
  for (const Ceiling& ceiling : fitted().ceilings)
    EXPECT_NE(ceiling.variant.find("by_line"), std::string::npos) << ceiling.variant;
}

TEST_F(Fit, PredictsWhatWasNotUsedWithinTheNoise) {
  const Profile profile = fitted();
  for (const Accuracy& accuracy : profile.accuracy)
    if (accuracy.ceilings == Ceilings::same_mix) {
      EXPECT_LT(accuracy.errors.p90, 0.02);
    }
  EXPECT_LE(profile.coverage.share.low, 0.9);
  EXPECT_GE(profile.coverage.share.high, 0.9);
  EXPECT_LT(profile.noise, 0.02);
}

TEST_F(Fit, GivesTheSameBytesForTheSameSamples) { EXPECT_EQ(to_yaml(fitted()), to_yaml(fitted())); }

TEST_F(Fit, DoesNotFitTheKernels) {
  const Profile honest = fitted();
  const Profile slow = fitted({.slowdown = 1.3});
  EXPECT_EQ(honest.machine.exact_bandwidth.front().bandwidth.value,
            slow.machine.exact_bandwidth.front().bandwidth.value);
  EXPECT_GT(slow.accuracy.front().errors.median, 0.1);
}

TEST_F(Fit, RefusesAParameterThatIsNoNumber) {
  try {
    fitted({.noise = 0.8});
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_NE(error.message().find("more than 30 %: measure more rounds, on a quieter machine"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Fit, TakesAVariantThatIsSteadyBeforeAFasterOneThatIsNot) {
  const Mix triad{2, 1, 0};
  const Samples steady = read_samples(folder_.written("s.json", test::synthetic_samples()));
  const auto is_triad = [&](const auto& ceiling) {
    return ceiling.mix == triad && ceiling.level == MemoryLevel::memory && ceiling.threads == 0;
  };
  const auto with_slower = [&](double times) {
    Samples samples = widened(triad);
    for (CeilingSample slower : steady.ceilings) {
      if (!is_triad(slower)) continue;
      slower.name += "/slower";
      for (double& seconds : slower.seconds) seconds *= times;
      samples.ceilings.push_back(slower);
    }
    return samples;
  };
  const auto chosen = [&](double times) {
    const std::vector<Ceiling> ceilings = fit(with_slower(times)).ceilings;
    return std::find_if(ceilings.begin(), ceilings.end(), is_triad)->variant;
  };
  EXPECT_TRUE(chosen(1.2).ends_with("/slower"));
  EXPECT_FALSE(chosen(1.5).ends_with("/slower")) << "far behind, it is no ceiling";
}

/// Nine copies may be made one after the other; one copy is not nine.
TEST_F(Fit, TakesFewerStreamsInTheSameProportions) {
  const Mix copy{1, 1, 0};
  const Mix copies{9, 9, 0};
  const Samples samples = read_samples(folder_.written("s.json", test::synthetic_samples()));
  std::vector<CeilingSample> added;
  for (const CeilingSample& sample : samples.ceilings)
    if (sample.mix == copy && sample.level == MemoryLevel::memory && sample.threads == 0) {
      added.push_back(sample);
      added.back().mix = copies;
    }
  const auto ceiling_with = [&](double slower, const Mix& mix) {
    Samples changed = samples;
    for (CeilingSample sample : added) {
      for (double& seconds : sample.seconds) seconds *= slower;
      changed.ceilings.push_back(sample);
    }
    const std::vector<Ceiling> ceilings = measured_ceilings(changed);
    const auto found = std::find_if(ceilings.begin(), ceilings.end(), [&](const Ceiling& ceiling) {
      return ceiling.mix == mix && ceiling.level == MemoryLevel::memory && ceiling.threads == 0;
    });
    return found->bandwidth.value.value;
  };
  const double alone = ceiling_with(1, copy);
  EXPECT_EQ(ceiling_with(1.5, copies), alone);
  EXPECT_EQ(ceiling_with(1.5, copy), alone);
  EXPECT_GT(ceiling_with(0.5, copies), 1.9 * alone);
  EXPECT_EQ(ceiling_with(0.5, copy), alone);
}

TEST_F(Fit, NamesWhatIsNoNumberNotAtAnyLength) {
  Samples samples = widened({2, 1, 0}, 0.3);
  for (CeilingSample& sample : samples.ceilings) sample.name.append(1000, 'x');
  try {
    fit(samples);
    FAIL() << "nothing was refused";
  } catch (const InputError& error) {
    EXPECT_EQ(
        error.message(),
        "invalid samples of 'cpu/ceiling/r:2/w:1/in_place:0/memory/by_line/ahead:1024/cac...' "
        "(the 90 % interval of their lower quartile is 68 % wide, more than 30 %: measure "
        "more rounds, on a quieter machine)");
  }
}

TEST_F(Fit, RefusesAnIntervalOfTooFewKernels) {
  const auto with_kernels = [this](std::size_t wanted) {
    Samples samples = read_samples(folder_.written("s.json", test::synthetic_samples()));
    std::erase_if(samples.kernels, [&, kept = std::size_t{0}](const KernelSample& kernel) mutable {
      return kernel.is_again || cases_of(kernel) != Cases::calibration || ++kept > wanted;
    });
    return samples;
  };
  EXPECT_EQ(fit(with_kernels(19)).accuracy.front().errors.cases, 19U);
  for (const std::size_t wanted : {0U, 1U, 18U}) try {
      fit(with_kernels(wanted));
      FAIL() << "nothing was refused";
    } catch (const InputError& error) {
      EXPECT_EQ(error.message(),
                "too few samples (" + std::to_string(wanted) +
                    " of at least 19 kernels of the calibration shapes: a 90 % interval leaves out "
                    "5 % on either side)");
    }
}

TEST(Coverage, IsWarnedOfWhereItIsNotWhatAnIntervalPromises) {
  EXPECT_EQ(coverage_warning({0.90, 0.95, 1}), "");
  EXPECT_EQ(coverage_warning({0.80, 0.85, 0.90}), "");
  EXPECT_EQ(coverage_warning(binomial_share(0, 0)), "");
  EXPECT_EQ(
      coverage_warning({0.462, 0.6, 0.724}),
      "The interval does not hold 90 %: of cases that it was not fitted to, it holds 46.2 % to "
      "72.4 %.");
  EXPECT_NE(coverage_warning({0.95, 0.98, 1}), "");
}

TEST_F(Fit, LeavesOutAMixOfItsOwnThatIsNoNumber) {
  const auto mixes_of = [](const Profile& profile) {
    std::vector<Mix> mixes;
    for (const ExactMixBandwidth& entry : profile.machine.exact_bandwidth)
      mixes.push_back(entry.mix);
    return mixes;
  };
  const Mix post{5, 4, 4};
  std::vector<Mix> others = mixes_of(fitted());
  ASSERT_EQ(std::erase(others, post), 1U);
  EXPECT_EQ(mixes_of(fit(widened(post))), others);
}

/// Triad, and the mix of the primitive `mix`: a machine that is never quiet gets a profile, too.
TEST_F(Fit, KeepsAndMarksANeededMixThatIsUnsteady) {
  for (const Mix mix : {Mix{2, 1, 0}, Mix{8, 1, 0}}) {
    const Profile profile = fit(widened(mix));
    const auto kept =
        std::find_if(profile.ceilings.begin(), profile.ceilings.end(), [&](const Ceiling& ceiling) {
          return ceiling.mix == mix && ceiling.level == MemoryLevel::memory && !ceiling.threads;
        });
    ASSERT_NE(kept, profile.ceilings.end());
    EXPECT_FALSE(is_steady(kept->bandwidth));
    EXPECT_NE(to_yaml(profile).find("; unsteady, "), std::string::npos);
    EXPECT_THROW(fit(widened(mix, 0.3)), InputError) << "so wide that it says too little";
  }
  EXPECT_EQ(to_yaml(fitted()).find("unsteady"), std::string::npos);
}

TEST_F(Fit, RefusesAPrimitiveThatWasMeasuredTwice) {
  std::string text = test::synthetic_samples();
  const std::string name = "\"primitive\":\"mix\",\"dtype\":\"f32\",\"level\":\"L1\"";
  text.replace(text.find(name), name.size(),
               "\"primitive\":\"mix\",\"dtype\":\"f32\",\"level\":\"L2\"");
  EXPECT_THROW(fit(read_samples(folder_.written("s.json", text))), InputError);
}

/// Tables of before Gated Residual have no products of matrices.
TEST_F(Fit, TakesProductsOfMatricesWhereTheyWereMeasured) {
  std::string text = test::synthetic_samples();
  const Core without = *fit(read_samples(folder_.written("s.json", text))).machine.core;
  EXPECT_EQ(without.rates.size(), 24U);
  std::istringstream lines(text);
  std::string with;
  for (std::string line; std::getline(lines, line); with += line + "\n")
    if (line.find("\"primitive\":\"multiply\"") != std::string::npos) {
      std::string product = line;
      for (auto at = product.find("multiply"); at != std::string::npos;
           at = product.find("multiply"))
        product.replace(at, 8, "product");
      with += product + (product.ends_with(',') ? "\n" : ",\n");
    }
  const Core core = *fit(read_samples(folder_.written("p.json", with))).machine.core;
  EXPECT_EQ(core.rates.size(), 28U);
  EXPECT_EQ(std::count_if(core.rates.begin(), core.rates.end(),
                          [](const CoreRate& r) { return r.primitive == Primitive::product; }),
            4);
}

TEST_F(Fit, CallsStolenTimeNoMeasurement) {
  std::string text = test::synthetic_samples();
  text.replace(text.find("\"rounds\": 5"), 11, "\"rounds\": 4");
  EXPECT_THROW(fit(read_samples(folder_.written("s.json", text))), MeasurementInvalid);
}

TEST(Shares, HaveWilsonsInterval) {
  // 8 of 10: 0.49 to 0.94, Brown, Cai, DasGupta 2001.
  const auto unknown = binomial_share(0, 0);
  EXPECT_EQ(unknown.low, 0);
  EXPECT_EQ(unknown.high, 1);
  const auto share = binomial_share(8, 10);
  EXPECT_NEAR(share.low, 0.4902, 1e-4);
  EXPECT_NEAR(share.high, 0.9433, 1e-4);
}

TEST(Quantiles, LieBetweenTheRanks) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.3), 7);
}

TEST(TypicalTimes, HaveAnIntervalThatNarrowsWithTheSpread) {
  const std::vector<double> wide{1, 2, 3, 4, 5};
  const std::vector<double> narrow{2.9, 3, 3, 3, 3.1};
  EXPECT_GT(relative_width(typical_time(wide)), relative_width(typical_time(narrow)));
  EXPECT_EQ(typical_time(wide).value.value, 2);
}

}  // namespace
}  // namespace depthcost::profile::fit_test

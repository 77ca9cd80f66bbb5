// Extends tests/kernels/cpu/accuracy.hpp by what tensor cores may lose. They take weights and phi
// as two bf16, which loses 2^-17 of each term, and add with a little less precision than float.
#pragma once

#include "tests/kernels/cpu/accuracy.hpp"

namespace depthcost::test {

/// Largest relative L2 error of coefficients in float.
inline constexpr double kTensorCoreTolerance = 2e-3;
/// A share of the root mean square. Elements whose terms cancel to less count as if they had this
/// size.
inline constexpr double kCancelled = 0x1p-8;

/// The accuracy that the outputs of a problem must have.
struct Accuracy {
  double largest_logit = 0;
  double float_tolerance = 0;  // instead of that of float_tolerance(largest_logit), if not 0
};

/// The accuracy of mHC, whose coefficients from bf16 come from tensor cores.
template <class T>
inline constexpr Accuracy kMhcAccuracy{.float_tolerance =
                                           sizeof(T) == 2 ? kTensorCoreTolerance : 0};

/// Expects a value that is no output to be unchanged.
template <class T>
void expect_untouched(T stored, T before, const std::string& what) {
  EXPECT_EQ(0, std::memcmp(&stored, &before, sizeof(T))) << what << " was written";
}

/// If outputs are too few for a statistic, each must be within one unit in the last place.
inline void expect_within_an_ulp(const Tensor<Bf16>& actual, const Tensor<Bf16>& expected,
                                 const std::vector<double>& exact, const std::string& what) {
  SquaredError size;
  double count = 0;
  for (const double value : exact) {
    if (std::isnan(value)) continue;
    size.add(0, value);
    ++count;
  }
  const double smallest = kCancelled * std::sqrt(size.scale / std::max(count, 1.0));
  for (std::size_t i = 0; i < expected.count(); ++i) {
    const std::size_t token = i / expected.size() % expected.num_tokens();
    const std::size_t row = i / expected.size() / expected.num_tokens();
    const Bf16 stored = actual.at(row, token)[i % expected.size()];
    const std::string where = what + ": element " + std::to_string(i);
    if (std::isnan(exact[i]))
      expect_untouched(stored, expected.data()[i], where);
    else
      ASSERT_LE(std::abs(reference::to_double(stored) - exact[i]), bf16_ulp(exact[i], smallest))
          << where;
  }
}

inline void expect_within(double tolerance, const Tensor<float>& actual,
                          const Tensor<float>& expected, const std::vector<double>& exact,
                          const std::string& what) {
  SquaredError total;
  for (std::size_t i = 0; i < expected.count(); ++i) {
    const std::size_t token = i / expected.size() % expected.num_tokens();
    const std::size_t row = i / expected.size() / expected.num_tokens();
    const float stored = actual.at(row, token)[i % expected.size()];
    if (std::isnan(exact[i]))
      expect_untouched(stored, expected.data()[i], what);
    else
      total.add(reference::to_double(stored), exact[i]);
  }
  EXPECT_LE(total.relative(), tolerance) << what;
}

template <class T>
void expect_accurate_on_device(const Tensor<T>& actual, const Tensor<T>& expected,
                               const RecordingAccess& access, const Accuracy& accuracy, double lost,
                               const std::string& what) {
  const std::vector<double>& exact = access.exact(expected);
  if constexpr (std::is_same_v<T, float>) {
    if (accuracy.float_tolerance > 0)
      return expect_within(accuracy.float_tolerance, actual, expected, exact, what);
  } else {
    if (expected.count() < kPooled) return expect_within_an_ulp(actual, expected, exact, what);
  }
  expect_accurate(actual, expected, access, accuracy.largest_logit, lost, what);
}

}  // namespace depthcost::test

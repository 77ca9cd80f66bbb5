// How far a kernel's results are from the reference's. The measure is relative L2, compared with
// the error of rounding the exact result to the storage type.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/reference/accessor.hpp"
#include "tests/kernels/tensors/tensor.hpp"

namespace depthcost::test {

/// An accessor for the reference that also keeps the values of a tensor before they are rounded.
class RecordingAccess : public reference::DirectAccess {
 public:
  template <class T>
  void record(const Tensor<T>& tensor) {
    const auto* begin = reinterpret_cast<const char*>(tensor.data());
    records_.push_back({begin, begin + tensor.bytes(), std::vector<double>(tensor.count(), kNone)});
  }

  template <class T>
  void store(T* element, double value) {
    const auto* address = reinterpret_cast<const char*>(element);
    for (Record& record : records_)
      if (record.begin <= address && address < record.end)
        record.exact[static_cast<std::size_t>(address - record.begin) / sizeof(T)] = value;
    DirectAccess::store(element, value);
  }

  /// NaN where nothing was stored.
  template <class T>
  const std::vector<double>& exact(const Tensor<T>& tensor) const {
    for (const Record& record : records_)
      if (record.begin == reinterpret_cast<const char*>(tensor.data()) &&
          record.exact.size() == tensor.count())
        return record.exact;
    throw std::logic_error("no record of this tensor");
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  struct Record {
    const char* begin;
    const char* end;
    std::vector<double> exact;
  };
  std::vector<Record> records_;
};

/// Sums of squares of an error and of the values that it is relative to.
struct SquaredError {
  double error = 0;
  double scale = 0;
  double count = 0;

  void add(double actual, double exact) {
    error += (actual - exact) * (actual - exact);
    scale += exact * exact;
    ++count;
  }
  /// What is beyond an error of `lost` in each value. Infinite for NaN, and for such an error in
  /// values that should be zero.
  double relative(double lost = 0) const {
    const double beyond = std::sqrt(error) - lost * std::sqrt(count);
    if (beyond <= 0) return 0;
    const double ratio = beyond / std::sqrt(scale);
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }
};

/// Relative L2 of what f32 accumulation may lose for logits up to `largest_logit`.
inline double float_tolerance(double largest_logit) { return 1e-5 + 4 * 0x1p-24 * largest_logit; }

inline constexpr double kFloorFactor = 1.05;
/// The fewest outputs for which a relative error is a statistic.
inline constexpr std::size_t kPooled = 10000;

/// One unit in the last place of a bf16 near `value`, or near `smallest` if that is larger.
inline double bf16_ulp(double value, double smallest) {
  return std::ldexp(1.0, std::ilogb(std::max(std::abs(value), smallest)) - 7);
}

/// `actual` (any number of tokens) against the reference's `expected` of at most kDistinctTokens
/// and what that was before rounding. `lost` is what the kernel may lose of each element's terms:
/// where they cancel, it is much of what is left.
template <class T>
void expect_accurate(const Tensor<T>& actual, const Tensor<T>& expected,
                     const RecordingAccess& access, double largest_logit, double lost,
                     const std::string& what) {
  const std::vector<double>& exact = access.exact(expected);
  SquaredError total;
  SquaredError floor;
  double worst_row = 0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < expected.num_rows(); ++row)
    for (std::size_t token = 0; token < expected.num_tokens(); ++token) {
      SquaredError of_row;
      const T* stored = actual.at(row, token);
      const std::size_t first = (row * expected.num_tokens() + token) * expected.size();
      if (std::isnan(exact[first])) {
        // This is no output, so it must not have changed.
        ASSERT_EQ(0, std::memcmp(stored, expected.at(row, token), expected.size() * sizeof(T)))
            << what << ": row " << row << " of token " << token << " was written";
        continue;
      }
      for (std::size_t i = 0; i < expected.size(); ++i) {
        of_row.add(reference::to_double(stored[i]), exact[first + i]);
        const T rounded = reference::round_to<T>(exact[first + i]);
        floor.add(reference::to_double(rounded), exact[first + i]);
      }
      count += expected.size();
      total.error += of_row.error;
      total.scale += of_row.scale;
      total.count += of_row.count;
      if (expected.size() >= 64) worst_row = std::max(worst_row, of_row.relative(lost));
    }
  if (count == 0) return;
  if (std::is_same_v<T, float>) {
    EXPECT_LE(total.relative(lost), float_tolerance(largest_logit)) << what;
    EXPECT_LE(worst_row, 4 * float_tolerance(largest_logit)) << what;
  } else if (count >= kPooled) {
    EXPECT_LE(total.relative(lost), kFloorFactor * floor.relative()) << what;
    EXPECT_LE(worst_row, 2 * floor.relative()) << what;
  } else {
    const double rms = std::sqrt(total.scale / static_cast<double>(count));
    for (std::size_t i = 0; i < expected.count(); ++i) {
      if (std::isnan(exact[i])) continue;
      const std::size_t token = i / expected.size() % expected.num_tokens();
      const std::size_t row = i / expected.size() / expected.num_tokens();
      const double value = reference::to_double(actual.at(row, token)[i % expected.size()]);
      ASSERT_LE(std::abs(value - exact[i]), bf16_ulp(exact[i], 1e-3 * rms) + lost)
          << what << ": element " << i;
    }
  }
}

/// Expects tokens after the distinct ones to equal the tokens that they repeat.
template <class T>
void expect_repeated(const Tensor<T>& tensor, const std::string& what) {
  for (std::size_t row = 0; row < tensor.num_rows(); ++row)
    for (std::size_t token = kDistinctTokens; token < tensor.num_tokens(); ++token)
      ASSERT_EQ(0, std::memcmp(tensor.at(row, token), tensor.at(row, token % kDistinctTokens),
                               tensor.size() * sizeof(T)))
          << what << ": row " << row << " of token " << token;
}

}  // namespace depthcost::test

// The numbers that a depth mixing matrix follows from: gates, attention weights, coefficients of
// streams. What a weights file holds, or what is drawn at random.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"

namespace depthcost {

using WeightRow = std::vector<double>;
using WeightRows = std::vector<WeightRow>;

/// What must hold for the numbers of a table.
enum class WeightRule {
  any,                // finite
  share,              // in [0, 1]
  distribution,       // shares, each row sums to one
  doubly_stochastic,  // shares; all rows of a matrix or all its columns sum to one, as Sinkhorn's
                      // last step leaves them
};

/// How a table is written.
enum class WeightLayout {
  list,      // one row of numbers
  rows,      // a list of rows
  matrices,  // a list of square matrices, each a list of rows; here a row is a whole matrix
};

/// One table of a scheme.
struct WeightTable {
  std::string_view name;     // "gates"
  std::string_view meaning;  // "g_2 .. g_L"
  WeightLayout layout = WeightLayout::rows;
  WeightRule rule = WeightRule::any;
  std::vector<Count> row_sizes;  // a row may be empty
  double low = 0;                // random numbers of rule `any` are uniform in [low, high)
  double high = 1;
  bool per_token = false;  // may be written for each token; it is the mean that counts
};

/// Rows by the name of their table, all of the sizes that the table says.
class MixingWeights {
 public:
  const WeightRows& rows(std::string_view table) const { return tables_.find(table)->second; }
  /// The one row of a list.
  const WeightRow& list(std::string_view table) const { return rows(table).front(); }
  void set(std::string_view table, WeightRows rows) {
    tables_.insert_or_assign(std::string(table), std::move(rows));
  }

 private:
  std::map<std::string, WeightRows, std::less<>> tables_;
};

/// How far a sum may be from one: twice the rounding of bf16 shares. [ours]
inline constexpr double kSumTolerance = 0x1p-8;

/// What is wrong with a row of `table`: "sums to 0.98, not to one"; empty if nothing is.
std::string row_problem(const WeightTable& table, const WeightRow& row);

/// Rows that keep the table's rule, the same on every machine. Distributions are uniform numbers
/// over their sum, doubly stochastic matrices mixtures of m random permutations (Birkhoff).
MixingWeights random_weights(std::span<const WeightTable> tables, std::uint64_t seed);

}  // namespace depthcost

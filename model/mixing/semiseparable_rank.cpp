// Neighbouring cuts differ by a row and a column, so that ranks differ by one at most, and a cut is
// kept as the few columns that span it. The only file that includes Eigen: it compiles slowly.
#include "model/mixing/semiseparable_rank.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <map>
#include <utility>

namespace depthcost {
namespace {

using Dense = Eigen::MatrixXd;

/// Below this a direction is rounding. A walk over L cuts drops as often: L of them stay below
/// kRankTolerance.
constexpr double kDropped = 1e-13;

Eigen::ColPivHouseholderQR<Dense> decomposed(const Dense& A, double threshold) {
  Eigen::ColPivHouseholderQR<Dense> qr;
  qr.setThreshold(threshold);
  qr.compute(A);
  return qr;
}

Count rank_of(const Dense& A) { return decomposed(A, kRankTolerance).rank(); }

/// Rows k..L and columns 0..k-1 of a lower triangular matrix, k = 1..L.
Dense cut_of(const Dense& M, Count k) { return M.block(k - 1, 0, M.rows() - k + 1, k); }

/// A = columns * (orthonormal rows), with as few columns as A's rank.
struct Spanned {
  Dense columns;
  Count rank = 0;
};

Spanned spanned(const Dense& A) {
  const auto qr = decomposed(A, kDropped);
  const Eigen::Index kept = qr.rank();
  if (kept == 0) return {Dense(A.rows(), 0), 0};
  const auto pivots = qr.matrixQR().diagonal().cwiseAbs();
  Spanned result;
  result.rank = (pivots.array() > kRankTolerance * qr.maxPivot()).count();
  // A P = Q R, and R^T = Y S with orthonormal Y, so that A = (Q S^T) (Y^T P^T).
  const Dense R = qr.matrixR().topRows(kept).template triangularView<Eigen::Upper>();
  const Eigen::HouseholderQR<Dense> of_rows(R.transpose());
  const Dense S = of_rows.matrixQR().topRows(kept).template triangularView<Eigen::Upper>();
  result.columns = Dense::Zero(A.rows(), kept);
  result.columns.topRows(kept) = S.transpose();
  result.columns.applyOnTheLeft(qr.householderQ());
  return result;
}

/// The matrix mirrored at its other diagonal: lower triangular again, cut k is cut L - k + 1,
/// transposed.
Dense mirrored(const Dense& M) { return M.reverse().transpose(); }

/// For each cut k = 1..L, at [k]: how many of its columns differ and are not zero.
std::vector<Count> different_columns(const Dense& M) {
  const auto L = static_cast<std::size_t>(M.rows());
  std::vector<Count> different(L + 1);
  // Columns with the same number are equal from row k on; 0 is zero.
  std::vector<std::size_t> number(L);
  for (std::size_t k = L; k >= 1; --k) {
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> numbers{{{0, 0}, 0}};
    for (std::size_t i = 0; i < k; ++i) {
      const double value =
          M(static_cast<Eigen::Index>(k - 1), static_cast<Eigen::Index>(i)) + 0.0;  // -0 is 0
      const auto key = std::pair(number[i], Eigen::numext::bit_cast<std::uint64_t>(value));
      number[i] = numbers.try_emplace(key, numbers.size()).first->second;
    }
    different[k] = static_cast<Count>(numbers.size()) - 1;
  }
  return different;
}

/// For each cut, at [k]: no rank can be larger.
std::vector<Count> rank_bounds(const Dense& M) {
  std::vector<Count> bounds = different_columns(M);
  const std::vector<Count> rows = different_columns(mirrored(M));
  const std::size_t L = bounds.size() - 1;
  for (std::size_t k = 1; k <= L; ++k) bounds[k] = std::min(bounds[k], rows[L - k + 1]);
  return bounds;
}

void keep_larger(SemiseparableRank& best, Count rank, Count cut) {
  if (rank > best.rank) best = {rank, cut};
}

/// Raises `best` by the cuts behind `start`.
void walk(const Dense& M, const std::vector<Count>& bounds, Count start, SemiseparableRank& best) {
  const Count L = M.rows();
  Spanned here = spanned(cut_of(M, start));
  for (Count k = start, next = start + 1; next <= L; ++next) {
    const Count possible = std::min(bounds[static_cast<std::size_t>(next)], here.rank + next - k);
    if (possible <= best.rank) continue;
    // The columns that span the cut, without its first rows, and those between.
    Dense wider(L - next + 1, here.columns.cols() + next - k);
    wider.leftCols(here.columns.cols()) = here.columns.bottomRows(L - next + 1);
    wider.rightCols(next - k) = M.block(next - 1, k, L - next + 1, next - k);
    here = spanned(wider);
    k = next;
    keep_larger(best, here.rank, k);
  }
}

}  // namespace

SemiseparableRank semiseparable_rank(const MixingMatrix& matrix) {
  const Count L = matrix.num_layers();
  const Dense M =
      Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          matrix.values().data(), L, L);
  const Count middle = (L + 1) / 2;
  SemiseparableRank best{rank_of(cut_of(M, middle)), middle};
  if (best.rank == middle) return best;
  const std::vector<Count> bounds = rank_bounds(M);
  const auto largest = std::max_element(bounds.begin(), bounds.end());
  if (*largest <= best.rank) return best;
  const Count promising = largest - bounds.begin();
  keep_larger(best, rank_of(cut_of(M, promising)), promising);
  if (*largest <= best.rank) return best;
  walk(M, bounds, middle, best);
  std::vector<Count> mirrored_bounds(bounds.rbegin(), bounds.rend() - 1);
  mirrored_bounds.insert(mirrored_bounds.begin(), 0);
  const Count known = best.rank;
  SemiseparableRank other{known, 0};
  walk(mirrored(M), mirrored_bounds, L - middle + 1, other);
  if (other.rank > known) best = {other.rank, L - other.cut + 1};
  return best;
}

}  // namespace depthcost

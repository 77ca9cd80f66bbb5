// Pairwise covering: few cases in which every two levels of every two factors meet.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <tuple>
#include <vector>

namespace depthcost::test {

/// One level per factor.
using Levels = std::vector<std::size_t>;

/// Greedy: always the case with the most pairs that have not met. Pairs that only infeasible cases
/// could join never meet.
inline std::vector<Levels> covering_cases(
    const std::vector<Levels>& factors,
    const std::function<bool(const Levels&)>& is_feasible = [](const Levels&) { return true; }) {
  std::vector<Levels> all{{}};
  for (const Levels& factor : factors) {
    std::vector<Levels> longer;
    for (const Levels& begun : all)
      for (const std::size_t level : factor) {
        longer.push_back(begun);
        longer.back().push_back(level);
      }
    all = std::move(longer);
  }
  std::erase_if(all, [&](const Levels& levels) { return !is_feasible(levels); });

  using Meeting = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::set<Meeting> met;
  const auto num_new = [&](const Levels& levels) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < levels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) count += met.count({i, j, levels[i], levels[j]}) == 0;
    return count;
  };
  std::vector<Levels> chosen;
  for (;;) {
    const Levels* best = nullptr;
    std::size_t most = 0;
    for (const Levels& levels : all)
      if (const std::size_t count = num_new(levels); count > most) {
        best = &levels;
        most = count;
      }
    if (best == nullptr) return chosen;
    chosen.push_back(*best);
    for (std::size_t i = 0; i < best->size(); ++i)
      for (std::size_t j = 0; j < i; ++j) met.insert({i, j, (*best)[i], (*best)[j]});
  }
}

/// Sizes in which every operation is run, and the bytes that a case may take.
inline constexpr std::size_t kMostCaseBytes = std::size_t{256} << 20;
inline const Levels kTokenLevels{0, 1, 2, 3, 63, 64, 65, 8192};
inline const Levels kHiddenLevels{1, 7, 8, 2304, 4096, 7168, 16384};
inline const Levels kSourceLevels{0, 1, 2, 8, 9, 64, 192};
inline const Levels kStreamLevels{1, 2, 4, 8};
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::size_t kCaseBytes = std::size_t{32} << 20;
#else
inline constexpr std::size_t kCaseBytes = kMostCaseBytes;
#endif

}  // namespace depthcost::test

// Pairwise covering: few cases in which every two levels of every two factors meet.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <utility>
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

  // Each level of each factor has a number, and each pair of numbers a mark where they have met.
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> numbers;
  for (const Levels& levels : all)
    for (std::size_t i = 0; i < levels.size(); ++i)
      numbers.try_emplace({i, levels[i]}, numbers.size());
  std::vector<Levels> numbered = all;
  for (Levels& levels : numbered)
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = numbers.at({i, levels[i]});
  std::vector<char> met(numbers.size() * numbers.size(), 0);
  const auto for_each_pair = [&](const Levels& levels, const auto& visit) {
    for (std::size_t i = 0; i < levels.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) visit(met[levels[i] * numbers.size() + levels[j]]);
  };
  std::vector<Levels> chosen;
  for (;;) {
    std::size_t best = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t count = 0;
      for_each_pair(numbered[i], [&](char has_met) { count += has_met == 0; });
      if (count > most) {
        best = i;
        most = count;
      }
    }
    if (most == 0) return chosen;
    chosen.push_back(all[best]);
    for_each_pair(numbered[best], [](char& has_met) { has_met = 1; });
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

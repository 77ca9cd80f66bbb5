// Optimal string alignment by the usual recurrence, which needs three rows.
#include "scenarios/text/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace depthcost {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j] is the distance between the first i letters of a and the first j letters of b.
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> row_above(row.size());
  std::vector<std::size_t> row_above_that(row.size());
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(row_above_that, row_above);
    std::swap(row_above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replacement = row_above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row_above[j] + 1, row[j - 1] + 1, replacement});
      const bool are_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_swapped) row[j] = std::min(row[j], row_above_that[j - 2] + 1);
    }
  }
  return row.back();
}

namespace {

/// Small letters and digits alone, so that "H100-SXM" and "h100_sxm" are one word.
std::string bare(std::string_view word) {
  std::string letters;
  for (const char c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// The shortest name that goes on where the word ends: "h100" is "h100_sxm", not "h100_pcie".
std::string continued(const std::string& word, std::span<const std::string> candidates) {
  std::string shortest;
  for (const std::string& candidate : candidates)
    if (bare(candidate).starts_with(word) &&
        (shortest.empty() || candidate.size() < shortest.size()))
      shortest = candidate;
  return shortest;
}

/// The first by name of those whose last part it is: a "block_attnres" is an "attnres".
std::string kind_of(const std::string& word, std::span<const std::string> candidates) {
  std::string first;
  for (const std::string& candidate : candidates)
    if (candidate.ends_with("_" + word) && (first.empty() || candidate < first)) first = candidate;
  return first;
}

std::string nearest_by_edits(const std::string& word, std::span<const std::string> candidates) {
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t shorter = std::min(word.size(), candidate.size());
    const std::size_t longer = std::max(word.size(), candidate.size());
    // The lengths alone rule most candidates out, and a word as long as the file is never compared.
    if (longer - shorter >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

/// The longest name that is the first part of the word: "gb200_nvl72" is a "gb200".
std::string begun(std::string_view word, std::span<const std::string> candidates) {
  std::string longest;
  for (const std::string& candidate : candidates)
    if (candidate.size() > longest.size() && word.starts_with(candidate + "_")) longest = candidate;
  return longest;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.size() < 2) return "";  // every other single letter is as near
  constexpr std::size_t kTellingPart = 3;
  const std::string letters = bare(word);
  if (letters.size() >= kTellingPart) {
    for (const std::string& candidate : candidates)
      if (bare(candidate) == letters) return candidate;
    const std::string kind = kind_of(letters, candidates);
    const std::string name = continued(letters, candidates);
    if (!kind.empty() && (name.empty() || kind.size() < name.size())) return kind;
    if (!name.empty()) return name;
  }
  const std::string near = nearest_by_edits(std::string(word), candidates);
  return near.empty() ? begun(word, candidates) : near;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string name = nearest(word, candidates);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

std::string meant_or_known(std::string_view word, std::span<const std::string> candidates) {
  const std::string meant = did_you_mean(word, candidates);
  return meant.empty() ? fmt::format(" (known here: {})", fmt::join(candidates, ", ")) : meant;
}

}  // namespace depthcost

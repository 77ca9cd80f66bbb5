// The valid name that a misspelt one probably meant.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace depthcost {

/// Fewest insertions, deletions, replacements and swaps of neighbours that turn a into b, no letter
/// being touched twice (Damerau-Levenshtein, restricted form).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to the word in meaning: the first by name whose last part it is; else the
/// shortest one that begins with it, whatever the case and the separators; else the nearest by
/// edits, the first of equals. Empty unless it is near: a distance of at most a third of the word's
/// length, or 1. A word of one letter has none.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'block_size'?", or nothing. Follows the misspelt name in a message.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

/// The same, or " (known here: scheme, block_size)" where no candidate is near.
std::string meant_or_known(std::string_view word, std::span<const std::string> candidates);

}  // namespace depthcost

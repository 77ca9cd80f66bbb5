// The shipped parts that a hardware file without a source can fall back on.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/evidence.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

struct Preset;

/// A shipped hardware preset: what stands on one line, and the list that it was asked for.
struct Part {
  std::string id;
  const Values& values;
};

/// Ranks shipped parts by kinship with `self`: the nearest architecture and vendor first, then the
/// same kind of memory (HBM, GDDR, DDR), then the nearest datasheet bandwidth.
class NearestParts {
 public:
  /// Only parts of the same kind (gpu, cpu) are considered.
  explicit NearestParts(const Values& self) : self_(self) {}

  /// Parts that have `wanted` and agree with `self` in `key`; if there are none, any part that has
  /// it.
  std::vector<const Part*> like(const std::string& key, const std::string& wanted) const;

  /// Parts that have `wanted`, of the nearest architecture of which one has it.
  std::vector<const Part*> of_nearest_architecture(const std::string& wanted) const;

  /// The nearest of them, or nullptr.
  const Part* nearest(const std::string& wanted) const;

  /// Every part that has `wanted`, a value or records; nearest first. Files without the words
  /// `mention` are not parsed.
  std::vector<const Part*> any(const std::string& wanted, std::string_view mention = "") const;

 private:
  struct ReadPart {
    std::string wanted;
    Part part;
  };

  const Part& part(std::string_view id, const std::string& wanted) const;
  /// Files of the same kind that contain the words.
  std::vector<const Preset*> that_mention(const std::string& wanted,
                                          std::string_view mention = "") const;
  /// The bandwidth of the shipped part with this name, even where the user set another: the lender
  /// must not depend on it. Without such a part, its own.
  double shipped_bandwidth(const std::string& wanted) const;
  /// Those that have `wanted`, nearest first.
  std::vector<const Part*> ranked(const std::vector<const Preset*>& presets,
                                  const std::string& wanted) const;

  const Values& self_;
  mutable std::deque<ReadPart> read_;  // those that were looked at; they never move
};

/// What the line of a key says in a shipped file: "nvidia" of "vendor: nvidia". Parsing a file
/// takes up to a millisecond, and most are not needed. A test checks that both say the same.
std::string_view plain_line(std::string_view text, std::string_view key);

std::string ids_of(const std::vector<const Part*>& parts);

/// Datasheet memory bandwidth in bytes per second.
double nominal_bandwidth(const Values& values);

/// Published if the file cites a source for the value, else assumed.
Evidence evidence_of(const Value& value);

/// The text of a key, or "" where it is absent.
std::string text_or_empty(const Values& values, const std::string& key);

}  // namespace depthcost

// A shard: the file in which `sweep --shard I/N` keeps its rows of times for `sweep --merge`.
//
// It begins with lines of text, which `head -6` shows; then the times follow, bit by bit, so that a
// merged sweep is the same as one that was never shared, to the last byte.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/sweep/sweep_rows.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "scenarios/read/scenario_options.hpp"

namespace depthcost {

/// "3/8" is the third share of eight. Throws InputError.
SweepShare share_of(const std::string& text);

/// What the sweep asks: a hash of all files that it has read so far, and of its options. Two runs
/// with the same question have the same rows.
std::string question_of(const ScenarioOptions& question, const std::vector<std::string>& axes);

/// The file of a share of `report`, whose rows of that share have been timed.
std::string shard_text(const SweepReport& report, const SweepShare& share,
                       const std::string& question);

/// The rows behind the lines of the shard at `path`. Throws InputError where they are no times:
/// each is finite and lies in its interval.
std::vector<std::vector<AddedTime>> rows_in(std::string_view bytes, const std::string& path);

/// All rows of a sweep, from all of its shards.
class MergedShards {
 public:
  /// Throws InputError where a shard is missing, is there twice, cannot be read, or was made by
  /// another version or for another question.
  MergedShards(const std::vector<std::string>& paths, const std::string& question);

  /// The times of a row. Throws InputError where the shard has others than a sweep of this program.
  std::span<const AddedTime> row(std::size_t row, std::size_t size) const;

  /// Throws InputError where a shard has timed the first row otherwise than `report` has.
  void require_same_arithmetic(const SweepReport& report) const;

 private:
  struct Shard {
    std::string path;
    std::string first_row;  // hash of its times as this shard has them
    std::vector<std::vector<AddedTime>> rows;
  };

  static Shard read(const std::string& path, const std::string& question, std::size_t& index,
                    std::size_t& count);

  std::vector<Shard> shards_;  // by index
};

}  // namespace depthcost

// The rows of a sweep's times: which of them are timed here, and what those are that were timed
// elsewhere. Times are all that takes long, so they are all that several machines share.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "model/sweep/sweep_times.hpp"

namespace depthcost {

/// Share `index` of `count`, from 0. Neighbouring rows take about as long, so they go to different
/// shares.
struct SweepShare {
  std::size_t index = 0;
  std::size_t count = 1;
};

/// A row holds all choices under one circumstance of decode, then of prefill, then the training
/// step of one choice. Rows are counted through all scenes.
struct SweepRows {
  SweepShare share;
  std::size_t first = 0;  // number of this scene's first row
  /// The `size` times of a row of all scenes, if they were timed elsewhere.
  std::function<std::span<const AddedTime>(std::size_t row, std::size_t size)> known = {};

  /// The first row of all is timed by everybody: who times it differently has another arithmetic.
  bool is_timed(std::size_t row) const {
    if (first + row == 0) return true;
    return !known && (first + row) % share.count == share.index;
  }
};

}  // namespace depthcost

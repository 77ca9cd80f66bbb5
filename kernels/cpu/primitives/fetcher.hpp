// Software prefetch of the next token's rows.
#pragma once

#include <cstddef>

#include "kernels/cpu/primitives/fetch_ahead.hpp"
#include "kernels/cpu/tuning.hpp"

namespace depthcost::cpu {

/// Fetches rows into L2, a few lines per step between other work: short rows that alternate defeat
/// the hardware's prefetchers, and a pass over rows in cache would leave memory idle.
class Fetcher {
 public:
  Fetcher() = default;
  /// One that does nothing if `fetching` is off.
  explicit Fetcher(RowFetching fetching) : fetching_(fetching) {}

  bool is_off() const { return fetching_ == RowFetching::off; }

  /// The rows that `step` fetches from now on, spread over `num_steps` steps.
  void aim(const char* const* rows, std::size_t num_rows, std::size_t row_bytes,
           std::size_t num_steps) {
    if (is_off()) return;
    row_ = rows;
    last_row_ = rows + num_rows;
    row_bytes_ = row_bytes;
    bytes_per_step_ = (num_rows * row_bytes / kLineBytes + num_steps - 1) / num_steps * kLineBytes;
    line_ = end_ = nullptr;
  }

  void step() {
    if (end_ - line_ < static_cast<std::ptrdiff_t>(bytes_per_step_)) return step_into_next_row();
    const char* const last = line_ + bytes_per_step_;
    const char* line = line_;  // in a register, while the caller may write anywhere
    for (; line < last; line += kLineBytes) __builtin_prefetch(line, 0, 2);
    line_ = line;
  }

 private:
  /// Fetches what is left of a row, and the beginning of the next one.
  void step_into_next_row() {
    std::size_t left = bytes_per_step_;
    for (; left > 0; left -= kLineBytes) {
      if (line_ >= end_) {
        if (row_ == last_row_) return;
        line_ = *row_++;
        end_ = line_ + row_bytes_;
      }
      __builtin_prefetch(line_, 0, 2);
      line_ += kLineBytes;
    }
  }

  RowFetching fetching_ = RowFetching::on;
  const char* const* row_ = nullptr;
  const char* const* last_row_ = nullptr;
  std::size_t row_bytes_ = 0;
  std::size_t bytes_per_step_ = 0;
  const char* line_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace depthcost::cpu

// The plots of a report, as gnuplot scripts: reports/gnuplot.hpp draws them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "model/machine/comparison.hpp"

namespace depthcost {

struct Plot {
  std::string file_name;  ///< "bytes.svg"
  std::string caption;    ///< one line of plain text for those who cannot see the plot
  std::string script;     ///< writes an SVG to stdout
};

/// MB per token and forward pass of every scheme and schedule under `kernel`, as bars; Table 1
/// beside them.
std::optional<Plot> bytes_plot(const Evaluation& evaluation);

/// Sources of each layer. None for schemes that do not attend over depth.
std::optional<Plot> sources_plot(const Evaluation& evaluation);

/// Microseconds that each scheme adds to a decode step, against the batch. None without decode, a
/// machine, or a scheme beside the standard residual.
std::optional<Plot> added_time_plot(const Evaluation& evaluation);

/// The same in per cent of the baseline step. None without one.
std::optional<Plot> overhead_plot(const Evaluation& evaluation);

/// d-vectors on the wire at each pipeline transition, naive and cached. None without a wire or a
/// bank.
std::optional<Plot> payload_plot(const Evaluation& evaluation);

/// The stages of a simulated training step over time; many micro-batches with fewer of them, very
/// many tasks from the beginning only. None without a pipeline, a machine or a rest of the step.
std::optional<Plot> schedule_plot(const Evaluation& evaluation);

/// Bank in one device's memory against the length of the sequence. None without prefill or a bank.
std::optional<Plot> bank_plot(const Evaluation& evaluation);

/// Bandwidth of plain streams by share of reads, and the kernels that were measured from memory.
/// None where there are none.
std::optional<Plot> roofs_plot(const Machine& machine, std::span<const ComparedCase> cases);

/// Error of every prediction against the predicted time, and the interval.
std::optional<Plot> residuals_plot(const Machine& machine, std::span<const ComparedCase> cases);

/// What memory serves, by reuse distance. None without a cache.
std::optional<Plot> transition_plot(const Machine& machine);

/// Those of an evaluation that `evaluation` has data for, in this order.
std::vector<Plot> plots(const Evaluation& evaluation);

}  // namespace depthcost

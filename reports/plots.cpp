// Which plots there are, and in which order.
#include "reports/plots.hpp"

#include <utility>

namespace depthcost {

std::vector<Plot> plots(const Evaluation& evaluation) {
  std::vector<Plot> drawn;
  for (const auto plot : {bytes_plot, sources_plot, overhead_plot, added_time_plot, payload_plot,
                          schedule_plot, bank_plot})
    if (std::optional<Plot> made = plot(evaluation)) drawn.push_back(*std::move(made));
  return drawn;
}

}  // namespace depthcost

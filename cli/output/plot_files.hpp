// Draws plots into files.
#pragma once

#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/output/files.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

/// Plots that were drawn, or why none were.
struct DrawnPlots {
  std::vector<NewFile> files;   // STEM-bytes.svg, ...
  std::vector<PlotFile> shown;  // one for each file
  std::string missing;          // why there are none: gnuplot is not installed
};

/// Draws all plots, or none where gnuplot is not installed. Counts each. Throws where gnuplot
/// fails.
DrawnPlots draw(const std::vector<Plot>& plots, const std::string& stem, Progress& progress);

}  // namespace depthcost

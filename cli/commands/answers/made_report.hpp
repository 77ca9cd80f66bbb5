// The files of one scenario's report.
#pragma once

#include <string>
#include <vector>

#include "cli/output/files.hpp"
#include "model/base/progress.hpp"
#include "scenarios/measured/comparisons.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost {

/// Files to write, and the text for the terminal: of one report or of all.
struct Report {
  std::vector<NewFile> files;  // the plots, the appendix if there is one, and last the document
  std::string summary;
  std::string missing_plots;  // why there are none
};

/// The number of plots in most reports. Progress expects as many of each report to come.
inline constexpr std::size_t kUsualPlots = 8;

/// The names of the files begin with `stem`. Counts the evaluation and each plot.
Report made_report(const Scenario& scenario, const std::string& stem,
                   const MeasuredByOthers& published, Progress& progress);

}  // namespace depthcost

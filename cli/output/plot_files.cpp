// Runs gnuplot once for each plot.
#include "cli/output/plot_files.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "reports/formats/gnuplot.hpp"

namespace depthcost {

DrawnPlots draw(const std::vector<Plot>& plots, const std::string& stem, Progress& progress) {
  DrawnPlots drawn;
  for (const Plot& plot : plots) {
    const Drawing drawing = draw_svg(plot.script);
    if (drawing.status == DrawingStatus::missing)
      return {
          .files = {},
          .shown = {},
          .missing = "No plots: gnuplot is not installed (Debian: apt-get install gnuplot-nox)."};
    if (drawing.status == DrawingStatus::failed)
      throw std::runtime_error(
          fmt::format("gnuplot failed on {} ({})", plot.file_name, drawing.error));
    const std::string file_name = fmt::format("{}-{}", stem, plot.file_name);
    drawn.files.push_back({file_name, drawing.svg});
    drawn.shown.push_back({file_name, plot.caption});
    progress.count();
  }
  return drawn;
}

}  // namespace depthcost

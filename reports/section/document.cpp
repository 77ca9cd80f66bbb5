// Plots are found by the end of their file names.
#include "reports/section/document.hpp"

#include <algorithm>

#include "reports/formats/markdown_text.hpp"

namespace depthcost {

bool Document::has_plot(std::string_view name) const {
  return std::any_of(parts_.plots.begin(), parts_.plots.end(),
                     [&](const PlotFile& file) { return file.file_name.ends_with(name); });
}

void Document::plot(std::string_view name) {
  for (const PlotFile& file : parts_.plots)
    if (file.file_name.ends_with(name)) text_ += picture(file.caption, file.file_name);
}

}  // namespace depthcost

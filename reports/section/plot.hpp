// A plot, and where it lies once it is drawn.
#pragma once

#include <string>

namespace depthcost {

/// A gnuplot script; reports/formats/gnuplot.hpp draws it.
struct Plot {
  std::string file_name;  ///< "bytes.svg"
  std::string caption;    ///< one line of plain text for those who cannot see the plot
  std::string script;     ///< writes an SVG to stdout
};

/// A drawn plot that lies beside a document.
struct PlotFile {
  std::string file_name;
  std::string caption;
};

}  // namespace depthcost

// Draws with the program gnuplot: a script in, an SVG out; no shell and no files between.
#pragma once

#include <chrono>
#include <string>

namespace depthcost {

enum class DrawingStatus {
  drawn,
  missing,  ///< there is no gnuplot to be run on PATH
  failed,
};

struct Drawing {
  DrawingStatus status = DrawingStatus::failed;
  std::string svg;    ///< of `drawn`
  std::string error;  ///< of `failed`: one line
};

/// Runs `gnuplot` on `script`, whose terminal must be svg. The same script gives the same bytes on
/// one version of gnuplot: what names the program is removed. The user's settings (~/.gnuplot,
/// locale) are left out; a program that takes longer than `time_limit` is killed.
Drawing draw_svg(const std::string& script,
                 std::chrono::milliseconds time_limit = std::chrono::seconds{20});

}  // namespace depthcost

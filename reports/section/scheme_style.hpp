// How plots show a scheme.
#pragma once

#include <string>

#include "model/ledger/ledger.hpp"
#include "model/step/study.hpp"
#include "reports/formats/gnuplot_script.hpp"

namespace depthcost::plotting {

/// A scheme has one colour in all plots.
Color color_of(const Scheme& scheme);

/// "mHC (m = 4)".
std::string label_of(const Scheme& scheme);

/// "Block AttnRes, single pass".
std::string label_of(const Scheme& scheme, Schedule schedule);

/// The model's name, short enough for a title; "the model" where it has none.
std::string model_name(const Study& study);

}  // namespace depthcost::plotting

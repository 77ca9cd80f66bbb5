// Batches that nobody asked for need not be answered.
#pragma once

#include "scenarios/read/scenario.hpp"

namespace depthcost {

/// Leaves out the usual decode batches that do not fit with the standard residual, as long as one
/// stays, and says so where their source stands. What is written stays as it is, and so does all of
/// it where a budget says that everything must fit, or a step was measured.
void leave_out_unasked_batches(Scenario& scenario);

}  // namespace depthcost

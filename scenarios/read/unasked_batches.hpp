// Batches that nobody asked for need not be answered.
#pragma once

#include <cstddef>
#include <optional>

#include "scenarios/read/scenario.hpp"

namespace depthcost {

/// How many of the usual decode batches fit with the standard residual, the smallest first. Nothing
/// where all must stay: they are written, a budget says that everything must fit, a step was
/// measured, or nobody knows the memory.
std::optional<std::size_t> usual_batches_that_fit(const Scenario& scenario);

/// Leaves out those that do not fit, as long as one stays, and says so where their source stands.
void leave_out_unasked_batches(Scenario& scenario);

}  // namespace depthcost

// Measured beside predicted, where the hardware is the profile of a machine.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

namespace own_kernels_section {

void write_markdown(Document& out);

}  // namespace own_kernels_section
}  // namespace depthcost

// Each launch of a step: one call of an operation and its time, in every format that shows it.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

/// The time of one launch, in words: model/machine/time.hpp.
inline constexpr const char* kLaunchTime =
    "residual x stack x (launches x a(launch, level, skeleton) + max(sum over operands and "
    "parameters of bytes / bandwidth, operations / rate, latency of one token) + passes "
    "that do not overlap), or an exchange's measured time";

namespace launch_section {

void write_json(JsonWriter& json, const Answer& answer);
void explain(const Evaluation& evaluation, Explanations& out);
void write_markdown(Document& out);

}  // namespace launch_section
}  // namespace depthcost

// What the answer rests on: the scenario's values, what is not modelled, the sources.
#pragma once

#include "reports/section/section.hpp"

namespace depthcost {

namespace assumptions_section {

/// The scenario and its values.
void write_json(JsonWriter& json, const Answer& answer);
void write_markdown(Document& out);
/// What is not modelled, and the sources: the end of the report.
void write_closing(Document& out);

}  // namespace assumptions_section
}  // namespace depthcost

// What the answer rests on: the scenario's values, what is not modelled, the sources.
#pragma once

#include <array>
#include <string_view>

#include "reports/section/section.hpp"

namespace depthcost {

namespace assumptions_section {

/// What no number of an answer has in it.
inline constexpr auto kUnmodelled = std::to_array<std::string_view>(
    {"Overlap of the terms of a step with one another.",
     "Several batches in flight in a pipeline at decode and prefill: while one stage works, the "
     "others wait.",
     "Activations and workspaces of the layers at decode and prefill. `device_memory` leaves a "
     "tenth of the device for them.",
     "The expansion of mHC's streams behind the embedding, and their collapse before the head.",
     "What several AMD GPUs exchange. No AMD preset has measured transfers. Add `transfers` to "
     "your hardware file.",
     "What context ranks exchange, in every workload. So a step with `context` above 1 is "
     "predicted too short.",
     "In training: a framework's own buffers. Norms, launches and the optimiser are part of shares "
     "that were fitted to measured steps. Backward times of the residual path follow from counts. "
     "Backward kernels are measured on CPUs, and once on an H200.",
     "Losses. None is predicted. A published loss is shown as evidence."});

/// The scenario and its values.
void write_json(JsonWriter& json, const Answer& answer);
void write_markdown(Document& out);
/// What is not modelled, and the sources: the end of the report.
void write_closing(Document& out);

}  // namespace assumptions_section
}  // namespace depthcost

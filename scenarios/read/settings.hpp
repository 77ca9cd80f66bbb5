// Values of the command line in the place of a scenario's own.
#pragma once

#include <string>
#include <vector>

#include "scenarios/text/document.hpp"

namespace depthcost {

/// What a scenario has measured and another value of a key would make wrong, as
/// "baseline_step.decode": all of another hardware, model or parallelism, and those of other
/// batches, contexts and prompts.
std::vector<std::string> measurements_of(const Node& document, std::string_view path);

/// Puts each "KEY=VALUE" into the tree of a scenario, in order. KEY is a path such as
/// residual.attach, VALUE is YAML, and replaces what KEY had. A block size replaces a number of
/// blocks, and the other way round. A key below a workload that is only named has the usual ones
/// beside it; a key below a model or hardware that is only named has the rest of that beside it.
/// Whether the key exists and the value fits is the reader's to say.
/// Throws InputError at "--set:1:1", and for the name of a workload where it stands.
void apply_settings(const std::vector<std::string>& settings, Node& document);

}  // namespace depthcost

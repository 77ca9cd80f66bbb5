// Measurements that others have published of kernels that do what ours do: what predictions from
// presets alone are held against.
#pragma once

#include <string>
#include <vector>

#include "model/catalogue.hpp"

namespace depthcost {

struct PublishedMeasurement {
  std::string hardware;  // a preset's id
  std::string stack;     // "vLLM 0.24.0"
  StandaloneCall call;
  Seconds time;
  std::string source;  // with its date
};

/// All of scenarios/published, file by file.
std::vector<PublishedMeasurement> published_measurements();

/// Those of one file. Throws InputError.
std::vector<PublishedMeasurement> parse_published(std::string_view text, const std::string& file);

}  // namespace depthcost

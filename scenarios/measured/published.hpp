// Measurements that others have published: of kernels that do what ours do, and of whole steps.
// Predictions from presets are compared with them.
#pragma once

#include <string>
#include <vector>

#include "model/evaluation/nearest_measurement.hpp"
#include "model/machine/catalogue.hpp"

namespace depthcost {

struct PublishedMeasurement {
  std::string hardware;  // a preset's id
  std::string stack;     // "vLLM 0.24.0"
  StandaloneCall call;
  Seconds time;
  std::string source;  // and its date
};

/// Kernels and whole steps.
struct Published {
  std::vector<PublishedMeasurement> kernels;
  std::vector<MeasuredStep> steps;
};

/// All of scenarios/published, file by file.
Published published();

/// The fastest kernel of each configuration of a table with the columns of
/// scenarios/published/mhc.csv. Throws InputError.
std::vector<PublishedMeasurement> parse_published_kernels(std::string_view text,
                                                          const std::string& file);

/// The kernels of all files.
std::vector<PublishedMeasurement> published_measurements();

/// The measurements of one file. Throws InputError.
Published parse_published(std::string_view text, const std::string& file);

}  // namespace depthcost

// What an import has found, as lines and as a number of weights.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "scenarios/import/architecture.hpp"
#include "scenarios/import/import.hpp"
#include "tests/model/step/mlp_weights.hpp"

namespace depthcost::test {

/// The records of a list, each as "kind=... heads=..." in the order of its members.
inline std::vector<std::string> records_of(const std::vector<ImportedRecord>& records) {
  std::vector<std::string> lines;
  for (const ImportedRecord& record : records) {
    std::string line;
    for (const ImportedValue& member : record.members)
      line += fmt::format("{}{}={}", line.empty() ? "" : " ", member.key, member.text);
    lines.push_back(line);
  }
  return lines;
}

/// The weights of all matrices: layers, embedding, other tables, and the output head where it has
/// its own.
inline double num_weights_of(const ImportedModel& model) {
  const Values values = to_values(model);
  std::vector<ResolvedValue> notes;
  const double d = as_double(values.count("hidden_size"));
  const Architecture architecture =
      architecture_from(values, 2 * values.count("decoder_layers"), notes).value();
  double weights = as_double(architecture.vocabulary_size) * d *
                   (architecture.output_head == OutputHead::tied ? 1 : 2);
  for (const AttentionLayers& layers : architecture.attention)
    weights += as_double(layers.num_decoder_layers) * num_weights(layers.attention, d);
  for (const MlpLayers& layers : architecture.mlp)
    weights += as_double(layers.num_decoder_layers) * num_all_weights(layers.mlp, d);
  return weights + num_projections(architecture.tables) + num_looked_up(architecture.tables);
}

}  // namespace depthcost::test

// Pipelines to be simulated, and short forms for tests.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "model/pipeline/pipeline_simulation.hpp"

namespace depthcost {

inline void PrintTo(const Seconds& t, std::ostream* out) { *out << t.value << " s"; }

}  // namespace depthcost

namespace depthcost::test {

inline constexpr StageLink kFreeLink{.latency = {0},
                                     .bandwidth = {std::numeric_limits<double>::infinity()}};

inline constexpr std::array kActivations = {Activations::kept, Activations::recomputed};

/// One pipeline of uniform chunks and free links.
inline PipelineWork uniform_work(const PipelineOrder& order, const ChunkTimes& chunk) {
  const auto num_chunks = static_cast<std::size_t>(order.num_stages * order.num_virtual_stages);
  return {.order = order,
          .chunks = std::vector(num_chunks, chunk),
          .forward_messages = std::vector(num_chunks - 1, Bytes{1}),
          .backward_messages = std::vector(num_chunks - 1, Bytes{1}),
          .links = std::vector(num_chunks - 1, kFreeLink)};
}

struct PipelineCase {
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  Count num_stages = 1;
  Count num_virtual_stages = 1;
  Count num_micro_batches = 1;
};

inline std::string to_string(const PipelineCase& c) {
  return std::string(name(c.schedule)) + " P = " + std::to_string(c.num_stages) +
         " V = " + std::to_string(c.num_virtual_stages) +
         " M = " + std::to_string(c.num_micro_batches);
}

inline PipelineOrder order_of(const PipelineCase& c, Activations activations = Activations::kept) {
  return pipeline_order(c.schedule, c.num_stages, c.num_virtual_stages, c.num_micro_batches,
                        activations);
}

/// Every schedule for P in {1, 2, 3, 4, 8}, with the V in {1, 2, 3, 4} and the M that it takes.
inline std::vector<PipelineCase> every_pipeline() {
  std::vector<PipelineCase> cases;
  for (const Count P : {1, 2, 3, 4, 8}) {
    for (const Count M : {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24}) {
      for (const PipelineSchedule schedule : kEnumerators<PipelineSchedule>)
        for (const Count V : {1, 2, 3, 4}) {
          const ScheduleLimits limits = limits_of(schedule, P, V);
          if ((V == 1 || limits.has_virtual_stages) && M % limits.micro_batch_step == 0 &&
              M >= limits.fewest_micro_batches && P % limits.stage_step == 0)
            cases.push_back({schedule, P, V, M});
        }
    }
  }
  return cases;
}

/// One letter for the kind, then the chunk if there are several on a stage, then the micro-batch:
/// "F0 B0 W0", "F2.0".
inline std::string spelled(const PipelineOrder& order, std::size_t stage) {
  constexpr std::array letters{'F', 'R', 'B', 'W'};
  std::string text;
  for (const PipelineTask& task : order.stages[stage]) {
    if (!text.empty()) text += ' ';
    text += letters[static_cast<std::size_t>(task.kind)];
    if (order.num_virtual_stages > 1) text += std::to_string(task.chunk) + '.';
    text += std::to_string(task.micro_batch);
  }
  return text;
}

}  // namespace depthcost::test

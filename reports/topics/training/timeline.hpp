// The pipeline of a training step over time: the data of the plot of its schedule.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

/// A task, or the two halves of a backward pass that follow one another.
struct TaskBox {
  std::size_t stage = 0;
  TaskKind kind = TaskKind::forward;
  Count virtual_stage = 0;
  Seconds start;
  Seconds end;
};

struct Timeline {
  PipelineOrder order;  // as it is drawn: of many micro-batches, fewer
  std::vector<TaskBox> boxes;
  Seconds makespan;  // of that order
  Seconds end;       // of the boxes: of very many tasks only the first are there
};

/// The timeline of the study's scheme as it is quoted. None without a pipeline, a machine or a rest
/// of the step.
std::optional<Timeline> timeline_of(const Evaluation& evaluation);

}  // namespace depthcost

// Bytes of a forward pass by scheme and schedule: the data of the bars.
#pragma once

#include <optional>
#include <vector>

#include "model/evaluation/evaluation.hpp"

namespace depthcost {

struct ByteBar {
  const ResidualPath* path = nullptr;
  Schedule schedule = Schedule::fused;
  Bytes moved;                 // per token and forward pass
  std::optional<Bytes> paper;  // Table 1
  bool is_quoted = false;
  bool is_inside_domain = true;  // of Table 1
};

/// One bar for each path and schedule, the shortest first.
std::vector<ByteBar> byte_bars(const Evaluation& evaluation);

}  // namespace depthcost

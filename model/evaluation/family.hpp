// Every residual connection of [attnres] Table 5 and its kin on one model, counted the same way:
// the family that the study's own scheme belongs to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ledger/arithmetic.hpp"
#include "model/schemes/scheme.hpp"
#include "model/step/step.hpp"
#include "model/step/study.hpp"

namespace depthcost {

struct FamilyBackward {
  Schedule schedule = Schedule::fused;
  BackwardLayer layer;
};

/// One scheme, as it is quoted. d-vectors are per token and layer, means over the layers, without
/// an output aggregation.
struct FamilyRow {
  ResidualPath path;
  Schedule schedule = Schedule::fused;
  std::optional<Traffic> unfused;  // convention `kernel` without the next norm, as papers count
  Traffic traffic;                 // of `schedule`, with the next norm; convention `kernel`
  Bytes bytes;
  GradientAccumulation accumulation = Training{}.gradient_accumulation;  // the training step's
  BackwardLayer backward;                                                // of `schedule`
  std::vector<FamilyBackward> backward_by_schedule;                      // the same, of each
  Count state = 0;  // d-vectors kept between two layers, and handed over a boundary, at most
  std::optional<Parameters> parameters;
  Flops flops;                            // a layer
  std::optional<Estimate<Seconds>> time;  // of the residual path in the largest decode step
  std::string problem;  // why this model cannot have it; then nothing above but the path counts
};

/// Every scheme with the study's parameters, cheapest first; those that
/// cannot be behind them. Blocks are the study's, or about eight ([attnres] Sec. 4).
std::vector<FamilyRow> family_rows(const Study& study);

/// AttnRes blocks of the family: those of the study's own schemes; else as written; else about
/// eight.
Partition family_blocks(const Study& study);

/// Sequences of the decode step that a table of the family is timed at.
Count largest_batch(const Decode& decode);

}  // namespace depthcost

// What a step does beside the residual path, as far as it can be told from the architecture:
// REFERENCES.md, "rest of the step". It is what an added time is a per cent of; it never enters the
// added time itself.
#pragma once

#include <string>
#include <vector>

#include "model/study.hpp"
#include "model/workload.hpp"

namespace depthcost {

/// One term on the slowest device, all passes of the workload together.
struct RestRow {
  std::string workload;
  RestTerm term = RestTerm::attention;
  Bytes bytes;          // read and written in memory, or sent; where the term is modelled
  Flops flops;          // as above
  double launches = 0;  // as above
  Estimate<Seconds> time;
  bool is_written = false;  // by the user, instead of modelled
};

struct RestOfStep {
  std::vector<RestRow> rows;  // one for each term; empty where something is missing
  std::string missing;        // what the model, the hardware or the scenario does not say

  Estimate<Seconds> total() const;
};

RestOfStep rest_of_step(const Study& study, const Workload& workload);

}  // namespace depthcost

// What a step does beside the residual path, as far as it can be told from the architecture:
// REFERENCES.md, "rest of the step". It is what an added time is a per cent of; it never enters the
// added time itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/step/layer_work.hpp"
#include "model/step/study.hpp"
#include "model/step/workload.hpp"

namespace depthcost {

/// Whether a term follows from the architecture, or is what the user has measured.
enum class RestOrigin : std::uint8_t { modelled, written };

/// Equal calls of one group of kernels, or of one collective.
struct RestPart {
  std::string name;  // "latent attention", "routed experts", "all_reduce over 8"
  double calls = 0;
  Work work;               // of one call; without operations where it is sent
  Estimate<Seconds> time;  // of one call
};

/// One term on the slowest device, all passes of the workload together.
struct RestRow {
  WorkloadId workload;
  RestTerm term = RestTerm::attention;
  std::vector<RestPart> parts;  // what is added up; none where it is written
  Bytes bytes;                  // read and written in memory, or sent; where the term is modelled
  Flops flops;                  // as above
  double launches = 0;          // as above
  Estimate<Seconds> time;
  RestOrigin origin = RestOrigin::modelled;
};

struct RestOfStep {
  std::vector<RestRow> rows;  // one for each term; empty where something is missing
  std::string missing;        // what the model, the hardware or the scenario does not say

  Estimate<Seconds> total() const;
};

/// Adds what its calls take.
void add_part(RestRow& row, const RestPart& part);

/// A term that the user has measured; nothing where it is to be modelled.
std::optional<RestRow> written_row(const Study& study, const Workload& workload, RestTerm term);

/// Which errors of the engine's constants hold for the model's steps.
StepKind step_kind(const Architecture& architecture);

RestOfStep rest_of_step(const Study& study, const Workload& workload);

}  // namespace depthcost

// The time of one launch, without keeping its model.
#pragma once

#include "model/machine/time.hpp"

namespace depthcost::test {

inline TimeTerms time_terms(const Machine& machine, const Operation& operation,
                            const Execution& execution, const Corner& corner) {
  return LaunchTime(machine, operation, execution).terms(corner);
}

inline Seconds bound_time(const Machine& machine, const Operation& operation,
                          const Execution& execution) {
  return LaunchTime(machine, operation, execution).bound();
}

inline Evidence time_evidence(const Machine& machine, const Operation& operation,
                              const Execution& execution) {
  return LaunchTime(machine, operation, execution).evidence();
}

inline double memory_share(const Machine& machine, const Operation& operation,
                           const Execution& execution) {
  return LaunchTime(machine, operation, execution).memory_share();
}

}  // namespace depthcost::test

// What a layer of Kimi K3 moves: L = 186, S = 24, two-phase.
#include <cmath>
#include <depthcost/model/ledger/ledger.hpp>

#include "model/schemes/list.hpp"

int main() {
  using namespace depthcost;
  const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = partition_by_size(186, 24)}},
                          186};
  const double mean = total_d(mean_traffic(path, {Schedule::two_phase, Convention::kernel}));
  return std::abs(mean - 1110.0 / 186) < 1e-9 ? 0 : 1;
}

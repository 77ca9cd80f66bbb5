// What kernels move under every schedule, and what Table 1 says of it.
#include "reports/topics/ledger/byte_bars.hpp"

#include <algorithm>

namespace depthcost {

std::vector<ByteBar> byte_bars(const Evaluation& evaluation) {
  std::vector<ByteBar> bars;
  const auto forward_bytes = [&](const ResidualPath& path, Counting counting) {
    return bytes(forward_traffic(path, counting), storage_of(evaluation.study));
  };
  for (const ResidualPath& path : evaluation.paths)
    for (const Schedule schedule : path.scheme.rule->schedules) {
      ByteBar bar{.path = &path, .schedule = schedule};
      bar.moved = forward_bytes(path, {schedule, Convention::kernel});
      bar.is_quoted = schedule == quoted_schedule(evaluation.study, path);
      const Counting table1{schedule, Convention::paper};
      const auto countings = countings_of(path.scheme);
      if (std::find(countings.begin(), countings.end(), table1) != countings.end()) {
        bar.paper = forward_bytes(path, table1);
        bar.is_inside_domain = inside_domain(path, table1);
      }
      bars.push_back(bar);
    }
  std::stable_sort(bars.begin(), bars.end(),
                   [](const ByteBar& a, const ByteBar& b) { return a.moved < b.moved; });
  return bars;
}

}  // namespace depthcost

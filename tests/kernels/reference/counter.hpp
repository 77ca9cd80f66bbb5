// Runs operations through the counting accessor, and keeps the traffic of each launch.
#pragma once

#include "kernels/reference/run.hpp"
#include "tests/kernels/reference/launched.hpp"
#include "tests/kernels/reference/operands/gated_operands.hpp"
#include "tests/kernels/reference/operands/mhc_operands.hpp"

namespace depthcost::test {

/// Runs operations through the counting accessor.
class Counter {
 public:
  std::vector<Launched> launches;
  Operand sum = Operand::partial_sum;  // what residual_add adds to
  Place newest;                        // where the last layer has left its output

  template <class Op, class... Options>
  void run(const Op& op, const Options&... options) {
    const LedgerView view = view_of(op);
    launch(view, [&](CountingAccess& access) { execute(op, access, options...); });
  }

  /// Counts everything that `execute` does through the accessor as one launch.
  template <class Execute>
  void launch(const LedgerView& view, const Execute& execute) {
    CountingAccess access;
    access.places = view.places;
    access.places.push_back(newest);
    execute(access);
    launches.push_back({view.id, access.moved(view.num_tokens, view.hidden_size)});
  }

 private:
  template <class Op>
  LedgerView view_of(const Op& op) const {
    if constexpr (requires { ledger_view(op, sum); })
      return ledger_view(op, sum);
    else
      return ledger_view(op);
  }
  template <class Op>
  static void execute(const Op& op, CountingAccess& access) {
    reference::run(op, access);
  }
  static void execute(const MhcBoundary<double>& op, CountingAccess& access,
                      reference::StreamPasses passes) {
    reference::run(op, access, passes);
  }
};

}  // namespace depthcost::test

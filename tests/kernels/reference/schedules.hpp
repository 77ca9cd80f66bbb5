// Runs a network in every schedule, and keeps the inputs and outputs of its layers.
#pragma once

#include "kernels/reference/eager_network.hpp"
#include "kernels/reference/run.hpp"
#include "kernels/reference/two_phase_network.hpp"
#include "tests/kernels/reference/comparison.hpp"

namespace depthcost::test {

using reference::AttnResBuffers;
using reference::AttnResNetwork;
using reference::SumUpdate;

enum class Execution { single_pass, two_phase, full_two_phase, unfused };

/// The inputs and outputs of the layers, each (T, d), and the output aggregation.
struct Trace {
  Rows inputs;
  Rows outputs;
  Row out;
  Row bank;
};

inline void run_execution(Execution execution, const AttnResNetwork<double>& network,
                          AttnResBuffers<double>& buffers, SumUpdate update, const auto& layer,
                          const auto& run) {
  if (execution == Execution::single_pass)
    reference::run_single_pass(network, buffers, update, layer, run);
  if (execution == Execution::two_phase)
    reference::run_two_phase<double>(network, buffers, update, layer, run);
  if (execution == Execution::full_two_phase)
    reference::run_full_two_phase<double>(network, buffers, layer, run);
  if (execution == Execution::unfused) reference::run_unfused(network, buffers, layer, run);
}

/// Full AttnRes has a bank row for each layer, Block for each block.
inline std::size_t bank_rows(Execution execution, const AttnResNetwork<double>& network) {
  return 1 + (execution == Execution::full_two_phase ? network.num_layers()
                                                     : network.block_sizes.size());
}

/// `function(l, x)` is f_l(x) on (T, d).
inline Trace trace(Execution execution, const AttnResNetwork<double>& network, const Row& embedding,
                   const auto& function, SumUpdate update = SumUpdate::folded) {
  Trace seen;
  AttnResBuffers<double> buffers(network, bank_rows(execution, network), embedding.data());
  const auto layer = [&](std::size_t l, const double* x, double* f) {
    const Row& input = seen.inputs.emplace_back(x, x + network.row_size());
    const Row& output = seen.outputs.emplace_back(function(l, input));
    std::copy(output.begin(), output.end(), f);
  };
  run_execution(execution, network, buffers, update, layer,
                [](const auto& operation) { reference::run(operation); });
  seen.out = buffers.layer_input;
  seen.bank = buffers.bank;
  return seen;
}

}  // namespace depthcost::test

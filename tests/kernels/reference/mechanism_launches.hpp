// One layer of each mechanism through the counting accessor: by its reference if the schedule is
// the quoted one, and step by step if it is `unfused`.
#pragma once

#include <map>
#include <string_view>

#include "model/schemes/scheme.hpp"
#include "tests/kernels/reference/steps.hpp"

namespace depthcost::test {

inline constexpr std::size_t kTokens = 6;
inline constexpr std::size_t kWidth = 8;

/// The operands of every layer: its output, the state before it, and the next norm. Every run draws
/// the same numbers, so that the results of two schedules can be compared.
struct Layer {
  static constexpr std::size_t T = kTokens;
  static constexpr std::size_t d = kWidth;
  Counter& counter;
  Steps steps{counter, T, d};
  Draw draw{};
  Row f = draw(T * d), h = draw(T * d), gain = draw(d), x = Row(T * d, kNaN);

  explicit Layer(Counter& with) : counter(with) {}

  BasicNextNorm<double> norm() const { return {.gain = gain.data()}; }
  Row empty() const { return Row(T * d, kNaN); }
  Tensor output() { return {Operand::layer_output, &f}; }
  Tensor hidden() { return {Operand::hidden_state, &h}; }
  Tensor input() { return {Operand::layer_input, &x}; }

  /// The places of these operands and of others.
  std::vector<Place> places(std::vector<Place> others = {}) const {
    others.push_back(place(Operand::layer_output, f));
    others.push_back(place(Operand::hidden_state, h));
    others.push_back(place(Operand::layer_input, x));
    return others;
  }

  /// The standard residual of a layer at which a mechanism does nothing.
  Rows standard(Schedule schedule) {
    if (schedule == Schedule::unfused) {
      steps.residual_add(f, h);
      steps.norm(h, input(), gain);
    } else {
      counter.run(ResidualAddRmsNorm<double>{T, d, h.data(), f.data(), norm(), x.data()});
    }
    return {x, h};
  }
};

/// Runs the launches at a layer, and returns the next input and the states.
using RunLayer = Rows (*)(Counter& counter, const SchemeLayer& at, Schedule schedule);
using Launchers = std::map<std::string_view, RunLayer>;

Launchers single_state_launchers();
Launchers stream_launchers();
Launchers altup_launchers();
Launchers gated_residual_launchers();
Launchers delta_launchers();
Launchers cross_layer_launchers();

}  // namespace depthcost::test

// Does a training overhead pay? It does where the paper's compute advantage is larger: the loss
// that C buys with the scheme would have cost A C without it, and costs (1 + overhead) C with it.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/enum_names.hpp"
#include "model/base/evidence.hpp"
#include "model/decision/scaling.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// Block AttnRes of Fig. 4 has "about 8" blocks. We take one more and one less for it. [ours]
inline constexpr Count kFewestFittedBlocks = 7;
inline constexpr Count kMostFittedBlocks = 9;

/// Whether the laws say anything: they hold for some numbers of blocks, and over some compute.
enum class FitRange : std::uint8_t { inside, other_blocks, beyond };

enum class Payback : std::uint8_t { pays, does_not_pay, unknown };

template <>
inline constexpr auto kNames<Payback> = other_names<Payback>("pays", "does not pay", "unknown");

struct BreakEven {
  FitRange range = FitRange::inside;
  std::optional<Estimate<double>> advantage;  // of the scheme; only inside the range
  std::optional<Estimate<double>> overhead;   // of a training step; absent where none is simulated
  std::optional<Estimate<double>> net;        // advantage / (1 + overhead)
  Payback payback = Payback::unknown;
};

/// Nothing for schemes that Fig. 4 has no fit of. Throws nothing; `overhead` is above -1, `compute`
/// in PFLOP/s-days. Outside the range of the fit nothing is said of an advantage.
std::optional<BreakEven> break_even(const Scheme& scheme,
                                    const std::optional<Estimate<double>>& overhead,
                                    double compute = kMostFittedCompute);

}  // namespace depthcost

// Constants that were fitted on what others have measured, each with a meaning. scripts/calibrate
// makes them, scenarios/constants holds them, and a fold of them has not seen one GPU, one
// architecture or one model. REFERENCES.md, "constants".
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/base/evidence.hpp"
#include "model/base/units.hpp"
#include "model/machine/implementation.hpp"

namespace depthcost {

/// How near a part is to those that the constants were fitted on.
///   same_architecture   it runs their kernels
///   other_architecture  another architecture with the same kind of memory
///   other_memory        none of both
enum class Kinship { same_architecture, other_architecture, other_memory };

/// What nine of ten measurements that were left out are, over their predictions. `token`: kernels
/// of few tokens. `bytes`: kernels of many.
struct KernelErrors {
  Estimate<double> token{1, 1, 1};
  Estimate<double> bytes{1, 1, 1};
};

/// What a stack's mHC kernels take over the fastest published ones, in nine of ten measurements.
struct StackFactors {
  Estimate<double> streams{1, 1, 1};     // of kernels that mix streams: mhc_post
  Estimate<double> projection{1, 1, 1};  // of those that project them first: mhc_pre
};

/// Kernels of few tokens: model/machine/few_tokens.hpp.
struct KernelConstants {
  BytesPerSecond loop_draw;
  Seconds coefficient_step;
  Seconds sinkhorn_step;
  double projection_reuse = 1;  // uses of a projection's weight for each time the cache serves it
  Estimate<BytesPerSecond> ring_draw;
  Estimate<Seconds> folded_call;
  Estimate<Seconds> folded_call_ahead;
  double cache_share = 1;
  double stream_efficiency = 1;
  double projection_efficiency = 1;
  double projection_wave = 1;
  std::array<KernelErrors, kEnumerators<Kinship>.size()> errors{};  // as kEnumerators<Kinship>
  std::array<StackFactors, kEnumerators<Implementation>.size()> stacks{};  // 1 but for stacks
};

/// Whether a step has routed experts. Their load is an interval of its own, so that what is left to
/// explain is less than in a dense step.
enum class StepKind { dense, experts };

/// What serving engines' kernels reach beside the residual path: REFERENCES.md, "rest of the step".
struct EngineKernels {
  Seconds floor;          // what each takes beside its bytes and operations
  double efficiency = 1;  // the share of the bandwidth of plain reads at which it reads
};

/// What a training framework's steps reach on a GPU. The shares are those of whole steps. They
/// contain norms, permutations and casts, the optimiser, and what experts of one node exchange.
/// What tensor ranks exchange, what crosses nodes and the reduction of gradients stand beside them.
/// REFERENCES.md, "training".
struct TrainingConstants {
  double bf16_products = 1;  // share of the dense bf16 rate
  double fp8_products = 1;   // share of the dense fp8 rate
  double experts = 1;        // share of the bf16 rate that routed experts have in both precisions
  /// The error of steps: measured / predicted, as kEnumerators<StepKind>.
  std::array<Estimate<double>, kEnumerators<StepKind>.size()> errors{Estimate<double>{1, 1, 1},
                                                                     Estimate<double>{1, 1, 1}};
};

struct EngineConstants {
  EngineKernels attention;
  EngineKernels mlp;  // and the head
  /// The error of steps: measured / predicted, as kEnumerators<StepKind>.
  std::array<Estimate<double>, kEnumerators<StepKind>.size()> errors{Estimate<double>{1, 1, 1},
                                                                     Estimate<double>{1, 1, 1}};
  /// Kernels that are launched before their neighbour ends (Prefetch::before_start) take so much of
  /// the floor.
  double floor_of_launched_ahead = 1;
  /// The most that a decode step takes longer with each of its sequences: the host schedules,
  /// samples and sends its token. At the value an engine hides that behind the GPU's work.
  Seconds sequence_time;
  /// Share of a datasheet's dense rate that matrix products reach.
  Estimate<double> sustained_rate;
  /// A prefill's experts take so many times what their bytes and operations say.
  Estimate<double> prefill_of_experts;
  TrainingConstants training;

  /// Floors and efficiencies of an engine err together. No kernel reads faster than a plain one.
  Estimate<Seconds> floor_of(const EngineKernels& kernels, StepKind kind) const {
    const Estimate<double>& error = errors[static_cast<std::size_t>(kind)];
    return {error.low * kernels.floor, kernels.floor, error.high * kernels.floor, error.evidence};
  }
  Estimate<double> efficiency_of(const EngineKernels& kernels, StepKind kind) const {
    const Estimate<double>& error = errors[static_cast<std::size_t>(kind)];
    const double most = std::max(1.0, kernels.efficiency);
    return {kernels.efficiency / error.high, kernels.efficiency,
            std::min(most, kernels.efficiency / error.low), error.evidence};
  }
};

/// One architecture that the constants were fitted on, and what the floors of its kernels that loop
/// are over those of plain kernels in the hardware file.
struct FittedArchitecture {
  std::string name;
  double floor_share = 1;
};

struct Constants {
  std::string name;      // "all", "without h200_sxm"
  std::string left_out;  // a GPU, an architecture or a model; empty: nothing
  std::vector<FittedArchitecture> architectures;
  std::string memory;  // the kind of their memory: "hbm"
  KernelConstants kernels;
  EngineConstants engine;
};

}  // namespace depthcost

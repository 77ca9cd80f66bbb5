// Residual update mechanisms beside the four schemes that have a type of their own: the other rows
// of [attnres] Table 5, the ablations of Table 4, and their kin. Each is one file in
// model/schemes/mechanisms that fills in this form; model/schemes/mechanisms/list.hpp names them
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/operations/operation.hpp"
#include "model/pipeline/pipeline.hpp"
#include "model/schemes/mechanism_parameters.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost {

/// What a layer receives: the three groups of [attnres] Table 5.
enum class StateKind : std::uint8_t { single_state, multi_state, cross_layer };

template <>
inline constexpr auto kNames<StateKind> = other_names<StateKind>("single-state", "multi-state",
                                                                 "cross-layer");

/// How mixing coefficients arise: the column "Weight" of [attnres] Table 5.
enum class WeightKind : std::uint8_t { fixed, learned_static, dynamic };

template <>
inline constexpr auto kNames<WeightKind> = other_names<WeightKind>("fixed", "static", "dynamic");

struct MechanismClass {
  StateKind state = StateKind::single_state;
  WeightKind weights = WeightKind::fixed;
};

/// A parameter that a mechanism uses, as the key residual.NAME writes it.
struct MechanismKey {
  std::string_view name;
  Count MechanismParameters::*member = nullptr;
  std::string_view source;  // of the default
};

/// Layer `layer` (1-based) of L; 0 in place of the layer means the embedding in front of them.
struct MechanismLayer {
  const MechanismParameters& parameters;
  Count layer = 0;
  Count num_layers = 0;
};

/// What is wrong with a parameter, and with which.
struct ParameterProblem {
  std::string_view key;
  std::string reason;
};

struct Mechanism {
  std::string_view id;
  std::string_view label;
  std::string_view update;     // the rule, in the paper's letters
  std::string_view file;       // of model/schemes/mechanisms, where all this is said
  std::string_view source;     // where it stands; keys of REFERENCES.md
  std::string_view moves;      // reads and writes of each schedule, in a line
  std::string_view reference;  // the file in kernels/reference that defines it; empty: none
  std::string_view variant;    // of its kernel, KERNEL/VARIANT in the catalogue; empty: KERNEL
  MechanismClass kind;
  std::span<const MechanismKey> keys;
  std::span<const Schedule> schedules;  // cheapest to build first; the last is quoted

  /// The launches at layer `layer`, in front of it or behind it as the rule says, up to a layer's
  /// normalised input: a forward pass has those of all layers, and `output`.
  std::vector<Operation> (*operations)(const MechanismLayer& at, Schedule schedule) = nullptr;

  /// d-vectors per token that must be kept behind the layer for those to come, and that a pipeline
  /// boundary there hands over.
  double (*state_d)(const MechanismLayer& at) = nullptr;

  /// Elements of the layer's own parameters, and of layer L + 1 for an output; norms that every
  /// model has are not counted. Null where the paper leaves the number open.
  double (*parameters)(const MechanismLayer& at) = nullptr;

  /// Behind the last layer; null where nothing happens there.
  std::vector<Operation> (*output)(const MechanismLayer& last, Schedule schedule) = nullptr;

  /// Null where every positive value is legal.
  std::optional<ParameterProblem> (*problem)(const MechanismLayer& last) = nullptr;
};

bool takes(const Mechanism& mechanism, Count MechanismParameters::*parameter);

/// All of them, in the order of Table 5.
std::span<const Mechanism* const> mechanisms();

/// The mechanism, or nullptr.
const Mechanism* find_mechanism(std::string_view id);

/// What is wrong with its parameters on a model of L layers, if something is.
std::optional<ParameterProblem> parameter_problem(const MechanismScheme& scheme);

/// Throws Infeasible: no backward pass of a mechanism is counted.
[[noreturn]] void refuse_training(const MechanismScheme& scheme);

/// The most that has to be kept between two layers, in whole d-vectors.
Count largest_state(const MechanismScheme& scheme);

/// What each transition of a pipeline hands over; nothing is cached.
PipelineTraffic mechanism_traffic(const PipelineLayout& layout, const MechanismScheme& scheme);

}  // namespace depthcost

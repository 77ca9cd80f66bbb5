// Parts of a row that several schemes share: states, schedules, keys, texts.
#pragma once

#include <array>
#include <string_view>

#include "model/operations/eager_operations.hpp"
#include "model/schemes/scheme.hpp"

namespace depthcost::scheme_parts {

using enum Schedule;

inline constexpr std::array kUnfusedAndFused{unfused, fused};
inline constexpr std::array kUnfusedOnly{unfused};
inline constexpr std::array kUnfusedAndSinglePass{unfused, single_pass};

inline constexpr Access kReadsOutput{Operand::layer_output, 1, 0};
inline constexpr Access kReadsHidden{Operand::hidden_state, 1, 0};
inline constexpr Access kUpdatesHidden{Operand::hidden_state, 1, 1};
inline constexpr Access kWritesInput{Operand::layer_input, 0, 1};

/// Why a scheme has no depth mixing matrix.
inline constexpr std::string_view kNormOnStream =
    "a norm on the stream divides by its size: no input is a weighted sum of outputs";

constexpr Access reads(Operand operand, double rows) { return {operand, rows, 0}; }
constexpr Access writes(Operand operand, double rows) { return {operand, 0, rows}; }

inline double hidden_size(const SchemeLayer& at) {
  return static_cast<double>(at.parameters.hidden_size);
}

/// Transformer blocks behind layer `at`, of two layers each; a half one does not count.
inline Count decoder_layers(const SchemeLayer& at) { return at.layer / 2; }
inline bool ends_decoder_layer(const SchemeLayer& at) { return at.layer % 2 == 0; }

inline double one_state(const SchemeLayer&) { return 1; }
inline double stream_states(const SchemeLayer& at) {
  return static_cast<double>(at.parameters.num_streams);
}
/// The embedding and every layer output.
inline double all_outputs(const SchemeLayer& at) { return static_cast<double>(at.layer) + 1; }

inline constexpr SchemeKey kStreams{"num_streams", &SchemeParameters::num_streams,
                                    "[mhc] n = 4, the value of every released model"};

/// More than a register or a cache line of coefficients serves.
inline std::optional<ParameterProblem> streams_problem(const SchemeLayer& last) {
  if (last.parameters.num_streams <= kMaxStreams) return std::nullopt;
  return ParameterProblem{"num_streams", "more than " + std::to_string(kMaxStreams) + " streams"};
}

inline std::optional<ParameterProblem> blocks_problem(const SchemeLayer& last) {
  if (last.parameters.block_size <= last.num_layers) return std::nullopt;
  return ParameterProblem{"block_size", "more than " + std::to_string(last.num_layers) + " layers"};
}

inline LedgerFormula table1_formula(std::string_view function, const std::string& formula,
                                    const std::string& row) {
  return {formula, "[attnres] Table 1, row \"" + row + "\"", std::string(function)};
}

/// `file`: "mhc" for model/operations/mhc_operations.hpp.
inline LedgerFormula operation_formula(const std::string& formula, const std::string& file,
                                       const std::string& functions) {
  return {formula, "[ours] REFERENCES.md, operations",
          "model/operations/" + file + "_operations.hpp: operations::" + functions};
}

}  // namespace depthcost::scheme_parts
